"""Kernels: differences between the kernels of a study."""

from __future__ import annotations

from assay.records import KernelComparison
from assay.reporting.markup import Html, el, join
from assay.reporting.parts.common import scroll
from assay.untrusted import clean
from assay.wording.kernels import ABSENT, kernels_words

INTRO = (
    "The comparison includes all of these differences. Readings of the running machine come first, "
    "configuration options follow."
)


def kernels(found: KernelComparison) -> Html:
    """Return the options and readings that differ, under each kernel."""
    paragraph = el("p", f"{clean(kernels_words(found))}.")
    if not found.differences:
        return paragraph
    heads = [el("th", clean(release), scope="col") for release in found.releases]
    rows = [
        el(
            "tr",
            el("th", clean(difference.name), scope="row"),
            [el("td", clean(ABSENT if value is None else value)) for value in difference.values],
        )
        for difference in found.differences
    ]
    table = el(
        "table",
        el("thead", el("tr", el("th", "Option or reading", scope="col"), heads)),
        el("tbody", rows),
    )
    return join(paragraph, scroll("Differences of the kernels", table))
