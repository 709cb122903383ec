"""Comparisons of two conditions that were measured separately."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import msgspec
import numpy as np
import pytest
from occasion_studies import DEFAULT, Conditions, calibrations, measure, times
from scipy import stats

from assay.errors import InvalidInputError
from assay.records import Arm, Configuration, Evidence, Kind, Metric, Outcome, Stage
from assay.records.comparison import ConditionSource, OccasionVerdict
from assay.records.workload import Goal
from assay.search.history.disturbance import HOST_CPUS
from assay.search.occasions.comparison import compare_conditions
from assay.search.occasions.published import row_of, summary_of
from assay.wording.occasions import effect_sentence, verdict_sentence

TALK = (Path(__file__).parents[2] / "fixtures" / "mos_runs.csv").read_text()
STEADY = (1.000, 1.004, 0.997, 1.002, 0.996, 1.001)
"""Means of six days that differ by less than half a per cent."""
RESTLESS = (1.00, 1.10, 0.91, 1.07, 0.95, 1.02)
OLD, NEW = Conditions(), Conditions(day=1, boot="bbbbbbbbbbbb", kernel="6.12.0")


def nothing(_machines) -> list:
    return []


def prospects(studies):
    return lambda _machines: [one.prospect for one in studies]


# --- verdicts ---------------------------------------------------------------------------------


def test_two_conditions_measured_once_each_are_unproven() -> None:
    a, b = measure("a", times(1), OLD), measure("b", times(2, mean=0.5), NEW)
    found = compare_conditions(a.side(), b.side(), nothing)
    assert found.verdict is OccasionVerdict.UNPROVEN
    assert found.ci is None
    assert found.ci_launches[1] < 0.52
    assert found.confounded == ("day", "boot", "kernel")
    assert "0 of 5 other occasions" in found.reason
    assert "assay study calibrate -- ./solve 9" in found.remedy


def test_equal_launches_are_not_called_faster() -> None:
    a, b = measure("a", times(1), OLD), measure("b", times(2, mean=1.001), NEW)
    told = verdict_sentence(compare_conditions(a.side(), b.side(), nothing))
    assert told.startswith("Unproven: whether b differs from a is unclear even in these launches")


def test_small_variance_between_occasions_proves_difference() -> None:
    a, b = measure("a", times(1), OLD), measure("b", times(2, mean=0.9), NEW)
    found = compare_conditions(a.side(), b.side(), prospects(calibrations(STEADY)))
    assert found.verdict is OccasionVerdict.FASTER
    assert found.beyond_margin
    assert (found.covered_differences, found.confounded) == (("day", "boot"), ("kernel",))
    (occasions,) = found.occasions
    assert occasions.studies == tuple(f"cal{n}" for n in range(6))
    assert (occasions.df, found.df) == (5, 5)
    variance = np.var(np.log(STEADY), ddof=1)
    assert occasions.sd_log == pytest.approx(math.sqrt(variance))
    # The calibrations have twice the launches, so theirs vary by less.
    within = [0.02**2 / 30, 0.02**2 * 59 / 58 / 60]
    half = stats.t.ppf(0.9925, 5) * math.sqrt(2 * (variance + within[0] - within[1]))
    assert found.ci is not None
    assert np.log(found.ci) == pytest.approx(math.log(0.9) + np.array([-half, half]), rel=1e-2)
    assert found.ci_launches[0] > found.ci[0]


def test_large_variance_between_occasions_gives_unclear() -> None:
    a, b = measure("a", times(1), OLD), measure("b", times(2, mean=0.9), NEW)
    found = compare_conditions(a.side(), b.side(), prospects(calibrations(RESTLESS)))
    assert found.verdict is OccasionVerdict.UNCLEAR
    assert found.ci_launches[1] < 1.0 < found.ci[1]
    assert "the variance between occasions is too large" in verdict_sentence(found)


def test_interval_within_the_margin_is_the_same() -> None:
    a, b = measure("a", times(1), OLD), measure("b", times(2, mean=1.001), NEW)
    found = compare_conditions(a.side(), b.side(), prospects(calibrations(STEADY)), margin=0.03)
    assert found.verdict is OccasionVerdict.SAME


def test_difference_below_margin_is_stated() -> None:
    a, b = measure("a", times(1), OLD), measure("b", times(2, mean=1.04), NEW)
    found = compare_conditions(a.side(), b.side(), prospects(calibrations(STEADY)), margin=0.05)
    assert found.verdict is OccasionVerdict.SLOWER
    assert not found.beyond_margin
    assert "perhaps by less than the margin" in verdict_sentence(found)


def test_direction_of_the_metric_counts() -> None:
    rate = (Metric(name="wall_s", unit="1/s", goal=Goal.HIGHER),)
    a, b = (
        measure(name, times(1, mean=mean), where, metrics=rate)
        for name, mean, where in (("a", 1.0, OLD), ("b", 0.9, NEW))
    )
    known = [with_metrics(one, rate) for one in calibrations(STEADY)]
    assert (
        compare_conditions(a.side(), b.side(), prospects(known)).verdict is OccasionVerdict.SLOWER
    )


def with_metrics(study, metrics):
    workload = msgspec.structs.replace(study.spec.workload, metrics=metrics)
    spec = msgspec.structs.replace(study.spec, workload=workload)
    return type(study)(study.id, spec, study.stratum, study.samples)


# --- which studies are occasions --------------------------------------------------------------


def test_too_few_occasions_prove_nothing() -> None:
    a, b = measure("a", times(1), OLD), measure("b", times(2, mean=0.5), NEW)
    found = compare_conditions(a.side(), b.side(), prospects(calibrations(STEADY[:4])))
    assert found.verdict is OccasionVerdict.UNPROVEN
    assert "4 of 5" in found.reason


def test_calibrations_within_hours_are_one_occasion() -> None:
    a, b = measure("a", times(1), OLD), measure("b", times(2, mean=0.5), NEW)
    found = compare_conditions(a.side(), b.side(), prospects(calibrations(STEADY, 0.05)))
    assert found.verdict is OccasionVerdict.UNPROVEN
    assert "1 of 5" in found.reason


def test_comparison_of_boots_uses_occasions_of_several_boots() -> None:
    a, b = measure("a", times(1), OLD), measure("b", times(2, mean=0.9), NEW)
    one_boot = prospects(calibrations(STEADY, boots=False))
    found = compare_conditions(a.side(), b.side(), one_boot)
    assert found.verdict is OccasionVerdict.UNPROVEN
    assert "different boots" in found.reason
    same_boot = measure("b", times(2, mean=0.9), Conditions(day=1))
    found = compare_conditions(a.side(), same_boot.side(), one_boot)
    assert found.verdict is OccasionVerdict.FASTER
    assert found.covered_differences == ("day",)


def test_calibration_of_another_machine_is_not_used_and_named() -> None:
    a, b = measure("a", times(1), OLD), measure("b", times(2, mean=0.5), NEW)
    other = calibrations(STEADY, machine="machine-2")
    found = compare_conditions(a.side(), b.side(), prospects(other))
    assert found.verdict is OccasionVerdict.UNPROVEN
    assert any("cal0, cal1, cal2 and 3 more of another machine" in note for note in found.notes)


def test_calibration_of_another_command_is_not_used_and_named() -> None:
    a, b = measure("a", times(1), OLD), measure("b", times(2, mean=0.5), NEW)
    other = measure("other", times(3), Conditions(day=9), kind=Kind.CALIBRATE, argv=("./else",))
    found = compare_conditions(a.side(), b.side(), prospects([other]))
    assert "not used: calibration other of another command" in found.notes


def counted(studies, reads, *, max_launches=None):
    """Return candidates as of a store, which add a study to ``reads`` when its samples are read."""

    def candidate(study):
        def samples():
            reads.append(study.id)
            return study.samples

        start_s = study.samples[0].started_at
        return dataclasses.replace(
            study.prospect,
            samples=samples,
            began=(start_s - 5.0, start_s + 60.0),
            max_launches=max_launches,
        )

    return lambda _machines: [candidate(study) for study in studies]


@pytest.mark.parametrize("boots", [False, True])
def test_samples_are_read_once_for_each_occasion(boots: bool) -> None:
    """The studies between two occasions, of which a store may have thousands, are not read."""
    a, b = measure("a", times(1), OLD), measure("b", times(2, mean=0.9), Conditions(day=1))
    if boots:
        b = measure("b", times(2, mean=0.9), NEW)
    hourly = [
        dataclasses.replace(study, id=f"{study.id}-{hour}")
        for hour in range(6)
        for study in calibrations(STEADY, boots=boots)
    ]
    reads: list[str] = []
    found = compare_conditions(a.side(), b.side(), counted(hourly, reads))
    whole = compare_conditions(a.side(), b.side(), prospects(hourly))
    assert found == whole
    assert found.verdict is OccasionVerdict.FASTER
    assert reads == [f"cal{number}-0" for number in range(6)]


def test_samples_of_too_few_launches_are_not_read() -> None:
    a, b = measure("a", times(1), OLD), measure("b", times(2, mean=0.9), NEW)
    reads: list[str] = []
    few = counted(calibrations(STEADY), reads, max_launches=5)
    assert compare_conditions(a.side(), b.side(), few).verdict is OccasionVerdict.UNPROVEN
    assert reads == []


def test_study_near_an_occasion_is_read_if_its_time_is_unsure() -> None:
    """A study that ended more than 12 hours after an occasion may be the next one."""
    a, b = measure("a", times(1), OLD), measure("b", times(2, mean=0.9), Conditions(day=1))
    studies = calibrations(STEADY, 0.51, boots=False)
    reads: list[str] = []
    found = compare_conditions(a.side(), b.side(), counted(studies, reads))
    assert found.occasions[0].df == 5
    assert len(reads) == 6


def test_unused_named_studies_are_reported() -> None:
    a, b = measure("a", times(1), OLD), measure("b", times(2, mean=0.5), NEW)
    few = measure("few", times(3, n=4), Conditions(day=9))
    named = named_prospect(few)
    found = compare_conditions(a.side(), b.side(), lambda _machines: [named])
    assert any("named with --occasion and not used: few" in note for note in found.notes)


def named_prospect(study):
    prospect = study.prospect
    return type(prospect)(
        prospect.study, prospect.spec, prospect.stratum, prospect.samples, named=True
    )


def test_compared_studies_are_no_occasions() -> None:
    a, b = measure("a", times(1), OLD), measure("b", times(2, mean=0.5), NEW)
    known = [a, b, *calibrations(STEADY[:4])]
    found = compare_conditions(a.side(), b.side(), prospects(known))
    assert found.verdict is OccasionVerdict.UNPROVEN


def test_comparison_of_machines_uses_occasions_of_each() -> None:
    a = measure("a", times(1), OLD)
    b = measure("b", times(2, mean=0.5), Conditions(day=1, machine="machine-2", model="Two"))
    known = calibrations(STEADY)
    found = compare_conditions(a.side(), b.side(), prospects(known))
    assert found.verdict is OccasionVerdict.UNPROVEN
    assert "under the condition of b" in found.reason
    both = [*known, *calibrations(RESTLESS, machine="machine-2", model="Two")]
    renamed = [type(s)(f"{s.id}-{s.stratum.model}", s.spec, s.stratum, s.samples) for s in both]
    found = compare_conditions(a.side(), b.side(), prospects(renamed))
    assert found.verdict is OccasionVerdict.FASTER
    assert len(found.occasions) == 2
    assert found.confounded == ("host", "processor")


def test_occasions_of_two_kernels_are_two_conditions() -> None:
    """Otherwise the effect would count as a difference between occasions."""
    a, b = measure("a", times(1), OLD), measure("b", times(2, mean=0.5), NEW)
    known = [
        *calibrations(STEADY[:3]),
        *calibrations([0.5 * mean for mean in STEADY[3:]], kernel="6.12.0"),
    ]
    renamed = [type(s)(f"{s.id}-{s.stratum.kernel}", s.spec, s.stratum, s.samples) for s in known]
    found = compare_conditions(a.side(), b.side(), prospects(renamed))
    assert found.verdict is OccasionVerdict.FASTER
    assert found.occasions[0].df == 4
    assert found.occasions[0].sd_log < 0.01


def test_gap_longer_than_span_of_calibrations_is_reported() -> None:
    a = measure("a", times(1), OLD)
    b = measure("b", times(2, mean=0.9), Conditions(day=90, boot="bbbbbbbbbbbb"))
    found = compare_conditions(a.side(), b.side(), prospects(calibrations(STEADY)))
    assert any("90 days apart, and the occasions span 5 days" in note for note in found.notes)


# --- differences ------------------------------------------------------------------------------


def test_differences_of_hosts_are_listed() -> None:
    a = measure("a", times(1), OLD)
    b = measure("b", times(2), Conditions(day=1, kernel="6.12.0", program="11ee"))
    found = compare_conditions(a.side(), b.side(), nothing)
    listed = {(one.subject, one.path): (one.a, one.b) for one in found.differences}
    assert listed["kernel", "kernel"] == ("6.1.0", "6.12.0")
    assert listed["program", "digest"] == ("00ff", "11ee")
    assert found.confounded == ("day", "kernel", "program")
    assert effect_sentence(found).endswith("the effects of: day, kernel, program.")


def test_options_of_the_kernels_are_listed() -> None:
    a = measure("a", times(1), Conditions(config=(("HZ", "250"), ("NO_HZ_FULL", "n"))))
    b = measure("b", times(2), Conditions(day=1, config=(("HZ", "1000"),)))
    unread = measure("c", times(3), Conditions(day=2))
    found = compare_conditions(a.side(), b.side(), nothing)
    assert [(one.path, one.a, one.b) for one in found.differences] == [
        ("boot/config/HZ", "250", "1000")
    ]
    assert found.confounded == ("day", "kernel")
    assert compare_conditions(a.side(), unread.side(), nothing).differences == ()


def test_bundle_may_be_of_another_host_of_the_same_kind() -> None:
    a, b = measure("a", times(1), OLD), measure("b", times(2), Conditions(day=1))
    found = compare_conditions(a.side(), b.side(source=ConditionSource.BUNDLE), nothing)
    assert found.confounded == ("day", "host")


def test_variables_omitted_from_a_bundle_are_no_difference() -> None:
    a, b = measure("a", times(1), OLD), measure("b", times(2), OLD)
    stratum = msgspec.structs.replace(
        b.stratum, launch_environment={"variable LANG": "", "variable OMP_NUM_THREADS": ""}
    )
    b = type(b)(b.id, b.spec, stratum, b.samples)
    found = compare_conditions(a.side(), b.side(), nothing)
    assert [(one.path, one.a, one.b) for one in found.differences] == [
        ("variable OMP_NUM_THREADS", None, "set")
    ]


# --- arms -------------------------------------------------------------------------------------

FAST = Arm(name="threads=2", configuration=Configuration({"threads": 2}))


def test_another_arm_is_another_configuration() -> None:
    a = measure("a", times(1), OLD)
    b = measure("b", times(2), Conditions(day=1), kind=Kind.COMPARE, arms=(DEFAULT, FAST))
    found = compare_conditions(a.side(), b.side("threads=2"), nothing)
    assert found.b.arm == "threads=2"
    assert found.confounded == ("day", "configuration")
    assert compare_conditions(a.side(), b.side(), nothing).confounded == ("day",)


def test_unknown_arm_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="has no arm 'x'"):
        measure("a", times(1)).side("x")


def test_study_without_recommendation_has_none() -> None:
    with pytest.raises(InvalidInputError, match="has no recommendation"):
        measure("a", times(1)).side("recommended")


def test_command_of_an_arm_is_its_workload() -> None:
    commands = [
        Arm(name=text, configuration=Configuration({"command": text}))
        for text in ("./solve 9", "./other")
    ]
    a = measure("a", times(1), OLD)
    b = measure("b", times(2), Conditions(day=1), kind=Kind.COMPARE, arms=commands)
    assert compare_conditions(a.side(), b.side(), nothing).confounded == ("day",)
    with pytest.raises(InvalidInputError, match=r"different workloads .*\./other"):
        compare_conditions(a.side(), b.side("./other"), nothing)


def test_command_with_an_open_quote_is_one_word() -> None:
    odd = Arm(name="odd", configuration=Configuration({"command": "./solve '9"}))
    side = measure("b", times(2), kind=Kind.COMPARE, arms=(DEFAULT, odd)).side("odd")
    assert side.workload.argv == ("./solve '9",)


def test_default_of_a_placeholder_is_a_part_of_the_command() -> None:
    large = Arm(name="arg.n=10", configuration=Configuration({"arg.n": 10}))
    usual = Arm(name="arg.n=9", configuration=Configuration({"arg.n": 9}))
    a = measure("a", times(1), OLD)
    b = measure(
        "b",
        times(2),
        Conditions(day=1),
        kind=Kind.COMPARE,
        arms=(DEFAULT, usual, large),
        argv=("./solve", "{n}"),
        placeholders={"n": "9"},
    )
    assert compare_conditions(a.side(), b.side(), nothing).confounded == ("day",)
    assert compare_conditions(a.side(), b.side("arg.n=9"), nothing).confounded == ("day",)
    found = compare_conditions(a.side(), b.side("arg.n=10"), nothing)
    assert found.confounded == ("day", "configuration")
    assert (
        "assay study calibrate -- ./solve 9"
        in compare_conditions(b.side(), a.side(), nothing).remedy
    )


# --- refusals ---------------------------------------------------------------------------------


def test_same_launches_twice_are_refused() -> None:
    a = measure("a", times(1))
    with pytest.raises(InvalidInputError, match="the same launches"):
        compare_conditions(a.side(), a.side(), nothing)


def test_arms_of_the_same_blocks_are_refused() -> None:
    a = measure("a", times(1), kind=Kind.COMPARE, arms=(DEFAULT, FAST))
    with pytest.raises(InvalidInputError, match="ran in the same blocks"):
        compare_conditions(a.side(), a.side("threads=2"), nothing)


def test_different_workloads_are_refused_unless_declared_equal() -> None:
    a = measure("a", times(1), OLD)
    b = measure("b", times(2), NEW, argv=("/opt/solve", "9"))
    with pytest.raises(
        InvalidInputError, match=r"different workloads \(command: \./solve 9 and /opt/"
    ):
        compare_conditions(a.side(), b.side(), nothing)
    found = compare_conditions(a.side(), b.side(), nothing, same_workload=True)
    assert any("they differ in command" in note for note in found.notes)


def test_home_directory_in_a_path_keeps_workload_equal() -> None:
    a = measure("a", times(1), OLD, argv=("/home/ann/solve", "9"))
    b = measure("b", times(2), NEW, argv=("~/solve", "9"))
    assert compare_conditions(a.side(), b.side(), nothing).notes == ()


def test_different_metrics_are_refused() -> None:
    a = measure("a", times(1), OLD)
    b = measure("b", times(2), NEW, metrics=(Metric(name="wall_s", unit="ms"),))
    with pytest.raises(InvalidInputError, match="different metrics"):
        compare_conditions(a.side(), b.side(), nothing)


def test_study_without_values_is_refused() -> None:
    one = measure("a", times(1))
    failed = [msgspec.structs.replace(s, outcome=Outcome.FAILED, metrics={}) for s in one.samples]
    with pytest.raises(InvalidInputError, match="has no values of wall_s"):
        type(one)(one.id, one.spec, one.stratum, tuple(failed)).side()
    with pytest.raises(InvalidInputError, match="has no values of user_s"):
        one.side(metric="user_s")
    with pytest.raises(InvalidInputError, match="only one value"):
        measure("a", [1.0]).side()
    with pytest.raises(InvalidInputError, match="no metric 'fps'"):
        one.side(metric="fps")


def test_values_at_the_ends_of_floats_are_compared() -> None:
    a, b = measure("a", [1e-300, 2e-300, 1e-300], OLD), measure("b", [1e308, 1.5e308, 1e308], NEW)
    found = compare_conditions(a.side(), b.side(), nothing)
    assert found.ratio > 1e300
    assert math.isfinite(found.ci_launches[1]) and math.isfinite(found.b.sd)


def disturbed(study, blocks):
    """Return the study with another process on all CPUs during some blocks."""
    load = (
        Evidence(kind="foreign_load", value=50.0, unit="s", external=True),
        Evidence(kind=HOST_CPUS, value=2.0),
    )
    samples = [
        msgspec.structs.replace(s, evidence=load) if s.launch.block in blocks else s
        for s in study.samples
    ]
    return type(study)(study.id, study.spec, study.stratum, tuple(samples))


def test_disturbed_values_are_left_out_unless_most_are() -> None:
    one = measure("a", times(1))
    few, most = (disturbed(one, range(n)).side() for n in (5, 20))
    assert (few.condition.n, most.condition.n) == (25, 30)
    assert "5 of 30 values" in few.notes[0] and "left out" in few.notes[0]
    assert "20 of 30 values" in most.notes[0] and "all are used" in most.notes[0]


def test_timeouts_are_refused() -> None:
    one = measure("a", times(1))
    stopped = msgspec.structs.replace(one.samples[3], outcome=Outcome.TIMED_OUT, metrics={})
    samples = (*one.samples[:3], stopped, *one.samples[4:])
    with pytest.raises(InvalidInputError, match="1 launch of 'default' reached the time-out"):
        type(one)(one.id, one.spec, one.stratum, samples).side()


def test_values_of_a_search_are_taken_of_the_default_alone() -> None:
    one = measure("a", times(1), kind=Kind.TUNE, arms=())
    searched = [
        msgspec.structs.replace(
            s, launch=msgspec.structs.replace(s.launch, stage=Stage.SEARCH, block_arms=None)
        )
        for s in measure("a", times(1), arms=(DEFAULT, FAST)).samples
    ]
    study = type(one)(one.id, one.spec, one.stratum, tuple(searched))
    assert study.side().condition.n == 30
    with pytest.raises(InvalidInputError, match="no values"):
        study.side("threads=2")


# --- published --------------------------------------------------------------------------------


def test_published_table_is_compared() -> None:
    """Beside Fieller's interval of a ratio of means, which needs no logarithm."""
    a, b = (row_of(TALK, "mos_runs.csv", line) for line in (2, 3))
    found = compare_conditions(a, b, nothing)
    assert (found.verdict, found.published) == (OccasionVerdict.UNPROVEN, True)
    assert found.unit == "s"
    assert found.ratio == pytest.approx(247.3 / 299.4)
    errors = [sd / math.sqrt(29) for sd in (3.38, 1.06)]  # printed with the divisor n
    shares = [(error / mean) ** 2 for error, mean in zip(errors, (299.4, 247.3), strict=True)]
    df = sum(shares) ** 2 / sum(share**2 / 29 for share in shares)
    assert found.df_launches == pytest.approx(df)
    t = stats.t.ppf(0.975, df)
    g = t**2 * shares[0]
    half = t * math.sqrt(shares[1] + shares[0] - g * shares[1])
    fieller = [found.ratio / (1 - g) * (1 + sign * half) for sign in (-1, 1)]
    assert found.ci_launches == pytest.approx(fieller, rel=1e-4)
    assert found.confounded == (
        "os",
        "host, day and every other property that the publication does not state",
    )
    assert "17.4 % less time" in verdict_sentence(found)


