"""Markdown for the pages of the benchmarks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in the dialect of GitHub."""
    lines = (heads, ["---"] * len(heads), *rows)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def section(title: str, lines: Iterable[str], level: int = 2) -> str:
    """A part of a page; nothing where nothing was measured."""
    text = "\n\n".join(lines)
    return f"{'#' * level} {title}\n\n{text}" if text else ""
