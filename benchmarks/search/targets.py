"""Targets of assay's search, and verdicts on the measured figures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.markdown import verdict

from .plan import OURS
from .rows import Ratio, Rows, excess_in_errors, ratio

AGAINST_TPE = {10: 0.8, 25: 0.8, 50: 0.7, 100: 0.5}
"""Largest ratio to the mean regret of TPE, by number of launches."""
AGAINST_OTHERS = 1.0
"""Largest ratio to the mean regret of every other method; met within two standard errors."""
BEYOND_RANDOM = 3.0
"""Standard errors of excess regret from which a table is worse than with random search."""
REASON = "cost of the search for a core"
"""Reason of a missed ratio to TPE; the page explains it."""


@dataclass(frozen=True)
class Line:
    """A target and its verdict.

    Attributes:
        measure: description of the figure.
        limit, figure: limit and measured figure, as text.
        verdict: ``met`` or ``missed``, with a remark.
        reason: reason of a miss, in a few words.
    """

    measure: str
    limit: str
    figure: str
    verdict: str
    reason: str = ""

    @property
    def cells(self) -> list[str]:
        """The target as a row of a table."""
        return [self.measure, self.limit, self.figure, verdict(self.verdict), self.reason]


def targets(recorded: Rows, null: Rows, peers: list[str]) -> list[Line]:
    """Return all targets, those of the ratios first.

    Args:
        recorded: results of searches of the tables as they are.
        null: results of searches of tables without differences.
        peers: other methods that ran.
    """
    found = [line for peer in peers for line in _ratios(recorded, peer)]
    if "random" in peers:
        found += _against_random(recorded)
    return [*found, *_claims(recorded, null)]


def ratios(recorded: Rows, peer: str) -> dict[int, Ratio]:
    """Return the ratio to a peer's geometric mean, by launches."""
    return {
        n: ratio(recorded.of(method=OURS, launches=n), recorded.of(method=peer, launches=n))
        for n in recorded.distinct("launches")
    }


def _ratios(recorded: Rows, peer: str) -> Iterator[Line]:
    for launches, found in ratios(recorded, peer).items():
        if math.isnan(found.value):
            continue
        if peer == "tpe" and launches not in AGAINST_TPE:
            continue
        most = AGAINST_TPE[launches] if peer == "tpe" else AGAINST_OTHERS
        status = _status(found, most, allowed=peer != "tpe")
        yield Line(
            f"regret after {launches} launches, relative to {peer}",
            f"at most {most:.1f} times",
            f"{found.value:.2f} ± {found.error:.2f} times",
            status,
            REASON if peer == "tpe" and status != "met" else "",
        )


def _status(found: Ratio, most: float, allowed: bool) -> str:
    if found.value <= most:
        return "met"
    if found.low <= most:
        return f"{'met within' if allowed else 'missed by less than'} two standard errors"
    return "missed"


def _against_random(recorded: Rows) -> Iterator[Line]:
    for launches in recorded.distinct("launches"):
        of = recorded.of(launches=launches)
        worse = []
        for table in of.distinct("table"):
            ours = of.of(table=table, method=OURS)
            errors = excess_in_errors(ours, of.of(table=table, method="random"))
            if errors > BEYOND_RANDOM:
                worse.append(f"{table} ({errors:.1f} standard errors)")
        yield Line(
            f"tables worse than random by {BEYOND_RANDOM:g} standard errors, {launches} launches",
            "0",
            ", ".join(worse) or "0",
            "missed" if worse else "met",
        )


def _claims(recorded: Rows, null: Rows) -> Iterator[Line]:
    ours = recorded.of(method=OURS)
    false = [r["false_win"] for r in (*ours.found, *null.found) if r["claim"] is not None]
    studies = len(ours.found) + len(null.found)
    if studies:
        share = 100.0 * sum(false) / studies
        yield Line(
            "studies that prove a gain wrongly", "at most 5 %", f"{share:.1f} %", _met(share <= 5.0)
        )
    over = 100.0 * ours.over_claim()
    if not math.isnan(over):
        yield Line("mean over-claim of a proof", "at most 1 %", f"{over:.2f} %", _met(over <= 1.0))
    covered = 100.0 * ours.mean("covered")
    if not math.isnan(covered):
        yield Line(
            "proofs whose interval contains the true gain",
            "at least 95 %",
            f"{covered:.1f} %",
            _met(covered >= 95.0),
        )
    think_ms = 1e3 * ours.median("think_s")
    yield Line(
        "median time of a proposal", "at most 50 ms", f"{think_ms:.1f} ms", _met(think_ms <= 50.0)
    )


def _met(is_met: bool) -> str:
    return "met" if is_met else "missed"