def test_divisor_of_a_printed_deviation_follows_from_the_error_beside_it() -> None:
    found = row_of(TALK, "mos_runs.csv", 2)
    assert found.error == pytest.approx(3.38 / math.sqrt(29))
    assert found.condition.sd == pytest.approx(3.38 * math.sqrt(30 / 29))
    assert "divisor n" in found.notes[0]
    plain = summary_of("n=16,mean=10,sd=2,sem=0.500")
    assert (plain.error, plain.condition.sd, plain.notes) == (0.5, 2.0, ())


def test_misprinted_deviation_is_reported() -> None:
    """Line 6: sd 2.17, standard error 0.39; the next slide prints 2.12."""
    found = row_of(TALK, "mos_runs.csv", 6)
    assert "does not fit" in found.notes[0]
    assert found.error == pytest.approx(2.17 / math.sqrt(30))


def test_deviation_printed_as_zero_has_rounding_note() -> None:
    (note,) = summary_of("n=16,mean=10,sd=0.0").notes
    assert "may be up to 0.05" in note
    assert not summary_of("n=16,mean=10,sd=0.1").notes


def test_every_row_of_the_published_tables_is_readable() -> None:
    lines = range(2, len(TALK.splitlines()) + 1)
    rows = [row_of(TALK, "mos_runs.csv", line) for line in lines]
    assert (rows[0].condition.columns or "").endswith("libc, source: 000 slide 46")
    assert len(rows) == 36
    assert {row.unit for row in rows} == {"s"}


