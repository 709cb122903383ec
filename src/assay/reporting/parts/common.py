"""Common: building blocks of all parts of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.records import Claim, Configuration
from assay.records.configuration import show_value
from assay.reporting.arms import ArmRow
from assay.reporting.formatting import shorten
from assay.reporting.markup import Child, Html, el, join
from assay.untrusted import clean

LEFT_OUT = (
    "Plus signs are left-out launches: other processes disturbed their block, so it is excluded "
    "from all figures."
)
"""Explanation of the marks of left-out launches."""

IN_TABLE = "The table of all arms has the others."
"""Sentence about the place of rows that another table omits."""

IN_JSON = "`assay study show ID --json` has all of them."
"""Sentence about the place of rows that the page omits."""

_VALUE_CHARACTERS = 160
"""Maximum length of a value in the table; raw data and exports are complete."""


def section(identifier: str, title: str, *children: Child, intro: Child = None) -> Html:
    """Return a section with a heading."""
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
    """Return settings as ``name=value``, without line breaks if possible."""
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
    """Return an arm as its settings, or its name if that is more informative."""
    if row.name in (str(row.configuration), "default"):
        return chips(row.configuration)
    return el("bdi", shorten(clean(row.name), _VALUE_CHARACTERS), class_="arm")


def arm_text(row: ArmRow) -> str:
    """Return the text of ``arm_name``."""
    if row.name in (str(row.configuration), "default"):
        pairs = (
            f"{clean(name)}={shorten(clean(show_value(value)), _VALUE_CHARACTERS)}"
            for name, value in row.configuration.items()
        )
        return " ".join(pairs) or "default"
    return shorten(clean(row.name), _VALUE_CHARACTERS)


def count_or_dash(number: int) -> str:
    """Return a count, or a dash for zero."""
    return f"{number:,}" if number else "\u2013"


def first_rows(shown: int, total: int, noun: str, others: str) -> Html | None:
    """Return ``omitted_rows`` as a paragraph; ``None`` if the table has all rows."""
    text = omitted_rows(shown, total, noun, others)
    return el("p", text, class_="quiet-status") if text else None


def omitted_rows(shown: int, total: int, noun: str, others: str) -> str:
    """Return a sentence on the rows that a table omits; empty if it has all.

    Args:
        shown: number of rows of the table.
        total: number of all rows.
        noun: name of the rows in the plural.
        others: sentence about the place of the other rows.
    """
    return f"The first {shown:,} of {total:,} {noun}. {others}" if shown < total else ""


def definitions(facts: Iterable[tuple[str, Child]]) -> Html:
    """Return a list of terms and values."""
    return el(
        "dl",
        [el("div", el("dt", term), el("dd", el("bdi", value))) for term, value in facts],
        class_="facts",
    )


def scroll(label: str, table: Html, *, tall: bool = False) -> Html:
    """Return a table in a scrollable region, also scrollable by keyboard."""
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
    """Return a table with a label for screen readers and right-aligned ``numeric`` columns."""
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
    """Return the reservations of a verdict."""
    words = [
        word
        for word, holds in (("withheld", claim.verdict_withheld), ("unstable", claim.unstable))
        if holds
    ]
    return el("span", f" {', '.join(words)}", class_="quiet") if words else el("span")
