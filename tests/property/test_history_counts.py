"""Counts of a history agree with its samples, which may be packed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.records import Arm, Configuration, Evidence, Launch, Metric, Outcome, Sample, Stage
from assay.search.history import packed_samples
from assay.search.history.counts.arm_column import ArmColumn
from assay.search.history.history import History
from assay.search.history.interim_analyses import is_analysis_due
from assay.search.history.packed_samples import PackedSamples, where
from assay.stats.paired import Observation

ARMS = tuple(Arm(name=name, configuration=Configuration({"threads": name})) for name in "ab")
WALL = Metric(name="wall_s")


def launched(
    block: int, arm: int = 0, attempt: int = 0, value: float | None = 1.0, foreign_s: float = 0.0
) -> Sample:
    """Return a launch with a value, or a failed one without."""
    launch = Launch(
        configuration=ARMS[arm].configuration,
        arm=ARMS[arm].name,
        stage=Stage.CONFIRM,
        block=block,
        position=arm,
        attempt=attempt,
        block_arms=None if arm else ARMS,
    )
    load = Evidence(kind="foreign_load", value=foreign_s), Evidence(kind="host_cpus", value=1.0)
    return Sample(
        launch=launch,
        outcome=Outcome.FAILED if value is None else Outcome.OK,
        wall_s=10.0,
        metrics={} if value is None else {"wall_s": value},
        evidence=load,
    )


LAUNCHES = st.lists(
    st.builds(
        launched,
        block=st.integers(0, 5),
        arm=st.integers(0, 1),
        value=st.sampled_from([None, 0.0, 1.0, 2.0]),
        foreign_s=st.sampled_from([0.0, 9.0]),
    ),
    unique_by=lambda sample: (sample.launch.block, sample.launch.arm),
    max_size=12,
)


@pytest.fixture(scope="module", autouse=True)
def small_chunks() -> Iterator[None]:
    """Pack samples in small chunks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_samples, "MAX_OBJECTS", 5)
        patch.setattr(packed_samples, "CHUNK", 3)
        yield


@given(LAUNCHES)
def test_packed_samples_behave_as_a_list(samples: list[Sample]) -> None:
    packed = PackedSamples(samples)
    assert len(packed) == len(samples)
    assert list(packed) == samples
    assert list(reversed(packed)) == samples[::-1]
    assert [packed[at] for at in range(-len(samples), len(samples))] == samples * 2
    assert packed[1:4] == samples[1:4]
    good = [sample for sample in samples if sample.outcome.succeeded]
    selected = where(packed, lambda sample: sample.outcome.succeeded)
    assert list(selected) == good == where(samples, lambda sample: sample.outcome.succeeded)
    assert list(where(selected, lambda s: s.launch.block > 2)) == [
        sample for sample in good if sample.launch.block > 2
    ]
    with pytest.raises(IndexError):
        packed[len(samples)]


@given(LAUNCHES)
def test_counts_of_history_agree_with_its_lists(samples: list[Sample]) -> None:
    history = History(WALL, samples, disturbed_above=0.5)
    stage = Stage.CONFIRM
    complete = history.complete(stage)
    assert history.count_complete(stage) == len(complete)
    assert history.disturbed(stage) == sum(history.is_disturbed(stage, b) for b in complete)
    for name in ("a", "b"):
        figures = history.figures(stage, name)
        assert history.has_value(stage, name) == bool(history.known(stage, name))
        assert history.has_figure(stage, name) == bool(figures)
        equal = len(figures) if len(set(figures)) == 1 else 0
        assert history.count_equal_figures(stage, name) == equal
        counts, launches = history.counts_of(name), list(history.launches_of(name))
        assert launches == [s for s in samples if s.launch.arm == name]
        assert history.samples_of(stage, name) == sorted(launches, key=lambda s: s.launch.block)
        assert counts.counted == len(launches)
        assert counts.failed == sum(s.outcome is Outcome.FAILED for s in launches)
        assert counts.zeros == sum(s.metrics.get("wall_s") == 0.0 for s in launches)


FOUND = st.none() | st.builds(Observation, st.sampled_from([1.0, 2.0]), censored=st.booleans())


@given(st.lists(st.tuples(st.integers(0, 6), FOUND), max_size=15))
def test_column_agrees_with_a_dictionary(entries: list[tuple[int, Observation | None]]) -> None:
    column, expected = ArmColumn(), dict(entries)
    for block, found in entries:
        column[block] = found
    known = [o for o in expected.values() if o is not None]
    values = [o.value for o in known if not o.censored]
    assert list(column.items()) == sorted(expected.items())
    assert column.lost == {block for block, found in expected.items() if found is None}
    assert column.has_value == bool(known)
    assert column.uncensored == len(values)
    assert column.is_constant == (len(set(values)) <= 1)


def test_repeated_launch_replaces_the_failed_one() -> None:
    history = History(WALL, [launched(0, value=None), launched(0, attempt=1)])
    assert history.observations(Stage.CONFIRM, "a") == [Observation(1.0)]
    assert not history.has_failed_block(Stage.CONFIRM, "a")
    assert history.counts_of("a").failed == 1


@pytest.mark.parametrize("blocks", [100, 1_000, 10_000, 100_000])
def test_blocks_read_by_interim_analyses_per_block_are_bounded(blocks: int) -> None:
    read = sum(number for number in range(blocks, 2 * blocks) if is_analysis_due(number))
    assert 20 * blocks <= read <= 80 * blocks


def test_distance_of_interim_analyses_is_as_before_up_to_3200_blocks() -> None:
    before = [number for number in range(3200) if number % max(1, number // 40) == 0]
    assert [number for number in range(3200) if is_analysis_due(number)] == before
