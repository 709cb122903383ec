"""Where in memory a view of an array lies: rows of bytes, at equal distances."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from assay.errors import InvalidInputError

_PAGE = 4096
"""Bytes between two rows that are brought with them all the same."""


class HasArrayInterface(Protocol):
    """An array of NumPy, or of whatever has its interface (version 3)."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


class Rows(NamedTuple):
    """Rows of a tile.

    Attributes:
        at: the address of the first.
        row_bytes: of each.
        stride_bytes: from the beginning of one to that of the next.
        number: how many there are.
    """

    at: int
    row_bytes: int
    stride_bytes: int
    number: int


def rows_of(view: HasArrayInterface, first: int, last: int) -> Iterator[Rows]:
    """Where a view lies between two addresses, in few pieces.

    Raises:
        InvalidInputError: elsewhere, or it is no array.
    """
    interface = getattr(view, "__array_interface__", None)
    if interface is None:
        raise InvalidInputError(
            f"A {type(view).__name__} is no view of an array.",
            "Give a NumPy array, as Region.array makes them, or a part of one.",
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
            "A view is not of this region.", "Give one of an array that Region.array made."
        )
    inner = 0
    while inner < len(axes) and axes[inner][0] <= _extent(axes[:inner], item) + _PAGE:
        inner += 1
    row = _extent(axes[:inner], item)
    (stride, count), *outer = axes[inner:] or [(row, 1)]
    for places in itertools.product(*(range(0, step * many, step) for step, many in outer)):
        yield Rows(at + sum(places), row, stride, count)


def _contiguous(shape: tuple[int, ...], item: int) -> tuple[int, ...]:
    """Bytes from one to the next along each axis, the last one's the closest."""
    after = itertools.accumulate(reversed(shape[1:]), lambda a, b: a * b, initial=item)
    return tuple(after)[::-1]


def _extent(axes: list[tuple[int, int]], item: int) -> int:
    """Bytes from the first to the last, and of it."""
    return item + sum((count - 1) * step for step, count in axes)
