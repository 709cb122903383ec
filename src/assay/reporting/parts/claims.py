"""Claims: table of the claims on arms, with the spread of their launches."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Claim
from assay.reporting.arms import MAX_DRAWN_ROWS, ArmRow
from assay.reporting.formatting import change, change_interval, claimed_change
from assay.reporting.markup import Child, Html, el, join
from assay.reporting.parts.common import IN_TABLE, arm_name, first_rows, reservation, scroll
from assay.wording.sentence import verdict_word

_QUANTILES = ("p10", "p50", "p90")
_HEADS = ("Change", *_QUANTILES, "Spread", "Pairs", "Verdict")
_DASH = "\u2013"
_TALL = 16
"""Maximum number of claims of a table without its own scroll bar."""

_INTRO = (
    "Besides each claim: the change of the 10th, 50th and 90th percentile, and the spread (p90 "
    "minus p10) relative to the baseline, where values above 1\u00d7 mean more variation. These "
    "are observed values, not claims, but the interval of the spread is valid like that of the "
    "change. A claim is unstable if the arms differ in spread, or if the launches of an arm are "
    "bimodal: the change of the mean does not predict a single launch then."
)

_SPREAD_INTRO = (
    "The compared statistic is the spread: the variation of the launches of an arm within a "
    "block, relative to the baseline. Change and Spread show the same ratio. The changes of the "
    "percentiles are those of the metric itself; they are observed values, not claims."
)


def claims(rows: Sequence[ArmRow]) -> Html | None:
    """Return a table of claims; ``None`` without claims."""
    found = [(row, row.claim) for row in rows if row.claim is not None]
    if not found:
        return None
    table = el(
        "table",
        el("caption", "Claims", class_="quiet"),
        el("thead", el("tr", [_head(name) for name in ("Arm", *_HEADS)])),
        el("tbody", [_line(row, claim) for row, claim in found[:MAX_DRAWN_ROWS]]),
        class_="claims",
    )
    of_spread = any(claim.method == "spread" for _, claim in found)
    intro = _SPREAD_INTRO if of_spread else _INTRO
    return join(
        el("p", intro, class_="intro"),
        scroll("Claims", table, tall=len(found) > _TALL),
        first_rows(min(len(found), MAX_DRAWN_ROWS), len(found), "claims", IN_TABLE),
    )


def _head(name: str) -> Html:
    return el("th", name, scope="col", class_=None if name in ("Arm", "Verdict") else "num")


def _line(row: ArmRow, claim: Claim) -> Html:
    word = claim.verdict.value
    shown = verdict_word(claim)
    cells: tuple[Child, ...] = (
        _change(claim),
        *(_or_dash(claim.shift.get(name)) for name in _QUANTILES),
        _spread(claim),
        f"{claim.blocks:,}",
        join(el("span", shown, class_=f"word tone-{word}"), reservation(claim)),
    )
    return el(
        "tr",
        el("th", arm_name(row), scope="row", class_=f"role-{row.role.value}"),
        [
            el("td", cell, class_=None if head == "Verdict" else "num", data_head=head)
            for head, cell in zip(_HEADS, cells, strict=True)
        ],
    )


def _spread(claim: Claim) -> Html:
    """Return the relative spread with its interval, or the observed one without an interval."""
    if claim.method == "spread":
        return el("span", f"{claim.ratio:.2f}\u00d7")  # its interval is shown with the change
    found = claim.spread
    lo, hi = found.ci if found is not None else (None, None)
    if found is not None and lo is not None and hi is not None:
        interval = el("span", f"({lo:.2f} to {hi:.2f})", class_="interval")
        return join(f"{found.ratio:.2f}\u00d7 ", interval)
    seen = claim.spread_ratio
    return el("span", _DASH if seen is None else f"{seen:.2f}\u00d7")


def _change(claim: Claim) -> Html:
    interval = el("span", change_interval(claim.ci), class_="interval")
    return join(f"{claimed_change(claim)} ", interval)


def _or_dash(ratio: float | None) -> str:
    return _DASH if ratio is None else change(ratio)
