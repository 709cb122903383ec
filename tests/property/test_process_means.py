"""Process means: paired by block, invariant to a common factor of a process."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.records import DEFAULT, Arm, Configuration, Launch, Outcome, Sample, Stage
from assay.search.history.process_means import ProcessMeans
from assay.stats.paired import Observation

ARMS = (
    Arm(name="default", configuration=DEFAULT),
    Arm(name="b=2", configuration=Configuration({"b": 2})),
)
VALUES = st.floats(1e-3, 1e6)
BLOCKS = st.lists(st.tuples(VALUES | st.none(), VALUES | st.none()), min_size=1, max_size=8)


def means_of(blocks: list[tuple[float | None, float | None]], factor: float = 1.0) -> ProcessMeans:
    means = ProcessMeans()
    for number, values in enumerate(blocks):
        for position, (arm, value) in enumerate(zip(ARMS, values, strict=True)):
            launch = Launch(
                configuration=arm.configuration,
                arm=arm.name,
                stage=Stage.CONFIRM,
                block=number,
                position=position,
                block_arms=ARMS if position == 0 else None,
                process=0,
            )
            found = None if value is None else Observation(value * factor)
            means.add(Sample(launch=launch, outcome=Outcome.OK), found)
    return means


def log_ratio(means: ProcessMeans) -> float:
    a, b = (means.columns[arm.name] for arm in ARMS)
    assert a is not None
    assert b is not None
    return math.log(b.value / a.value)


@given(BLOCKS)
def test_difference_of_means_is_the_mean_log_ratio_of_complete_blocks(
    blocks: list[tuple[float | None, float | None]],
) -> None:
    pairs = [(a, b) for a, b in blocks if a is not None and b is not None]
    means = means_of(blocks)
    if pairs:
        expected = math.fsum(math.log(b / a) for a, b in pairs) / len(pairs)
        assert log_ratio(means) == pytest.approx(expected, abs=1e-9)
    for arm, values in zip(ARMS, zip(*blocks, strict=True), strict=True):
        assert (means.columns[arm.name] is None) == all(value is None for value in values)


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=8), st.floats(0.1, 10.0))
def test_factor_of_the_whole_process_does_not_change_the_ratio(
    blocks: list[tuple[float, float]], factor: float
) -> None:
    assert log_ratio(means_of([*blocks], factor)) == pytest.approx(
        log_ratio(means_of([*blocks])), abs=1e-9
    )


def test_block_without_its_last_arm_does_not_count() -> None:
    means = means_of([(2.0, 4.0)])
    launch = Launch(
        configuration=DEFAULT,
        arm="default",
        stage=Stage.CONFIRM,
        block=1,
        position=0,
        block_arms=ARMS,
        process=0,
    )
    means.add(Sample(launch=launch, outcome=Outcome.OK), Observation(100.0))
    assert log_ratio(means) == pytest.approx(math.log(2.0))
    assert means.is_complete


def test_process_without_a_complete_block_is_incomplete() -> None:
    means = ProcessMeans()
    launch = Launch(
        configuration=DEFAULT, arm="default", stage=Stage.CONFIRM, block=0, position=0,
        block_arms=ARMS, process=0,
    )  # fmt: skip
    means.add(Sample(launch=launch, outcome=Outcome.OK), Observation(1.0))
    assert not means.is_complete
