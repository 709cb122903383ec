"""Differences of the kernels of a study as lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay.records import KernelComparison
from assay.untrusted import clean
from assay.wording.kernels import ABSENT, kernels_words

MAX_SHOWN = 12
"""Maximum number of differences on a terminal; the report and ``--json`` have all."""


def kernel_lines(found: KernelComparison | None) -> Iterable[str]:
    """Yield a line for each difference, below the names of the kernels."""
    if found is None:
        return
    yield f"  kernels  {clean(kernels_words(found))}"
    shown = found.differences[:MAX_SHOWN]
    rows = [
        [clean(one.name), *(clean(ABSENT if v is None else v) for v in one.values)] for one in shown
    ]
    if rows:
        rows.insert(0, ["", *map(clean, found.releases)])
    yield from _table(rows)
    hidden = len(found.differences) - len(shown)
    if hidden:
        yield f"    and {hidden} more: the report and --json have them all"


def _table(rows: list[list[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        yield f"    {'  '.join(cells)}".rstrip()
