"""Memory ranges of a view of an array."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InvalidInputError
from assay.tier.rows import Rows, rows_of

MATRIX = np.zeros((64, 4096))
BASE = MATRIX.__array_interface__["data"][0]
END = BASE + MATRIX.nbytes
ROW = 4096 * 8


def rows(view: npt.NDArray[Any]) -> list[Rows]:
    return list(rows_of(view, BASE, END))


def test_whole_array_is_one_row() -> None:
    assert rows(MATRIX) == [Rows(BASE, MATRIX.nbytes, MATRIX.nbytes, 1)]
    assert rows(MATRIX.T) == rows(MATRIX)
    assert rows(MATRIX[::-1, ::-1]) == rows(MATRIX)


def test_tile_yields_rows() -> None:
    assert rows(MATRIX[10:20, 100:200]) == [Rows(BASE + 10 * ROW + 800, 800, ROW, 10)]
    assert rows(MATRIX[10:20, 100:200].T) == rows(MATRIX[10:20, 100:200])


def test_column_yields_rows_of_one_element() -> None:
    assert rows(MATRIX[:, 7]) == [Rows(BASE + 56, 8, ROW, 64)]


def test_close_rows_are_merged() -> None:
    assert rows(MATRIX[:, :3600]) == [Rows(BASE, 63 * ROW + 28800, 63 * ROW + 28800, 1)]


def test_tensor_tile_yields_many_rows() -> None:
    view = MATRIX.reshape(8, 8, 4096)[1:3, 2:5, :8]
    one = Rows(BASE + (8 + 2) * ROW, 64, ROW, 3)
    assert rows(view) == [one, one._replace(at=one.at + 8 * ROW)] or rows(view) == [
        one._replace(stride_bytes=8 * ROW, number=2, at=one.at + i * ROW) for i in range(3)
    ]


@pytest.mark.parametrize("kind", ["U5", "M8[ns]", "c16", "V24", "S3", "?"])
def test_rows_contain_whole_elements(kind: str) -> None:
    array = np.zeros(4, dtype=kind)
    at = array.__array_interface__["data"][0]
    (one,) = rows_of(array[::2], at, at + array.nbytes)
    assert one == Rows(at, 3 * array.itemsize, 3 * array.itemsize, 1)


def test_empty_view_has_no_rows() -> None:
    assert rows(MATRIX[:0]) == []
    assert rows(np.zeros((5, 0))) == []


@pytest.mark.parametrize("other", [np.zeros(10), np.broadcast_to(np.zeros(1), (5,)), b"bytes", 7])
def test_foreign_or_invalid_array_is_refused(other: Any) -> None:
    with pytest.raises(InvalidInputError):
        list(rows_of(other, BASE, END))


SLICES = st.builds(
    slice,
    st.none() | st.integers(-9, 9),
    st.none() | st.integers(-9, 9),
    st.sampled_from([None, 1, 2, 3, -1, -2]),
)
CUBE = np.arange(6 * 7 * 4096, dtype="i4").reshape(6, 7, 4096)


@given(st.tuples(SLICES, SLICES, SLICES), st.permutations([0, 1, 2]))
def test_rows_cover_every_element(which: tuple[slice, ...], order: list[int]) -> None:
    """Gaps between rows exceed the unit of prefetch."""
    first = CUBE.__array_interface__["data"][0]
    view = CUBE[which].transpose(order)
    covered = np.zeros(CUBE.nbytes, dtype=bool)
    for at, size, stride, count in rows_of(view, first, first + CUBE.nbytes):
        for i in range(count):
            assert at + i * stride + size <= first + CUBE.nbytes
            covered[at - first + i * stride :][:size] = True
    assert covered.reshape(-1, 4).all(axis=1)[np.asarray(view).ravel()].all()
    if view.size:
        gaps = np.diff(np.unique(np.asarray(view)), prepend=0) * 4
        assert covered.sum() <= 4 * view.size + np.minimum(gaps, 4096).sum()
