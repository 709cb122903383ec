"""Published summaries of any text are read, or rejected as invalid input."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InvalidInputError
from assay.search.occasions.comparison import compare_conditions
from assay.search.occasions.published import row_of, summary_of

NUMBERS = st.one_of(
    st.floats(allow_nan=True).map(repr), st.integers().map(str), st.text(max_size=6)
)
SUMMARIES = st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS).map(
    lambda found: "n={},mean={},sd={},sem={}".format(*found)
)
CELLS = st.lists(st.lists(st.text(max_size=8), max_size=4).map(",".join), max_size=4)


@given(text=st.one_of(st.text(max_size=40), SUMMARIES))
def test_summary_is_read_or_rejected(text: str) -> None:
    try:
        found = summary_of(text)
    except InvalidInputError:
        return
    assert found.condition.n >= 2
    assert found.condition.mean > 0
    assert found.error >= 0 and math.isfinite(found.condition.mean)
    other = summary_of("n=30,mean=1,sd=0.1")
    assert compare_conditions(other, found, list).ratio > 0


@given(lines=CELLS, line=st.integers(min_value=0, max_value=6))
def test_table_is_read_or_rejected(lines: list[str], line: int) -> None:
    try:
        row_of("\n".join(["n,mean,sd,workload", *lines]), "t.csv", line)
    except InvalidInputError:
        return


@given(n=st.integers(min_value=2, max_value=10**6), sd=st.floats(min_value=0.01, max_value=10))
def test_either_divisor_is_recognised_by_the_error_beside_it(n: int, sd: float) -> None:
    """Printed to six digits both round to the intended divisor, or are too close to differ."""
    of_n = sd * math.sqrt((n - 1) / n)
    sem = sd / math.sqrt(n)
    for printed in (sd, of_n):
        found = summary_of(f"n={n},mean=100,sd={printed:.6e},sem={sem:.6e}")
        assert math.isclose(found.error, sem, rel_tol=1e-5)
