"""Limitations of an answer, each reported if and only if the samples show it."""

from dataclasses import replace

import msgspec
import pytest
import report_studies as studies

from assay.records import Evidence, GrantStatus, Outcome, Status, Verdict
from assay.reporting.arms import arm_rows
from assay.reporting.grants import tally
from assay.reporting.limitations import limitations
from assay.reporting.scale import scale_for
from assay.reporting.trials import trials


def told(report):
    rows = arm_rows(report, trials(report))
    scale = scale_for([v for row in rows for v in row.values], report.metric.unit)
    chosen = report.conclusion.recommendation if report.conclusion else None
    winner = tally(report.samples, chosen.settings) if chosen and chosen.settings else ()
    return limitations(report, rows, winner, scale)


def saying(report, word):
    found = [note for note in told(report) if word in note]
    assert len(found) <= 1
    return found[0] if found else None


def concluding(report, **changes):
    return replace(report, conclusion=msgspec.structs.replace(report.conclusion, **changes))


def watched(report, kind, values, unit="s"):
    """Return a study with one kind of evidence; ``None`` omits it."""
    shown = [
        studies._with(
            sample,
            evidence=()
            if value is None
            else (Evidence(kind=kind, value=value, unit=unit, external=True),),
        )
        for sample, value in zip(report.samples, values, strict=True)
    ]
    return replace(report, samples=tuple(shown))


@pytest.fixture
def quiet():
    """Return a comparison with little noise, many pairs and a measured noise floor."""
    report = studies.compare(blocks=20)
    samples = tuple(
        studies._with(s, evidence=(), metrics={"wall_s": 1.0 + 0.001 * (i % 7)})
        for i, s in enumerate(report.samples)
    )
    same = msgspec.structs.replace(report.conclusion.claims[0], verdict=Verdict.SAME)
    return replace(concluding(report, noise_floor=same), samples=samples)


def test_quiet_study_has_no_limitations(quiet):
    assert told(quiet) == ()


def test_wide_spread_is_reported(quiet):
    name = quiet.spec.arms[0].name
    values = iter([1.0, 1.2] * 9 + [1.1, 7.5])
    samples = tuple(
        studies._with(s, metrics={"wall_s": next(values)}) if s.launch.arm == name else s
        for s in quiet.samples
    )
    note = saying(replace(quiet, samples=samples), "vary widely")
    assert note == (
        f"The launches of {name} vary widely: interquartile range from 1.000 to 1.200 s, "
        "17 % of the median; 1 of 20 differ by more than a factor of 2 from the median, "
        "1.150 s, up to 7.500 s."
    )


def test_drift_of_speed_probe_is_reported(quiet):
    number = len(quiet.samples)
    steady = watched(quiet, "speed", [0.001 + 1e-6 * (i % 5) for i in range(number)])
    assert told(steady) == ()
    rising = watched(quiet, "speed", [0.001 * (1 + 0.06 * i / number) for i in range(number)])
    assert told(rising) == (
        "The machine became 4.0 % slower from the first third of the study to the last "
        "(speed probe, 60 readings); most of it cancels within pairs of launches.",
    )
    falling = watched(quiet, "speed", [0.001 * (1 - 0.06 * i / number) for i in range(number)])
    assert "4.0 % faster" in saying(falling, "machine became")
    wild = watched(quiet, "speed", [0.001 * (1 + 0.06 * (i % 2)) for i in range(number)])
    assert saying(wild, "machine became") is None


def test_slow_blocks_are_reported(quiet):
    readings = [0.001] * len(quiet.samples)
    readings[10], readings[40] = 0.0012, 0.0015
    assert told(watched(quiet, "speed", readings)) == (
        "In 2 of 60 blocks the speed probe was more than 10 % slower than the median, by up to "
        "50 %.",
    )


def test_steal_time_is_reported(quiet):
    walls = [s.wall_s for s in quiet.samples]
    stolen = [0.0] * len(walls)
    stolen[3], stolen[5] = 0.05, 0.03
    note = saying(watched(quiet, "steal", stolen), "Steal")
    assert note.startswith(
        "Steal time of the hypervisor in 2 of 60 launches: 80.0 ms in total, at most 50.0 ms in a "
        "launch of "
    )
    assert told(watched(quiet, "steal", [0.0001 * (i == 0) for i in range(len(walls))])) == ()


