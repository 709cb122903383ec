"""Fidelity: launches at each fidelity of a search, and the agreement of their order."""

from __future__ import annotations

from assay.records import FidelityLevel, FidelityResult
from assay.records.configuration import show_value
from assay.reporting.formatting import duration
from assay.reporting.markup import Html, el, join
from assay.reporting.parts.common import scroll
from assay.untrusted import clean
from assay.wording.fidelity import agreement

INTRO = (
    "The search began with low values of one setting, which make a launch cheap. They selected the "
    "configurations of the search at full fidelity. No claim and no other value of this page rests "
    "on them."
)
_HEADS = ("Launches", "Configurations", "Time")


def fidelity(found: FidelityResult) -> Html | None:
    """Return the launches by fidelity; ``None`` if the search used the full one alone."""
    if len(found.levels) < 2:
        return None
    full = found.levels[-1].value
    words = None
    if found.tau is not None:
        words = el("p", f"{clean(agreement(found, full, misled=False))}.")
    table = el(
        "table",
        el("caption", "Launches by fidelity", class_="quiet"),
        el(
            "thead",
            el(
                "tr",
                el("th", clean(found.name), scope="col"),
                [el("th", head, scope="col", class_="num") for head in _HEADS],
            ),
        ),
        el("tbody", [_row(level) for level in found.levels]),
    )
    return join(words, scroll("Launches by fidelity", table))


def _row(level: FidelityLevel) -> Html:
    cells = (f"{level.launches:,}", f"{level.configurations:,}", duration(level.time_s))
    return el(
        "tr",
        el("th", clean(show_value(level.value)), scope="row"),
        [el("td", cell, class_="num") for cell in cells],
    )
