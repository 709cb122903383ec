"""Rows: memory layout of a view of an array, as rows of bytes at equal distances."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from assay.errors import InvalidInputError

_PAGE = 4096
"""Maximum gap between rows that are fetched together, in bytes."""


class HasArrayInterface(Protocol):
    """Array of NumPy, or with its array interface (version 3)."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


class Rows(NamedTuple):
    """Rows of a tile.

    Attributes:
        at: address of the first row.
        row_bytes: size of a row.
        stride_bytes: distance between the starts of adjacent rows.
        number: number of rows.
    """

    at: int
    row_bytes: int
    stride_bytes: int
    number: int


def rows_of(view: HasArrayInterface, first: int, last: int) -> Iterator[Rows]:
    """Yield the rows of a view between two addresses.

    Raises:
        InvalidInputError: outside the addresses, or not an array.
    """
    interface = getattr(view, "__array_interface__", None)
    if interface is None:
        raise InvalidInputError(
            f"A {type(view).__name__} is not a view of an array.",
            "Use a NumPy array from Region.array, or a part of one.",
        )
    import numpy as np

    item = np.dtype(interface["typestr"]).itemsize
    shape: tuple[int, ...] = interface["shape"]
    if 0 in shape:
        return
    steps = interface.get("strides") or _contiguous(shape, item)
    axes = [(step, count) for step, count in zip(steps, shape, strict=True) if step and count > 1]
    at = interface["data"][0] + sum((count - 1) * step for step, count in axes if step < 0)
    axes = sorted((abs(step), count) for step, count in axes)
    if not first <= at <= at + _extent(axes, item) <= last:
        raise InvalidInputError(
            "The view is not in this region.", "Use a view of an array from Region.array."
        )
    inner = 0
    while inner < len(axes) and axes[inner][0] <= _extent(axes[:inner], item) + _PAGE:
        inner += 1
    row = _extent(axes[:inner], item)
    (stride, count), *outer = axes[inner:] or [(row, 1)]
    for places in itertools.product(*(range(0, step * many, step) for step, many in outer)):
        yield Rows(at + sum(places), row, stride, count)


def _contiguous(shape: tuple[int, ...], item: int) -> tuple[int, ...]:
    """Return the strides of a contiguous array, the last axis having the smallest."""
    after = itertools.accumulate(reversed(shape[1:]), lambda a, b: a * b, initial=item)
    return tuple(after)[::-1]


def _extent(axes: list[tuple[int, int]], item: int) -> int:
    """Return the distance from the first byte to the end of the last element, in bytes."""
    return item + sum((count - 1) * step for step, count in axes)
