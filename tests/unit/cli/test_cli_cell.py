"""``run --from`` of sweeps and comparisons: the best cell, or any other by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from assay.api.launches.cell import cell_of
from assay.errors import InvalidInputError
from assay.records import (
    Arm,
    ArmResult,
    Budget,
    Claim,
    Conclusion,
    Configuration,
    Kind,
    StudySpec,
    Summary,
    Verdict,
    Workload,
)


@dataclass
class Study:
    id: str
    spec: StudySpec
    conclusion: Conclusion


def summary(median: float) -> Summary:
    five = dict.fromkeys(("min", "q1", "median", "q3", "max", "mean"), median)
    return Summary(n=9, **five)


def study(verdict: Verdict, medians: tuple[float, ...] = (1.0, 0.8, 1.2)) -> Any:
    arms = [Arm(name=f"nice={n}", configuration=Configuration({"nice": n})) for n in range(3)]
    results = tuple(
        ArmResult(name=arm.name, configuration=arm.configuration, summary={"wall_s": summary(m)})
        for arm, m in zip(arms, medians, strict=True)
    )
    claims = tuple(
        Claim(
            a="nice=0",
            b=f"nice={n}",
            metric="wall_s",
            ratio=medians[n],
            ci=(0.7, 0.9),
            verdict=verdict if n == 1 else Verdict.SLOWER,
            blocks=9,
            margin=0.05,
            method="test",
            alpha=0.05,
        )
        for n in (1, 2)
    )
    spec = StudySpec(
        kind=Kind.COMPARE,
        workload=Workload(argv=("true",)),
        arms=tuple(arms),
        budget=Budget(launches=30),
        seed=1,
    )
    conclusion = Conclusion(
        kind=Kind.COMPARE,
        metric="wall_s",
        arms=results,
        claims=claims,
        launches=27,
        configurations=3,
        blocks=9,
    )
    return Study("kq3v8ma", spec, conclusion)


def test_cell_that_a_claim_shows_to_be_better_is_taken() -> None:
    cell = cell_of(study(Verdict.FASTER), None, unproven=False)
    assert (cell.name, dict(cell.settings), cell.proven) == ("nice=1", {"nice": 1}, True)


def test_best_median_without_a_claim_takes_unproven() -> None:
    with pytest.raises(InvalidInputError, match="shown to be better than nice=0") as error:
        cell_of(study(Verdict.UNCLEAR), None, unproven=False)
    assert "--unproven" in error.value.remedy and "nice=1" in error.value.remedy
    cell = cell_of(study(Verdict.UNCLEAR), None, unproven=True)
    assert (cell.name, cell.proven) == ("nice=1", False)


@pytest.mark.parametrize(
    ("asked", "name", "proven"),
    [("nice=2", "nice=2", False), ("nice=0", "nice=0", True)],
)
def test_any_cell_by_name(asked: str, name: str, proven: bool) -> None:
    cell = cell_of(study(Verdict.UNCLEAR), asked, unproven=False)
    assert (cell.name, cell.proven) == (name, proven)


@pytest.mark.parametrize("asked", ["nice=7", "0", "1", "3", ""])
def test_unknown_cell_is_refused_and_names_are_told(asked: str) -> None:
    """Tables have no numbers, and long ones leave cells out: a number would be another cell's."""
    with pytest.raises(InvalidInputError, match="has no cell") as error:
        cell_of(study(Verdict.FASTER), asked, unproven=False)
    assert "'nice=2'" in error.value.remedy and "study show kq3v8ma" in error.value.remedy


def test_a_slip_in_a_name_is_answered_by_the_nearest_name() -> None:
    with pytest.raises(InvalidInputError) as error:
        cell_of(study(Verdict.FASTER), "nicee=1", unproven=False)
    assert "Did you mean 'nice=1'?" in error.value.remedy
