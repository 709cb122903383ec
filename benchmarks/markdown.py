"""Markdown for the pages of the benchmarks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in GitHub's dialect."""
    lines = (heads, ["---"] * len(heads), *rows)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


REASON = "reason of a miss"
"""Last column of a table of targets."""


def targets_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of targets whose last column is ``REASON``, without that column if empty."""
    if not any(row[-1] for row in rows):
        return table(heads[:-1], [row[:-1] for row in rows])
    return table(heads, rows)


def section(title: str, lines: Iterable[str], level: int = 2) -> str:
    """Return a section of a page; empty without lines."""
    text = "\n\n".join(lines)
    return f"{'#' * level} {title}\n\n{text}" if text else ""


def verdict(text: str) -> str:
    """Return the verdict on a target with emphasis on its first word; a remark may follow."""
    return re.sub(r"^(met|missed|open)\b", r"*\1*", text)