def test_study_is_compared_with_a_summary_by_arithmetic_means() -> None:
    a = measure("a", times(1, spread=0.3))
    found = compare_conditions(a.side(), summary_of("n=30,mean=1.2,sd=0.1,unit=s"), nothing)
    assert found.ratio == pytest.approx(1.2 / a.side().condition.mean)
    assert any("no evidence shows that both ran the same workload" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("n=30,mean=3", "has no sd"),
        ("mean=3,sd=1", "has no n"),
        ("n=1,mean=3,sd=1", "at least two launches"),
        ("n=3.5,mean=3,sd=1", "not a number of launches"),
        ("n=30,mean=3,sd=-1", "cannot be negative"),
        ("n=30,mean=3,sd=1,sem=-1", "cannot be negative"),
        ("n=30,mean=0,sd=1", "above zero"),
        ("n=4,mean=1,sd=1", "50 % of the mean"),
        ("n=30,mean=nan,sd=1", "not a number"),
        ("n=30,mean=3,sd=1e999", "not a number"),
        ("n=30,mean=3,sd=1,x=2", "not a part of a summary"),
        ("n=30,mean=3,sd=1,n=2", "occurs twice"),
    ],
)
def test_invalid_summaries_are_refused(text: str, cause: str) -> None:
    with pytest.raises(InvalidInputError, match=cause):
        summary_of(text)


