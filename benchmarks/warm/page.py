"""Page of the benchmark, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator

from benchmarks import markdown
from benchmarks.search.rows import Rows

NAMES = {
    "assay": "cold",
    "assay-warm": "warm",
    "assay-altered": "altered",
    "assay-misled": "misled",
}
"""Methods of the replay, and their names on the page."""
MAX_FALSE, MIN_COVERAGE, MAX_PROPOSAL_S = 0.05, 0.95, 0.05
"""Limits of the [search](search.md) page, which hold for every search."""
INTRODUCTION = (
    "A warm start (`assay tune --warm-start`) guides a search by an earlier study. This page shows "
    "how much it helps, and how much a misleading earlier study costs. It is for readers who want "
    "to know when to use one."
)
METHOD = (
    "Tables of recorded times replace programs, as on the page [Quality of the search](search.md), "
    "which defines *regret*. Log-normal noise of 5 % is added to recorded means. All results "
    "except the times follow from the seeds. All searches have the same number of launches, "
    "including the confirmation. The earlier study had 50 launches of one of three tables:"
)
STUDIES = (
    ("cold", "none"),
    ("warm", "the same table with another default, another seed and other noise"),
    (
        "altered",
        "the same table with an additional effect of each value of each parameter, as another "
        "input of the program may cause; the correlation is about 0.7",
    ),
    ("misled", "the same table with reversed values: its best configuration is the worst"),
)
USAGE = "`make bench-warm BENCH='--write TABLE...'` runs the searches and writes this page."
CLAIMS = (
    "An earlier study is not evidence, so it must not change these figures:\n\n"
    "- *gain claimed wrongly*: the recommended configuration is not better than the default;\n"
    "- *coverage*: share of claims whose interval contains the true gain.\n\n"
    "The time of a proposal is a median."
)


def text(rows: Rows, heading: str) -> str:
    """Return the page.

    Args:
        rows: results of all searches.
        heading: date, version and machine.
    """
    counts = rows.distinct("launches")
    parts = [
        "# Benefit of a warm start",
        INTRODUCTION,
        heading,
        markdown.section("Targets", _targets(rows, counts[-1])),
        markdown.section(
            "Method",
            [METHOD, markdown.table(("search", "table of the earlier study"), STUDIES), USAGE],
        ),
        "## Regret by number of launches",
        "Geometric mean over the tables of their mean regrets plus 0.1 %, in percent.",
        _overall(rows, counts),
        "## Regret by table",
        "Mean over the seeds in percent, with its standard error.",
        *(part for n in counts for part in _by_table(rows, n)),
        "## Claims",
        CLAIMS,
        _claims(rows, counts[-1]),
    ]
    return "\n\n".join(parts) + "\n"


def _targets(rows: Rows, launches: int) -> Iterator[str]:
    yield (
        "The limits are those of a search without an earlier study. The table shows the worst "
        "value of the warm, altered and misled searches. The regret has no target."
    )
    warm = [method for method in NAMES if method != "assay"]
    wrong = max(rows.of(method=method).mean("false_win") for method in warm)
    last = [rows.of(method=method, launches=launches) for method in warm]
    covered = min((of.mean("covered") for of in last if of.values("covered")), default=math.nan)
    think_s = max(of.median("think_s") for of in last)
    lines = [
        _target(
            "gain claimed wrongly",
            f"at most {100 * MAX_FALSE:g} %",
            f"{100 * wrong:.1f} %",
            met=wrong <= MAX_FALSE,
        )
    ]
    if not math.isnan(covered):
        lines.append(
            _target(
                f"coverage after {launches} launches",
                f"at least {100 * MIN_COVERAGE:g} %",
                f"{100 * covered:.1f} %",
                met=covered >= MIN_COVERAGE,
            )
        )
    lines.append(
        _target(
            "median time of a proposal",
            f"at most {1e3 * MAX_PROPOSAL_S:g} ms",
            f"{1e3 * think_s:.1f} ms",
            met=think_s <= MAX_PROPOSAL_S,
        )
    )
    yield markdown.targets_table(
        ("measure", "target", "measured", "verdict", markdown.REASON), lines
    )


def _target(measure: str, limit: str, figure: str, *, met: bool) -> tuple[str, ...]:
    reason = "" if met else "cause not yet known"
    return measure, limit, figure, markdown.verdict("met" if met else "missed"), reason


def _overall(rows: Rows, counts: list[int]) -> str:
    lines = [
        [name, *(f"{100 * rows.of(method=m, launches=n).geometric():.2f}" for n in counts)]
        for m, name in NAMES.items()
    ]
    return markdown.table(["search", *map(str, counts)], lines)


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
        f"### After {launches} launches",
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
    head = ["search", "gain claimed wrongly, %", f"coverage after {launches} launches, %"]
    head += ["time of a proposal"]
    return markdown.table(head, lines)
