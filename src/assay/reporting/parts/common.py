"""Common: what every part of the page is built from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.records import Claim, Configuration
from assay.records.configuration import show_value
from assay.reporting.arms import ArmRow
from assay.reporting.formatting import shorten
from assay.reporting.markup import Child, Html, el, join
from assay.untrusted import clean

LEFT_OUT = (
    "A plus sign was left out: others used the machine during that launch or another of its block, "
    "so it is in no figure."
)
"""What the marks of launches that do not count stand for, where there are any."""

_VALUE_CHARACTERS = 160
"""Longest value in the table of configurations; the raw data and the exports have all of it."""


def section(identifier: str, title: str, *children: Child, intro: Child = None) -> Html:
    """A titled part of the page."""
    heading = f"{identifier}-h"
    return el(
        "section",
        el("h2", title, id=heading),
        el("p", intro, class_="intro") if intro else None,
        *children,
        id=identifier,
        aria_labelledby=heading,
    )


def chips(configuration: Configuration) -> Html:
    """Settings as ``name=value``, each kept in one piece where there is room."""
    if not configuration:
        return el("span", "default", class_="chip plain")
    parts = [
        el(
            "bdi",
            el("span", clean(name), class_="key"),
            "=",
            shorten(clean(show_value(value)), _VALUE_CHARACTERS),
            class_="chip",
        )
        for name, value in configuration.items()
    ]
    return join([join(part, " ") for part in parts])


def arm_name(row: ArmRow) -> Html:
    """An arm as its settings, or by name where the name says more."""
    if row.name in (str(row.configuration), "default"):
        return chips(row.configuration)
    return el("bdi", shorten(clean(row.name), _VALUE_CHARACTERS), class_="arm")


def count_or_dash(number: int) -> str:
    """A count that catches the eye only where there is one."""
    return f"{number:,}" if number else "\u2013"


def definitions(facts: Iterable[tuple[str, Child]]) -> Html:
    """Terms and what they are."""
    return el(
        "dl",
        [el("div", el("dt", term), el("dd", el("bdi", value))) for term, value in facts],
        class_="facts",
    )


def scroll(label: str, table: Html, *, tall: bool = False) -> Html:
    """A table in a frame of its own that scrolls, by keyboard as well, where the page is narrow."""
    return el(
        "div",
        table,
        class_="scroll tall" if tall else "scroll",
        tabindex=0,
        role="region",
        aria_label=label,
    )


def plain_table(
    label: str, heads: Sequence[str], rows: Sequence[Html], numeric: Sequence[int] = ()
) -> Html:
    """A table whose ``label`` is for those who do not see it; ``numeric`` columns align right."""
    cells = [
        el("th", head, scope="col", class_="num" if i in numeric else None)
        for i, head in enumerate(heads)
    ]
    return scroll(
        label,
        el(
            "table",
            el("caption", label, class_="quiet"),
            el("thead", el("tr", cells)),
            el("tbody", rows),
        ),
    )


def reservation(claim: Claim) -> Html:
    """What is to be kept in mind with a verdict."""
    words = [
        word
        for word, holds in (("withheld", claim.withheld), ("unstable", claim.unstable))
        if holds
    ]
    return el("span", f" {', '.join(words)}", class_="quiet") if words else el("span")
