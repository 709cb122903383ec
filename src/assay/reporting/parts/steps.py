"""Steps: claims on arms against the arms that they are a step from."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Claim
from assay.reporting.formatting import change_interval, claimed_change
from assay.reporting.markup import Child, Html, el, join
from assay.reporting.parts.common import reservation, scroll
from assay.wording.sentence import verdict_word

_HEADS = ("From", "Change", "Pairs", "Verdict")
_NUMBERS = ("Change", "Pairs")

_INTRO = (
    "Each arm against the arm that it is a step from, over the blocks with both. These intervals "
    "hold simultaneously with those against the baseline."
)


def steps(found: Sequence[Claim]) -> Html | None:
    """Return a table of the steps; ``None`` without steps."""
    if not found:
        return None
    table = el(
        "table",
        el("caption", "Steps", class_="quiet"),
        el("thead", el("tr", [_head(name) for name in ("Arm", *_HEADS)])),
        el("tbody", [_line(claim) for claim in found]),
        class_="claims",
    )
    return join(el("p", _INTRO, class_="intro"), scroll("Steps", table))


def _head(name: str) -> Html:
    return el("th", name, scope="col", class_="num" if name in _NUMBERS else None)


def _line(claim: Claim) -> Html:
    interval = el("span", change_interval(claim.ci), class_="interval")
    cells: tuple[Child, ...] = (
        claim.a,
        join(f"{claimed_change(claim)} ", interval),
        f"{claim.blocks:,}",
        join(
            el("span", verdict_word(claim), class_=f"word tone-{claim.verdict.value}"),
            reservation(claim),
        ),
    )
    return el(
        "tr",
        el("th", claim.b, scope="row"),
        [
            el("td", cell, class_="num" if head in _NUMBERS else None, data_head=head)
            for head, cell in zip(_HEADS, cells, strict=True)
        ],
    )
