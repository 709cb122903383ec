"""Page: docs/benchmarks/search.md."""

from __future__ import annotations

import math
from dataclasses import dataclass

from benchmarks import markdown

from .rows import Rows

OURS = "assay"


@dataclass(frozen=True)
class Results:
    """What was run.

    Attributes:
        recorded: on the tables as they are, after several numbers of launches.
        null: on tables without any difference.
        worlds: with other noise, by its name.
    """

    recorded: Rows
    null: Rows
    worlds: dict[str, Rows]


def text(results: Results, heading: str) -> str:
    """The page."""
    parts = [
        "# How good a search is",
        heading,
        "![Regret against launches](search.svg)",
        "## Targets",
        _targets(results),
        "## Regret, by launches",
        "Geometric mean over the tables of their mean regrets, in percent.",
        _by_launches(results.recorded),
        f"## Regret after {_most(results.recorded)} launches, by table",
        "Mean in percent, with its standard error.",
        _by_table(results.recorded),
        "## Claims, and what a search costs",
        "*Gain claimed wrongly*: the default was at least as good; on tables without any "
        "difference any recommendation but the default is one. *Over-claim*: how much larger the "
        "claimed gain is than the true one. *Coverage*: how often the interval of the claim holds "
        "the true gain. *Thinking*: median time for each proposal.",
        _claims(results),
    ]
    if results.worlds:
        parts += [
            f"## Other noise, {_most(results.recorded)} launches",
            "Geometric mean of the regrets in percent. *drift*: the machine's speed wanders, "
            "AR(1); *tails*: Student's t with 3 degrees of freedom; *unstable*: a fifth of the "
            "configurations takes half as long again in 30 % of launches; *unequal*: each "
            "configuration has a noise of its own.",
            _worlds(results),
        ]
    return "\n\n".join(parts) + "\n"


def _most(rows: Rows) -> int:
    return int(max(rows.distinct("launches")))


def _percent(value: float, digits: int = 2) -> str:
    return "" if math.isnan(value) else f"{100 * value:.{digits}f}"


def _others(rows: Rows) -> list[str]:
    return [m for m in rows.distinct("method") if m != OURS]


def _methods(rows: Rows) -> list[str]:
    return [OURS, *_others(rows)]


def _by_launches(rows: Rows) -> str:
    counts = rows.distinct("launches")
    lines = [
        [m, *(_percent(rows.of(method=m, launches=n).geometric()) for n in counts)]
        for m in _methods(rows)
    ]
    return markdown.table(["method", *map(str, counts)], lines)


def _by_table(rows: Rows) -> str:
    last = rows.of(launches=_most(rows))
    lines = []
    for table in last.distinct("table"):
        cells = [last.of(table=table, method=m) for m in _methods(rows)]
        lines.append(
            [
                table,
                *(f"{_percent(c.mean('regret'))} ± {_percent(c.error('regret'))}" for c in cells),
            ]
        )
    return markdown.table(["table", *_methods(rows)], lines)


def _regret(rows: Rows) -> str:
    return f"{_percent(rows.mean('regret'))} ± {_percent(rows.error('regret'))}"


def _claims(results: Results) -> str:
    lines = []
    last = results.recorded.of(launches=_most(results.recorded))
    for m in _methods(results.recorded):
        of, null = last.of(method=m), results.null.of(method=m)
        lines.append(
            [
                m,
                _percent(of.mean("false_win"), 1),
                _percent(null.mean("false_win"), 1),
                _percent(of.over_claim()),
                _percent(of.mean("covered"), 1),
                f"{of.mean('timeouts'):.1f}",
                f"{of.mean('invalid'):.1f}",
                f"{1e3 * of.median('think_s'):.1f} ms",
            ]
        )
    head = ["method", "gain claimed wrongly, %", "the same, no difference", "over-claim, %"]
    head += ["coverage, %", "time-outs", "invalid proposals", "thinking"]
    return markdown.table(head, lines)


def _worlds(results: Results) -> str:
    methods = _methods(next(iter(results.worlds.values())))
    lines = [
        [m, *(_percent(rows.of(method=m).geometric()) for rows in results.worlds.values())]
        for m in methods
    ]
    return markdown.table(["method", *results.worlds], lines)


def _targets(results: Results) -> str:
    rows = results.recorded
    last = rows.of(launches=_most(rows))
    ours = last.of(method=OURS)
    rivals = [m for m in _others(rows) if m != "random"]
    best = min((last.of(method=m).geometric() for m in rivals), default=math.nan)
    lines = [
        _line(
            "geometric mean of the regrets, of the better of the others'",
            "0.5 times",
            f"{ours.geometric() / best:.2f} times",
            ours.geometric() <= 0.5 * best,
        )
    ]
    counts = rows.distinct("launches")
    if {50, 75} <= set(counts):
        sooner = rows.of(method=OURS, launches=50).geometric()
        later = min((rows.of(method=m, launches=75).geometric() for m in rivals), default=math.nan)
        lines.append(
            _line(
                "after 50 launches, of the better of the others' after 75",
                "1 time",
                f"{sooner / later:.2f} times",
                sooner <= later,
            )
        )
    worse = [t for t in last.distinct("table") if _worse_than_random(last.of(table=t))]
    lines.append(_line("tables on which it is worse than random", "0", str(len(worse)), not worse))
    for table in last.distinct("table"):
        if "convolution" in table:
            regret = ours.of(table=table).mean("regret")
            lines.append(
                _line(f"regret on {table}", "15 %", f"{_percent(regret, 1)} %", regret <= 0.15)
            )
    false = max(ours.mean("false_win"), results.null.of(method=OURS).mean("false_win"))
    lines.append(_line("gains claimed wrongly", "5 %", f"{_percent(false, 1)} %", false <= 0.05))
    over = ours.over_claim()
    lines.append(_line("mean over-claim", "1 %", f"{_percent(over)} %", over <= 0.01))
    coverage = ours.mean("covered")
    lines.append(_line("coverage", "95 %", f"{_percent(coverage, 1)} %", coverage >= 0.95))
    think = 1e3 * ours.median("think_s")
    lines.append(_line("thinking, a proposal", "50 ms", f"{think:.1f} ms", think <= 50.0))
    return markdown.table(["what", "target", "seen", ""], lines)


def _line(what: str, target: str, seen: str, met: bool) -> list[str]:
    return [what, target, seen, "met" if met else "missed"]


def _worse_than_random(rows: Rows) -> bool:
    """Beyond two standard errors."""
    ours, random = rows.of(method=OURS), rows.of(method="random")
    if not random.found:
        return False
    error = math.hypot(ours.error("regret"), random.error("regret"))
    return ours.mean("regret") > random.mean("regret") + 2.0 * error
