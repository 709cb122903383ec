"""Page: docs/benchmarks/search.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from assay.testing.replay.table import load
from benchmarks import markdown

from .cache import table_name
from .plan import ENCODED, OURS, PEERS, WORLDS
from .rows import Rows, better, joined
from .targets import ratios, targets


@dataclass(frozen=True)
class Results:
    """Results of all searches, peers under their better encoding.

    Attributes:
        recorded: on the tables as they are, after several numbers of launches.
        null: on tables without differences.
        worlds: with other noise, by its name.
    """

    recorded: Rows
    null: Rows
    worlds: dict[str, Rows]

    @classmethod
    def of(cls, rows: Rows) -> Results:
        """Sort rows into parts."""
        return cls(
            recorded=_chosen(rows.of(part="plain")),
            null=rows.of(part="null"),
            worlds={str(kind): _chosen(rows.of(part=str(kind))) for kind in WORLDS},
        )

    @property
    def methods(self) -> list[str]:
        """The methods that have results, assay first."""
        found = self.recorded.distinct("method")
        return [m for m in (OURS, *PEERS) if m in found]


def _chosen(rows: Rows) -> Rows:
    plain = Rows(tuple(r for r in rows.found if r["method"].removesuffix("-raw") not in ENCODED))
    kinds = [
        better(rows, name, (name, f"{name}-raw")) for name in ENCODED if rows.of(method=name).found
    ]
    return joined([plain, *kinds])


def text(results: Results, heading: str, tables: list[Path]) -> str:
    """Return the page."""
    recorded = results.recorded
    peers = [m for m in results.methods if m != OURS]
    lines = [line.cells for line in targets(recorded, results.null, peers)]
    parts = [
        "# Quality of the search",
        heading,
        "![Regret against launches](search.svg)",
        "## Targets",
        markdown.table(["measure", "target", "seen", ""], lines),
        "## Regret, by launches",
        "Geometric mean over the tables of their mean regrets plus 0.1 %, in percent.",
        _by_launches(results),
        "## Ratio of assay's regret to that of others",
        "With the standard error over seeds; both search with the same seeds. The tables are taken "
        "as given.",
        _ratios(recorded, peers),
    ]
    for launches in recorded.distinct("launches"):
        parts += [f"## Regret after {launches} launches, by table"]
        parts += ["Mean in percent, with its standard error."] if launches == 10 else []
        parts += [_by_table(results, launches)]
    parts += [
        "## Claims, and cost of a search",
        "*Proven*: studies that end with a proof. *Gain claimed wrongly*: the recommended "
        "configuration is truly no better than the default; for assay only proofs count. *The "
        "same, no difference*: on tables where all configurations take the same time. "
        "*Over-claim*: excess of the claimed gain over the true one. *Coverage*: how often the "
        "interval of the claim contains the true gain. *Thinking*: median time for each proposal.",
        _claims(results),
    ]
    if any(rows.found for rows in results.worlds.values()):
        launches = max(max(rows.distinct("launches")) for rows in results.worlds.values())
        parts += [
            f"## Other noise, {launches} launches",
            "Geometric mean of the regrets plus 0.1 %, in percent. *drift*: the machine's speed "
            "wanders, AR(1); *tails*: Student's t with 3 degrees of freedom; *unstable*: a fifth "
            "of the configurations takes half as long again in 30 % of launches; *unequal*: each "
            "configuration has a noise of its own.",
            _worlds(results),
        ]
    parts += ["## Tables", _described(tables)]
    return "\n\n".join(parts) + "\n"


def _percent(value: float, digits: int = 2) -> str:
    return "" if math.isnan(value) else f"{100 * value:.{digits}f}"


def _by_launches(results: Results) -> str:
    counts = results.recorded.distinct("launches")
    lines = []
    for method in results.methods:
        of = results.recorded.of(method=method)
        seeds = str(len(of.distinct("seed")))
        cells = [_percent(of.of(launches=n).geometric()) for n in counts]
        lines.append([method, seeds, *cells])
    return markdown.table(["method", "seeds", *map(str, counts)], lines)


def _ratios(recorded: Rows, peers: list[str]) -> str:
    lines = []
    for peer in peers:
        found = ratios(recorded, peer).values()
        lines.append([peer, *(f"{one.value:.2f} ± {one.error:.2f}" for one in found)])
    return markdown.table(["method", *map(str, recorded.distinct("launches"))], lines)


def _by_table(results: Results, launches: int) -> str:
    of = results.recorded.of(launches=launches)
    lines = []
    for table in of.distinct("table"):
        cells = [of.of(table=table, method=m) for m in results.methods]
        shown = [f"{_percent(c.mean('regret'))} ± {_percent(c.error('regret'))}" for c in cells]
        lines.append([table, *shown])
    return markdown.table(["table", *results.methods], lines)


def _claims(results: Results) -> str:
    most = max(results.recorded.distinct("launches"))
    lines = []
    for m in results.methods:
        of, null = results.recorded.of(method=m, launches=most), results.null.of(method=m)
        lines.append(
            [
                m,
                _percent(_proven(of), 0) if m == OURS else "",
                _percent(_wrong(of, m), 1),
                _percent(_wrong(null, m), 1),
                _percent(of.over_claim()),
                _percent(of.mean("covered"), 1),
                f"{of.mean('timeouts'):.1f}",
                f"{of.mean('invalid'):.1f}",
                f"{1e3 * of.median('think_s'):.1f} ms",
            ]
        )
    head = ["method", "proven, %", "gain claimed wrongly, %", "the same, no difference"]
    head += ["over-claim, %", "coverage, %", "time-outs", "invalid proposals", "thinking"]
    return markdown.table(head, lines)


def _proven(rows: Rows) -> float:
    claimed = [r["claim"] is not None for r in rows.found]
    return sum(claimed) / len(claimed) if claimed else math.nan


def _wrong(rows: Rows, method: str) -> float:
    wrong = [r["false_win"] and (method != OURS or r["claim"] is not None) for r in rows.found]
    return sum(wrong) / len(wrong) if wrong else math.nan


def _worlds(results: Results) -> str:
    some = next(rows for rows in results.worlds.values() if rows.found)
    methods = [m for m in results.methods if m in some.distinct("method")]
    lines = [
        [m, *(_percent(rows.of(method=m).geometric()) for rows in results.worlds.values())]
        for m in methods
    ]
    return markdown.table(["method", *results.worlds], lines)


def _described(paths: list[Path]) -> str:
    lines = []
    for path in paths:
        table = load(path)
        failed = len(table.points) - len(table.working)
        lines.append(
            [
                table_name(path),
                f"{len(table.points):,}",
                str(failed),
                str(sum(len(table.domain(i)) > 1 for i in range(len(table.columns)))),
                "repeats" if table.repeats else "means",
            ]
        )
    head = ["table", "configurations", "of which fail", "columns", "recorded"]
    return markdown.table(head, lines)