@pytest.mark.parametrize(
    ("table", "line", "cause"),
    [
        ("mean,sd\n3,1\n", 2, "no column n"),
        ("n,mean,sd\n30,3,1\n", 1, "names of the columns"),
        ("n,mean,sd\n30,3,1\n", 3, "has no line 3"),
        ("n,mean,sd\n30,3,1\n", 0, "has no line 0"),
        ("n,mean,sd\n30,3\n", 2, "has no sd"),
        ("n,mean,sd\n\n30,3,1\n", 2, "is empty|has no line"),
        ("", 2, "has no line"),
    ],
)
def test_invalid_tables_are_refused(table: str, line: int, cause: str) -> None:
    with pytest.raises(InvalidInputError, match=cause):
        row_of(table, "t.csv", line)


def test_rows_of_different_workloads_are_refused() -> None:
    a, b = (row_of(TALK, "mos_runs.csv", line) for line in (2, 20))
    with pytest.raises(InvalidInputError, match="different workloads"):
        compare_conditions(a, b, nothing)
    assert compare_conditions(a, b, nothing, same_workload=True).published


def test_units_that_differ_are_refused() -> None:
    a = summary_of("n=30,mean=3,sd=1,unit=ms")
    with pytest.raises(InvalidInputError, match="is in ms"):
        compare_conditions(a, row_of(TALK, "mos_runs.csv", 2), nothing)


def test_same_row_twice_is_refused() -> None:
    a = row_of(TALK, "mos_runs.csv", 2)
    with pytest.raises(InvalidInputError, match="named twice"):
        compare_conditions(a, a, nothing)
