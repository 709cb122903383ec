"""The page of the benchmark."""

from __future__ import annotations

import math

from benchmarks import markdown
from benchmarks.search.rows import Rows

NAMES = {
    "assay": "cold",
    "assay-warm": "warm",
    "assay-altered": "altered",
    "assay-misled": "misled",
}
"""Methods of the replay, and their names here."""


def text(rows: Rows, heading: str) -> str:
    """The page as Markdown."""
    counts = rows.distinct("launches")
    parts = [
        "# Benefit of a warm start",
        heading,
        "## Regret, by launches",
        "Geometric mean over the tables of their mean regrets, in percent.",
        _overall(rows, counts),
        *(part for n in counts for part in _by_table(rows, n)),
        "## Claims",
        "*Gain claimed wrongly*: the default was at least as good. *Coverage*: how often the "
        "interval of the claim contains the true gain. An earlier study must not change either, "
        "since it is not evidence. *Thinking*: median time for each proposal.",
        _claims(rows, counts[-1]),
    ]
    return "\n\n".join(parts) + "\n"


def _overall(rows: Rows, counts: list[int]) -> str:
    lines = [
        [name, *(f"{100 * rows.of(method=m, launches=n).geometric():.2f}" for n in counts)]
        for m, name in NAMES.items()
    ]
    return markdown.table(["", *map(str, counts)], lines)


def _by_table(found: Rows, launches: int) -> list[str]:
    rows = found.of(launches=launches)
    lines = [
        [
            table,
            *(_regret(rows.of(table=table, method=m)) for m in NAMES),
        ]
        for table in rows.distinct("table")
    ]
    return [
        f"## Regret after {launches} launches, by table",
        "Mean in percent, with its standard error.",
        markdown.table(["table", *NAMES.values()], lines),
    ]


def _regret(rows: Rows) -> str:
    return f"{100 * rows.mean('regret'):.2f} ± {100 * rows.error('regret'):.2f}"


def _claims(rows: Rows, launches: int) -> str:
    lines = []
    for method, name in NAMES.items():
        of = rows.of(method=method, launches=launches)
        covered = of.mean("covered")
        lines.append(
            [
                name,
                f"{100 * rows.of(method=method).mean('false_win'):.1f}",
                "" if math.isnan(covered) else f"{100 * covered:.1f}",
                f"{1e3 * of.median('think_s'):.1f} ms",
            ]
        )
    head = ["", "gain claimed wrongly, %", f"coverage after {launches} launches, %", "thinking"]
    return markdown.table(head, lines)
