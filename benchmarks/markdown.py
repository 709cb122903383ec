"""Markdown: what the pages of the benchmarks are written in."""

from __future__ import annotations

from collections.abc import Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in the dialect of GitHub."""
    lines = (heads, ["---"] * len(heads), *rows)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
