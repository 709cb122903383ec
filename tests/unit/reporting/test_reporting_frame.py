"""Range of an axis, and selection of points."""

from hypothesis import given
from hypothesis import strategies as st

from assay.reporting.frame import fences, frame
from assay.reporting.pictures.thin import thin
from assay.stats.quantile import quantile

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60)


@given(VALUES)
def test_fences_are_values_and_contain_quartiles(values):
    low, high = fences(values)
    assert low in values and high in values
    inside = [v for v in values if low <= v <= high]
    assert 2 * len(inside) >= len(values)
    assert low <= quantile(values, 0.5) <= high


def test_outlier_is_outside_fences():
    assert fences([10.0, 10.2, 10.1, 9.9, 10.0, 60.0]) == (9.9, 10.2)
    assert fences([10.0, 10.2, 10.1, 9.9, 10.0, 0.1]) == (9.9, 10.2)
    assert fences([1.0, 100.0]) == (1.0, 100.0)


def test_axis_extends_by_at_most_half():
    assert frame([(10.0, 20.0)], (5.0, 25.0)) == (5.0, 25.0)
    assert frame([(10.0, 20.0)], (4.9, 25.1)) == (10.0, 20.0)
    assert frame([(10.0, 12.0), (11.0, 20.0)], (9.0, 600.0)) == (9.0, 20.0)


@given(
    st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), max_size=300),
    st.integers(1, 100),
)
def test_thinned_points_are_subset_of_limited_size(points, most):
    kept = thin(points, (1.0, 1.0), most)
    assert len(kept) <= most
    assert set(kept) <= set(points)
    assert bool(kept) == bool(points)
    if len(points) <= most:
        assert kept == points


def test_thinned_points_keep_outline():
    crowd = [(i / 10, (i * 7919 % 1000) / 10) for i in range(10_000)]
    kept = thin(crowd, (1.0, 0.5), 900)
    assert 300 < len(kept) <= 900
    for axis, cell in ((0, 25), (1, 12)):
        every = [point[axis] for point in crowd]
        shown = [point[axis] for point in kept]
        assert min(shown) < min(every) + cell and max(shown) > max(every) - cell
