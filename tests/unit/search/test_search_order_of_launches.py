"""Effects of launches on later ones: trends, and the previous arm."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
import pytest
from simulated_studies import Study, carry_out, compare, workload

from assay.records import DEFAULT, Arm, Budget, Kind, Launch, Sample, StudySpec
from assay.testing.search_contracts import SimulatedProgram

SECOND = Budget(launches=60)
SLOW_WRITER: tuple[dict[str, int | str], ...] = ({}, {"arg.write": 1})


@dataclass(frozen=True)
class Remembering(SimulatedProgram):
    """Program whose time depends on earlier launches.

    Attributes:
        factor: factor of the time, by the names of all arms so far.
        seen: names of these arms.
    """

    factor: Callable[[list[str]], float] = lambda arms: 1.0
    seen: list[str] = field(default_factory=list)

    def run(self, launch: Launch) -> Sample:
        self.seen.append(launch.arm)
        found = super().run(launch)
        wall_s = (found.wall_s or 0.0) * self.factor(self.seen)
        return msgspec.structs.replace(found, wall_s=wall_s, metrics={"wall_s": wall_s})


def measured(program: SimulatedProgram) -> Study:
    arm = Arm(name="default", configuration=DEFAULT)
    spec = StudySpec(kind=Kind.MEASURE, workload=workload(), budget=SECOND, arms=(arm,))
    return carry_out(spec, program)


def notes(study: Study, word: str) -> list[str]:
    return [note for note in study.conclusion.notes if word in note]


def grows(arms: list[str]) -> float:
    return 1.0 + 0.05 * len(arms)


def shrinks(arms: list[str]) -> float:
    return 1.0 / grows(arms)


@pytest.mark.parametrize(("factor", "verb"), [(grows, "wall_s rose"), (shrinks, "wall_s fell")])
@pytest.mark.parametrize("noise", [0.02, 0.15])
def test_trend_of_measurement_is_reported(
    factor: Callable[[list[str]], float], verb: str, noise: float
) -> None:
    study = measured(Remembering(takes_s=lambda c: 0.02, noise=noise, factor=factor))
    (note,) = notes(study, "during the study")
    assert note.startswith(f"{verb} during the study, from ")


def test_trend_of_comparison_is_reported_for_all_arms() -> None:
    program = Remembering(takes_s=lambda c: 0.02, factor=grows)
    (note,) = notes(compare(program, SECOND, {}, {"nice": 5}), "during the study")
    assert "in all arms together" in note


def lasts(arms: list[str]) -> float:
    """Return the factor of a state that lasts for 60 launches."""
    return 1.1 if len(arms) // 60 % 2 else 1.0


def measured_long(factor: Callable[[list[str]], float]) -> Study:
    arm = Arm(name="default", configuration=DEFAULT)
    budget = Budget(launches=601)
    spec = StudySpec(
        kind=Kind.MEASURE, workload=workload(), budget=budget, arms=(arm,), precision=1e-4
    )
    return carry_out(spec, Remembering(takes_s=lambda c: 0.02, noise=0.05, factor=factor))


def test_measurement_reports_state_that_lasts_for_many_launches() -> None:
    study = measured_long(lasts)
    (note,) = notes(study, "depend on earlier ones")
    found = re.fullmatch(r".* differ (.*) times .* is (.*) ms to (.*) ms\. .*", note)
    assert found is not None
    ratio, low, high = map(float, found.groups())
    # Means of 30 launches alternate between 1 and 1.1; those of independent ones vary by 0.013.
    assert 2.0 < ratio < 4.5
    summary = study.conclusion.arms[0].summary["wall_s"]
    assert summary.ci is not None
    narrow_ms = 1e3 * (summary.ci[1] - summary.ci[0])
    assert high - low == pytest.approx(ratio * narrow_ms, rel=0.1)


def test_independent_launches_of_measurement_have_no_note() -> None:
    assert not notes(measured_long(lambda arms: 1.0), "depend on earlier ones")


def test_trend_is_the_only_note_on_its_dependence() -> None:
    study = measured_long(lambda arms: 1.0 + 0.001 * len(arms))
    assert notes(study, "during the study")
    assert not notes(study, "depend on earlier ones")


def slow_after_writer(arms: list[str]) -> float:
    writes, before = "arg.write=1", arms[-2] if len(arms) > 1 else ""
    return 1.6 if before == writes and arms[-1] != writes else 1.0


def test_arm_that_slows_next_launch_is_reported() -> None:
    program = Remembering(takes_s=lambda c: 0.3 if c else 0.1, noise=0.05, factor=slow_after_writer)
    study = compare(program, SECOND, *SLOW_WRITER)
    (note,) = notes(study, "right after")
    assert "of 'default' is 16" in note and "right after 'arg.write=1' and 10" in note


@pytest.mark.parametrize("noise", [0.005, 0.03, 0.3])
def test_launches_without_carry_over_have_no_note(noise: float) -> None:
    told = []
    for seed in range(5):
        program = SimulatedProgram(takes_s=lambda c: 0.1 if c else 0.12, noise=noise, seed=seed)
        for study in (measured(program), compare(program, SECOND, *SLOW_WRITER, seed=seed)):
            told += notes(study, "during the study") + notes(study, "right after")
    assert told == []


def test_small_drift_is_no_trend() -> None:
    program = SimulatedProgram(takes_s=lambda c: 0.1, noise=0.01, drift=0.002)
    assert notes(measured(program), "during the study") == []


def test_trend_of_one_arm_is_reported_for_that_arm() -> None:
    """One arm fills a log; the other is unchanged."""
    program = Remembering(
        takes_s=lambda c: 0.02,
        factor=lambda arms: 1.0 + 0.05 * arms.count("nice=5") * (arms[-1] == "nice=5"),
    )
    (note,) = notes(compare(program, SECOND, {}, {"nice": 5}), "during the study")
    assert note.startswith("wall_s of nice=5 rose during the study, from ")
