"""Page: the figures as Markdown, beside their targets."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.markdown import section, table

from .summary import Row

REGRET = {12: 0.04, 25: 0.02, 50: 0.02}
WIDTH = {12: 1.5, 25: 1.3, 50: 1.2}
IDLE, WORSE, FALSE, COVERED, DEFAULT = 0.05, 0.10, 0.05, 0.90, 0.95
OVER, UNDER = 0.01, -0.03
ASKED = 2000
"""Studies a row that the targets are stated for."""


def text(rows: Sequence[Row], heading: str) -> str:
    """The page."""
    return (
        "\n\n".join(
            filter(
                None,
                [
                    heading,
                    section("Targets", [_held(rows), _targets(rows)]),
                    section("Recommendations", [_recommendations(rows)]),
                    section("Intervals of unproven recommendations", [_intervals(rows)]),
                ],
            )
        )
        + "\n"
    )


def _held(rows: Sequence[Row]) -> str:
    """Say how limits are held, and how finely."""
    fewest = min((row.studies for row in rows), default=0)
    told = "A limit is met where the figure exceeds it by no more than two standard errors."
    if fewest >= ASKED:
        return told
    return f"{told} Of {fewest} studies a row these are wide: {ASKED:,} are asked for."


def _targets(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        for name, seen, met in _checks(row):
            lines.append([row.space, str(row.launches), name, seen, "met" if met else "missed"])
    return table(["space", "launches", "target", "seen", ""], lines)


def _checks(row: Row) -> list[tuple[str, str, bool]]:
    def at_most(name: str, seen: float, limit: float, count: float) -> tuple[str, str, bool]:
        error = math.sqrt(limit * (1.0 - limit) / max(count, 1.0))
        return f"{name} at most {_percent(limit)}", _percent(seen), seen <= limit + 2 * error

    recommended = row.studies * (1.0 - row.default)
    found = [
        at_most("worse than the default", row.worse, WORSE, row.studies),
        at_most("falsely proven", row.false, FALSE, row.studies * row.proven),
    ]
    if row.without:
        found.append(
            at_most("other than the default", 1.0 - row.default, 1.0 - DEFAULT, row.studies)
        )
        return found
    if row.simulated:
        found.append(at_most("idle settings", row.idle, IDLE, recommended))
    regret = REGRET.get(row.launches)
    if regret is not None and row.simulated:
        met = row.regret <= regret + 2 * row.regret_error
        found.append((f"mean regret at most {_percent(regret)}", _percent(row.regret), met))
    if row.covered is not None and row.width is not None and row.overclaim is not None:
        count = row.studies * row.unproven
        error = math.sqrt(COVERED * (1.0 - COVERED) / max(count, 1.0))
        covered = row.covered >= COVERED - 2 * error
        found.append((f"coverage at least {_percent(COVERED)}", _percent(row.covered), covered))
        width = WIDTH.get(row.launches, math.inf)
        found.append((f"median width at most {width:g}", f"{row.width:.2f}", row.width <= width))
        error = 2 * row.overclaim_error
        honest = UNDER - error <= row.overclaim <= OVER + error
        found.append(("over-claim from -3 to 1 %", _percent(row.overclaim), honest))
    return found


def _recommendations(rows: Sequence[Row]) -> str:
    head = [
        "space",
        "launches",
        "studies",
        "regret",
        "proven",
        "unproven",
        "default",
        "idle",
        "worse",
    ]
    lines = [
        [
            row.space,
            str(row.launches),
            str(row.studies),
            f"{_percent(row.regret)} ± {_percent(row.regret_error)}",
            *map(_percent, (row.proven, row.unproven, row.default)),
            _percent(row.idle) if row.simulated and not row.without else "",
            _percent(row.worse),
        ]
        for row in rows
    ]
    return table(head, lines)


def _intervals(rows: Sequence[Row]) -> str:
    head = ["space", "launches", "coverage", "median width", "over-claim"]
    lines = [
        [
            row.space,
            str(row.launches),
            _percent(row.covered),
            f"{row.width:.2f}",
            _percent(row.overclaim),
        ]
        for row in rows
        if row.covered is not None and row.width is not None and row.overclaim is not None
    ]
    return table(head, lines) if lines else ""


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"
