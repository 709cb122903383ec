"""Laws of the statistics that hold for any data."""

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assay.records.workload import Goal
from assay.stats.confidence_sequence import half_width, mean_sequence, moments
from assay.stats.interval import Interval
from assay.stats.median import median_between, median_sequence
from assay.stats.paired import Observation, effect
from assay.stats.quantile import quantile
from assay.stats.shift import shifts
from assay.stats.summary import summarise
from assay.stats.verdict import Verdict, blocks_needed, decide

laws = settings(deadline=None, derandomize=True)

number = st.integers(-10_000, 10_000).map(lambda v: v / 100.0)
numbers = st.lists(number, min_size=6, max_size=30)
positive = st.integers(1, 100_000).map(lambda v: v / 1000.0)
pairs = st.lists(st.tuples(positive, positive), min_size=1, max_size=25)
ends = st.lists(st.tuples(number, st.integers(0, 3)), min_size=1, max_size=40)


def close(x: Interval, y: Interval, scale: float) -> bool:
    return all(
        a == b or abs(a - b) <= 1e-9 * (1.0 + scale) for a, b in ((x.lo, y.lo), (x.hi, y.hi))
    )


@laws
@given(numbers, number, st.sampled_from([0.25, 2.0, 8.0]))
def test_mean_interval_moves_and_scales_with_the_values(
    values: list[float], shift: float, scale: float
) -> None:
    assume(len(set(values)) > 2)
    base = mean_sequence(values)
    moved = mean_sequence([shift + scale * v for v in values])
    assert close(moved, Interval(shift + scale * base.lo, shift + scale * base.hi), 1000.0)


@laws
@given(numbers, st.randoms(use_true_random=False))
def test_mean_interval_ignores_the_order(values: list[float], random: object) -> None:
    other = list(values)
    random.shuffle(other)  # type: ignore[attr-defined]
    assert close(mean_sequence(values), mean_sequence(other), 100.0)


@laws
@given(numbers, st.floats(0.001, 0.5), st.floats(0.001, 0.5))
def test_intervals_nest_by_alpha_and_hold_their_estimate(
    values: list[float], x: float, y: float
) -> None:
    small, large = min(x, y), max(x, y)
    for give in (mean_sequence, lambda v, a: median_sequence(v, None, a)):
        wide, narrow = give(values, small), give(values, large)
        assert wide.lo <= narrow.lo <= narrow.hi <= wide.hi
    assert moments(values)[0] in mean_sequence(values, large)
    assert median_between(values).lo in median_sequence(values, None, large)


@laws
@given(numbers, st.floats(0.0, 10.0))
def test_resolution_only_widens(values: list[float], resolution: float) -> None:
    fine, coarse = mean_sequence(values), mean_sequence(values, resolution=resolution)
    if len(set(values)) > 1:
        assert coarse.lo <= fine.lo <= fine.hi <= coarse.hi
    assert coarse.width >= 2.0 * resolution * (1 - 1e-9)
    assert coarse.width > 0.0


@laws
@given(st.integers(6, 5000), st.floats(1e-6, 10.0))
def test_more_values_never_widen(n: int, sd: float) -> None:
    assert half_width(n + 1, sd, 0.05) < half_width(n, sd, 0.05)


@laws
@given(ends)
def test_censoring_only_widens_a_median(data: list[tuple[float, int]]) -> None:
    exact = [v for v, _ in data]
    low = [-math.inf if kind == 1 else v for v, kind in data]
    high = [math.inf if kind == 2 else v for v, kind in data]
    known, blurred = median_sequence(exact), median_sequence(low, high)
    assert blurred.lo <= known.lo <= known.hi <= blurred.hi
    sample = median_between(low, high)
    assert sample.lo <= median_between(exact).lo <= sample.hi


