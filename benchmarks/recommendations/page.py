"""Page: the figures as Markdown, beside their targets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
    """Describe how limits are checked, and how precisely."""
    fewest = min((row.studies for row in rows), default=0)
    told = "*Within two errors*: the figure exceeds the limit by two standard errors at most."
    if fewest >= ASKED:
        return told
    return f"{told} Of {fewest} studies a row these are wide: {ASKED:,} are asked for."


def _targets(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        for check in _checks(row):
            lines.append([row.space, str(row.launches), check.name, check.seen, check.status])
    return table(["space", "launches", "target", "seen", ""], lines)


@dataclass(frozen=True)
class _Check:
    """One target of a row.

    Attributes:
        beyond: excess of the figure over the limit; at most 0 if the limit is met.
        error: standard error of the figure.
    """

    name: str
    seen: str
    beyond: float
    error: float = 0.0

    @property
    def status(self) -> str:
        if self.beyond <= 0.0:
            return "met"
        return "met within two errors" if self.beyond <= 2 * self.error else "missed"


def _share(name: str, seen: float, limit: float, count: float, *, least: bool = False) -> _Check:
    """Return the check of a share of ``count`` studies against the most, or least, it may be."""
    what = f"{name} at {'least' if least else 'most'} {_percent(limit)}"
    if count < 0.5:
        return _Check(what, "no such study", 0.0)
    beyond = limit - seen if least else seen - limit
    return _Check(what, _percent(seen), beyond, math.sqrt(limit * (1.0 - limit) / count))


def _checks(row: Row) -> Iterator[_Check]:
    yield _share("worse than the default", row.worse, WORSE, row.studies)
    yield _share("falsely proven", row.false, FALSE, row.studies * row.proven)
    if row.without:
        yield _share("other than the default", 1.0 - row.default, 1.0 - DEFAULT, row.studies)
        return
    if row.simulated:
        yield _share("idle settings", row.idle, IDLE, row.studies * (1.0 - row.default))
    most = REGRET.get(row.launches)
    if most is not None and row.simulated:
        beyond = row.regret - most
        name = f"mean regret at most {_percent(most)}"
        yield _Check(name, _percent(row.regret), beyond, row.regret_error)
    if row.covered is not None and row.width is not None and row.overclaim is not None:
        yield _share("coverage", row.covered, COVERED, row.studies * row.unproven, least=True)
        width = WIDTH.get(row.launches, math.inf)
        yield _Check(f"median width at most {width:g}", f"{row.width:.2f}", row.width - width)
        beyond = max(UNDER - row.overclaim, row.overclaim - OVER)
        seen = _percent(row.overclaim)
        yield _Check("over-claim from -3 to 1 %", seen, beyond, row.overclaim_error)


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