def test_load_of_other_processes_is_reported_for_long_launches(quiet):
    half = [0.5 * s.wall_s for s in quiet.samples]
    assert "used 0.50 of the CPUs" in saying(
        watched(quiet, "foreign_load", half), "Other processes"
    )
    short = replace(quiet, samples=tuple(studies._with(s, wall_s=0.01) for s in quiet.samples))
    assert told(watched(short, "foreign_load", [0.005] * len(short.samples))) == ()
    assert told(watched(quiet, "foreign_load", [0.01 * wall for wall in half])) == ()


def test_load_of_other_processes_is_summed(quiet):
    """The values of short launches scatter around zero."""
    around = [(0.3 if i % 2 else -0.3) * s.wall_s for i, s in enumerate(quiet.samples)]
    assert told(watched(quiet, "foreign_load", around)) == ()


def test_throttling_and_remaining_processes_are_reported(quiet):
    held = watched(quiet, "throttled", [0.1] + [None] * (len(quiet.samples) - 1))
    assert "in 1 of 60 launches: 100 ms in total" in saying(held, "CPU limit")
    left = watched(
        quiet, "remaining_processes", [2.0] + [None] * (len(quiet.samples) - 1), "processes"
    )
    assert told(left) == ("1 of 60 launches left processes behind, which were terminated.",)


def test_few_pairs_are_reported(quiet):
    claims = quiet.conclusion.claims
    few = tuple(msgspec.structs.replace(c, blocks=7, verdict=Verdict.FASTER) for c in claims)
    assert told(concluding(quiet, claims=few)) == (
        "All claims are based on only 7 pairs of launches; the minimum is 6. Events in fewer than "
        "one launch in 2 may not have been observed.",
    )
    one = (few[0], msgspec.structs.replace(few[1], verdict=Verdict.UNCLEAR))
    assert "1 of the 2" not in told(concluding(quiet, claims=one))[0]
    assert told(concluding(quiet, claims=one))[0].startswith("The claim on ")


def test_few_launches_are_reported():
    assert "The mean is based on only 6 launches." in told(studies.measure(launches=6))
    assert not any("is based on only" in note for note in told(studies.measure(launches=24)))


def test_failed_launches_are_reported():
    report = studies.interrupted()
    outcomes = {4: Outcome.FAILED, 7: Outcome.TIMED_OUT, 9: Outcome.LIMIT}
    bad = tuple(
        studies._with(s, outcome=outcomes.get(i, Outcome.OK)) for i, s in enumerate(report.samples)
    )
    note = saying(replace(report, samples=bad), "Failed launches")
    assert note.startswith(
        "Failed launches: 1 failed, 1 timed out, 1 stopped at a limit, of 29 launches"
    )
    assert "of 29 launches, in 2 arms ('" in note or "of 29 launches, in 3 arms ('" in note
    assert saying(replace(studies.all_failed(), status=Status.FAILED), "Failed launches") is None
    troubled = told(studies.troubled())
    assert any("timed out." in note for note in troubled)
    assert any("malloc was unverified in" in note for note in troubled)


def test_different_identical_arms_are_reported(quiet):
    floor = msgspec.structs.replace(quiet.conclusion.noise_floor, verdict=Verdict.SLOWER)
    assert saying(concluding(quiet, noise_floor=floor), "Two identical arms differed by")
    assert saying(concluding(quiet, noise_floor=None), "noise floor") == (
        "This study did not measure the noise floor of the machine."
    )


def test_notes_come_first_without_duplicates(quiet):
    noted = concluding(quiet, notes=("It rained.", "It rained."), noise_floor=None)
    assert told(noted)[0] == "It rained."
    assert len(told(noted)) == 2


def test_refusal_is_reported_once():
    """The note of the study, which names the arm, replaces the one from the grants."""
    report = studies.tune()
    winner = report.conclusion.recommendation.settings
    name = next(iter(winner))
    samples = tuple(
        studies._with(
            s,
            settings={
                **s.settings,
                name: msgspec.structs.replace(
                    s.settings[name], status=GrantStatus.REFUSED, reason="it is not there"
                ),
            },
        )
        if s.launch.configuration == winner
        else s
        for s in report.samples
    )
    refused = replace(report, samples=samples)
    assert "refused" in saying(refused, name)
    note = f"{name} did not take effect in 14 of 14 launches of {str(winner)!r}: it is not there"
    noted = concluding(refused, notes=(note,))
    assert saying(noted, name) == note


def test_refusal_of_other_setting_does_not_hide():
    report = concluding(
        studies.tune(), notes=("thp did not take effect in 3 of 9 launches of 'x'",)
    )
    assert told(report)[0].startswith("thp did not")
    assert [n for n in told(studies.tune()) if " was " in n] == [
        n for n in told(report) if " was " in n
    ]
