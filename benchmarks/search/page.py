"""Page docs/benchmarks/search.md."""

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
    """Results of all searches, other methods with their better encoding.

    Attributes:
        recorded: results on the tables as they are, after several numbers of launches.
        null: results on tables without differences.
        worlds: results with other noise, by the name of the noise.
    """

    recorded: Rows
    null: Rows
    worlds: dict[str, Rows]

    @classmethod
    def of(cls, rows: Rows) -> Results:
        """Return the rows, divided into parts."""
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


INTRODUCTION = (
    "This page shows the quality of the configurations that assay's search recommends after 10 to "
    "100 launches, compared with random search and other optimisers. It is for readers who choose "
    "a tuner or a budget."
)
METHOD = (
    "- **Spaces.** Tables of recorded times replace programs (`python -m assay.testing.replay`). A "
    "launch takes the recorded time of its configuration. A table may contain repeated times of "
    "each configuration. If it contains only means, log-normal noise of 5 % is added.\n"
    "- **Fairness.** All methods have the same number of launches and the same seeds, and launch "
    "the default first.\n"
    "- **assay.** Repeated launches and those of a proof count too. The recommendation counts even "
    "without a proof.\n"
    "- **Other methods.** `random` is random search; `tpe` and `gp` are samplers of Optuna; `smac` "
    "and `hebo` are SMAC and HEBO. They recommend the configuration with the best observed value. "
    "Each optimiser uses two encodings of the columns, of which the better one counts, for each "
    "number of launches.\n"
    "- **Regret.** True excess of the time of the recommended configuration over that of the best "
    "one in the table. Less is better.\n"
    "- **Repeatability.** All results except the times follow from the seeds."
)
USAGE = "`make bench-search BENCH='--write TABLE...'` runs the searches and writes this page."
REASONS = (
    "One reason of the misses: the last launches look for a *core*, that is, a few settings of the "
    "best configuration that reach its speed, within the margin, without the others. The answer "
    "prefers the core. This costs 5 to 15 % here, where many settings have an effect. Without it, "
    "nearly every recommendation in spaces with few effective settings contains settings without "
    "effect ([recommendations](recommendations.md))."
)
"""Explanation of missed ratios to TPE."""
CONSTANTS = (
    "The options of the searcher (turns, probes, priors, size of the first block) are compared by "
    "leaving out each table in turn (`python -m benchmarks.search.choices`). The following, newer "
    "constants were chosen on these tables, with 8 to 28 seeds, and on simulated spaces. The "
    "results on this page are therefore slightly too good."
)
CHOSEN = (
    ("`DEFAULT_INTERVAL`", "blocks between two launches of the default, with a small budget"),
    ("`CORE_LAUNCHES`", "number of last launches that look for a core"),
    (
        "`MIN_SPARSITY_PROBABILITY`",
        "least probability of few effective settings at which assay looks for a core",
    ),
    ("`OWN_VARIANCES`", "prior of effects that are specific to a configuration"),
    ("`ROUGHNESS`", "prior of effects that are independent between values"),
    (
        "`MIN_PROBABILITY`",
        "least probability of being better than the default that a recommendation requires",
    ),
)
CLAIMS = (
    ("proven", "studies that end with a proof"),
    (
        "gain claimed wrongly",
        "recommended configuration is not better than the default; for assay, only proofs count",
    ),
    ("wrongly, no differences", "the same, on tables where all configurations take the same time"),
    ("over-claim", "excess of the claimed gain over the true one"),
    ("coverage", "share of claims whose interval contains the true gain"),
    (
        "time-outs, invalid",
        "mean number of launches stopped at their limit, and of invalid proposals",
    ),
    ("time of a proposal", "median"),
)
WORLD_NOISE = (
    ("drift", "the speed of the machine wanders: AR(1)"),
    ("tails", "Student's t with 3 degrees of freedom"),
    ("unstable", "a fifth of the configurations takes half as long again in 30 % of launches"),
    ("unequal", "each configuration has its own noise"),
)


def text(results: Results, heading: str, tables: list[Path]) -> str:
    """Return the page.

    Args:
        results: results of all searches.
        heading: date, versions and machine.
        tables: files of the recorded spaces.
    """
    recorded = results.recorded
    peers = [m for m in results.methods if m != OURS]
    found = targets(recorded, results.null, peers)
    parts = ["# Quality of the search", INTRODUCTION, heading, "## Targets"]
    heads = ["measure", "target", "measured", "verdict", markdown.REASON]
    parts += [markdown.targets_table(heads, [line.cells for line in found])]
    if any(line.reason for line in found):
        parts += [REASONS]
    parts += [
        "## Method",
        METHOD,
        USAGE,
        "## Regret by number of launches",
        "Geometric mean over the tables of their mean regrets plus 0.1 %, in percent.",
        _by_launches(results),
        "![Regret against launches, by table](search.svg)",
        "## Regret of assay relative to other methods",
        "Ratio of the geometric means; below 1, assay is better. The standard error is that over "
        "the seeds, which both methods share, for this set of tables.",
        _ratios(recorded, peers),
        "## Regret by table",
        "Mean over the seeds in percent, with its standard error.",
    ]
    for launches in recorded.distinct("launches"):
        parts += [f"### After {launches} launches", _by_table(results, launches)]
    parts += [
        "## Claims and cost of a search",
        markdown.table(["column", "meaning"], CLAIMS),
        _claims(results),
    ]
    if any(rows.found for rows in results.worlds.values()):
        launches = max(max(rows.distinct("launches")) for rows in results.worlds.values())
        parts += [
            f"## Other noise, after {launches} launches",
            markdown.table(["noise", "meaning"], WORLD_NOISE),
            "Geometric mean of the regrets plus 0.1 %, in percent:",
            _worlds(results),
        ]
    parts += ["## Recorded spaces", _described(tables), "## Choice of the constants", CONSTANTS]
    parts += [markdown.table(["constant", "meaning"], CHOSEN)]
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
    head = ["method", "proven, %", "gain claimed wrongly, %", "wrongly, no differences, %"]
    head += ["over-claim, %", "coverage, %", "time-outs", "invalid", "time of a proposal"]
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
    head = ["table", "configurations", "failing configurations", "columns", "recorded values"]
    return markdown.table(head, lines)