@laws
@given(ends)
def test_median_interval_follows_any_increasing_change(data: list[tuple[float, int]]) -> None:
    values = [v for v, _ in data]
    base = median_sequence(values)
    changed = median_sequence([math.exp(v / 20.0) for v in values])
    if base.bounded:
        assert changed == Interval(math.exp(base.lo / 20.0), math.exp(base.hi / 20.0))


@laws
@given(pairs)
def test_exchanging_the_arms_inverts_the_effect(data: list[tuple[float, float]]) -> None:
    a = [Observation(x) for x, _ in data]
    b = [Observation(y) for _, y in data]
    there, back = effect(a, b), effect(b, a)
    assert there.ratio is not None
    assert back.ratio is not None
    assert math.isclose(there.ratio * back.ratio, 1.0, rel_tol=1e-9)
    assert there.lo <= there.ratio * (1 + 1e-9)
    assert there.hi >= there.ratio * (1 - 1e-9)
    if there.lo > 0.0:
        assert math.isclose(there.lo * back.hi, 1.0, rel_tol=1e-6)
    opposite = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}
    said = decide(there, margin=0.0)
    assert decide(back, margin=0.0) is opposite.get(said, said)
    assert decide(there, goal=Goal.HIGHER, margin=0.0) is opposite.get(said, said)


@laws
@given(pairs, st.sampled_from([0.5, 4.0, 1024.0]))
def test_the_unit_of_the_metric_does_not_matter(
    data: list[tuple[float, float]], unit: float
) -> None:
    base = effect([Observation(x) for x, _ in data], [Observation(y) for _, y in data])
    other = effect(
        [Observation(unit * x) for x, _ in data], [Observation(unit * y) for _, y in data]
    )
    assert base.ratio is not None
    assert other.ratio is not None
    assert math.isclose(base.ratio, other.ratio, rel_tol=1e-9)
    assert math.isclose(base.lo, other.lo, rel_tol=1e-6)
    assert math.isclose(base.hi, other.hi, rel_tol=1e-6)


@laws
@given(
    st.lists(
        st.tuples(positive, st.booleans(), positive, st.booleans(), st.integers(0, 9)),
        max_size=25,
    ),
    st.sampled_from(list(Goal)),
)
def test_every_effect_is_coherent(
    data: list[tuple[float, bool, float, bool, int]], goal: Goal
) -> None:
    a = [None if drop == 0 else Observation(x, cx) for x, cx, _, _, drop in data]
    b = [None if drop == 1 else Observation(y, cy) for _, _, y, cy, drop in data]
    found = effect(a, b, goal=goal)
    assert found.blocks + found.dropped == len(data)
    assert 0.0 <= found.lo <= found.hi
    assert (found.ratio is None) <= found.bound_only
    if 2 * found.censored_share > 1:
        assert found.bound_only
    assert isinstance(decide(found, goal=goal), Verdict)
    needed = blocks_needed(found)
    assert needed is None or needed >= max(found.blocks, 1)


@laws
@given(st.lists(number, min_size=1, max_size=30), st.floats(0.0, 1.0))
def test_summary_is_ordered_and_quantiles_stay_inside(values: list[float], p: float) -> None:
    found = summarise(values)
    assert found.min <= found.q1 <= found.median <= found.q3 <= found.max
    assert found.min <= found.mean <= found.max
    assert found.min <= quantile(values, p) <= found.max
    if len(values) > 1:
        assert found.sd is not None
        assert found.sem == pytest.approx(found.sd / math.sqrt(len(values)))
    assert found.ci is None or found.ci[0] <= found.mean <= found.ci[1]


@laws
@given(st.lists(positive, min_size=1, max_size=30), st.sampled_from([0.5, 2.0, 4.0]))
def test_a_scaled_arm_shifts_every_quantile_alike(values: list[float], scale: float) -> None:
    for shift in shifts(values, [scale * v for v in values]):
        assert shift.ratio is not None
        assert math.isclose(shift.ratio, scale, rel_tol=1e-9)
