"""Outliers: launches far from all others."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec
import pytest
from simulated_studies import compare, factors

from assay.records import Budget, Kind, Sample, Stage, Statistic, StudySpec
from assay.records.study import Modes
from assay.search.conclusion.conclude import conclude
from assay.search.history.arm_result import launches_by_arm
from assay.search.history.history import History
from assay.search.history.outliers import outlier_notes, outliers
from assay.search.space.search_space import SearchSpace
from assay.testing.replay.tpe import TpeSearcher
from assay.testing.search_contracts import SimulatedProgram


def test_one_launch_of_many_is_an_outlier() -> None:
    values = [1.0 + 0.01 * (n % 7) for n in range(23)]
    assert outliers([*values, 35.9]) == [35.9]
    assert outliers([*values, 0.3]) == [0.3]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("shape", ["normal", "skewed", "exponential", "coarse"])
def test_normal_launches_are_not_outliers(seed: int, shape: str) -> None:
    draw = random.Random(f"{shape}{seed}")
    shapes = {
        "normal": lambda: draw.gauss(1.0, 0.05),
        "skewed": lambda: draw.lognormvariate(0.0, 0.5),
        "exponential": lambda: draw.expovariate(1.0) + 0.05,
        "coarse": lambda: draw.choice([0.01, 0.01, 0.01, 0.011]),
    }
    for count in (12, 24, 200):
        assert outliers([shapes[shape]() for _ in range(count)]) == []


@pytest.mark.parametrize(
    "values",
    [
        [1.0] * 10 + [40.0],  # too few to detect
        [1.0] * 12 + [40.0] * 4,  # part of the program's behaviour
        [0.0] * 12 + [40.0],  # no ratio
        [1.0] * 400 + [3.5],  # no effect on the mean
        [1.0 + 0.001 * (n % 7) for n in range(23)] + [1.6],  # not far from the others
        [1.0] * 26 + [40.0] * 4,  # part of the program's behaviour, though quartiles are equal
        [1.0, 2.0] * 12 + [0.01],  # within the fence of the values, but not of their logarithms
    ],
)
def test_other_distributions_have_no_outliers(values: list[float]) -> None:
    assert outliers(values) == []


def notes(spec: StudySpec, samples: Sequence[Sample]) -> tuple[str, ...]:
    return conclude(spec, samples, SearchSpace(spec.space), TpeSearcher(), None).notes


def test_launches_of_two_groups_are_not_outliers() -> None:
    study = compare(SimulatedProgram(takes_s=lambda c: 1.0), Budget(launches=60), {}, {"nice": 1})
    victim = next(s for s in study.samples[20:] if s.launch.stage is Stage.CONFIRM)
    samples = [
        msgspec.structs.replace(s, metrics={"wall_s": 90.0}) if s is victim else s
        for s in study.samples
    ]
    history = History.of(study.spec, samples)
    launches = launches_by_arm(history, Stage.CONFIRM, study.spec.arms)
    results = conclude(study.spec, samples, SearchSpace(study.spec.space), TpeSearcher(), None).arms
    assert len(outlier_notes(study.spec, history, launches, results)) == 1
    groups = Modes(low=1.0, high=2.0, upper_mode_share=0.5)
    of_groups = [msgspec.structs.replace(result, modes=groups) for result in results]
    assert outlier_notes(study.spec, history, launches, of_groups) == []


def test_answer_names_the_launch_and_the_median() -> None:
    program = SimulatedProgram(takes_s=factors(nice={1: 0.997}))
    study = compare(program, Budget(launches=60), {}, {"nice": 1})
    confirmed = [s for s in study.samples if s.launch.stage is Stage.CONFIRM]
    victim = next(s for s in confirmed[6:] if s.launch.arm == study.spec.arms[0].name)
    slow = [
        msgspec.structs.replace(s, wall_s=90.0, metrics={**s.metrics, "wall_s": 90.0})
        if s is victim
        else s
        for s in study.samples
    ]
    assert not any("the mean" in note for note in notes(study.spec, study.samples))
    (note,) = [n for n in notes(study.spec, slow) if "the mean" in n]
    assert "has wall_s 90.0 s" in note and "--objective wall_s:median" in note
    by_median = msgspec.structs.replace(study.spec, statistic=Statistic.MEDIAN)
    assert not any("the mean" in note for note in notes(by_median, slow))
    alone = msgspec.structs.replace(study.spec, kind=Kind.MEASURE, arms=study.spec.arms[:1])
    mine = [s for s in slow if s.launch.arm == study.spec.arms[0].name]
    (note,) = [n for n in notes(alone, mine) if "the mean" in n]
    assert "compare, tune and sweep decide by the median" in note
