"""Claims: what is claimed of each arm, with how its launches are spread beside it."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Claim
from assay.reporting.arms import ArmRow
from assay.reporting.formatting import change, change_interval, claimed_change
from assay.reporting.markup import Child, Html, el, join
from assay.reporting.parts.common import arm_name, reservation, scroll
from assay.wording.sentence import verdict_word

_QUANTILES = ("p10", "p50", "p90")
_HEADS = ("Change", *_QUANTILES, "Spread", "Pairs", "Verdict")
_DASH = "\u2013"
_TALL = 16
"""With more claims than this the table scrolls in a frame of its own."""

_INTRO = (
    "Beside each claim: the change of a typical low value (p10), of the middle one (p50) and of a "
    "typical high one (p90), and how widely launches lie apart (p90 less p10) against the "
    "baseline: above 1\u00d7 they vary more. These are shown, not claimed; but the interval behind "
    "a spread holds as that of the change does. A claim is unstable where the arms differ in "
    "spread, or the launches of one fall into two groups: its change does not tell what one launch "
    "will take."
)


_SPREAD_INTRO = (
    "What is compared is the spread: how much the launches of an arm vary within a block, against "
    "those of the baseline. Change and Spread tell the same ratio of it. The changes of a typical "
    "low value (p10), of the middle one (p50) and of a typical high one (p90) are of the metric "
    "itself; they are shown, not claimed."
)


def claims(rows: Sequence[ArmRow]) -> Html | None:
    """A line for each claim; ``None`` where nothing is claimed."""
    found = [(row, row.claim) for row in rows if row.claim is not None]
    if not found:
        return None
    table = el(
        "table",
        el("caption", "Claims", class_="quiet"),
        el("thead", el("tr", [_head(name) for name in ("Arm", *_HEADS)])),
        el("tbody", [_line(row, claim) for row, claim in found]),
        class_="claims",
    )
    of_spread = any(claim.method == "spread" for _, claim in found)
    intro = _SPREAD_INTRO if of_spread else _INTRO
    return join(el("p", intro, class_="intro"), scroll("Claims", table, tall=len(found) > _TALL))


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
    """How much more the arm varies: with its interval once there is one, else as seen."""
    if claim.method == "spread":
        return el("span", f"{claim.ratio:.2f}\u00d7")  # its interval stands with the change
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
