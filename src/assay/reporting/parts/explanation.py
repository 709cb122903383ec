"""Explanation: effects of the settings of the recommended configuration."""

from __future__ import annotations

from collections.abc import Iterator

from assay.reporting.formatting import typeset
from assay.reporting.inputs import ReportInput
from assay.reporting.markup import Html, el, join
from assay.reporting.parts.common import scroll
from assay.search.model.explanation import Explanation, SettingEffect
from assay.wording.sentence import bound_words, change_text, interval_text

_INTRO = (
    "Estimated by a model of all {launches} launches of the search, with 95 % intervals. The "
    "model explains the recommendation but proves nothing: the claim above is on the whole "
    "configuration, from separate launches. {left}"
)


def explained(report: ReportInput) -> Html | None:
    """Return a table of the settings with an effect; ``None`` without any."""
    found = report.explanation
    if found is None or not (found.parts or found.interactions or found.trends):
        return None
    heads = [el("th", "Settings", scope="col"), el("th", "Effect", scope="col")]
    heads += [el("th", name, scope="col", class_="num") for name in ("Change", "Interval")]
    table = el(
        "table",
        el("caption", "Effects of settings", class_="quiet"),
        el("thead", el("tr", heads)),
        el("tbody", [_line(share, words) for share, words in _lines(found)]),
    )
    intro = _INTRO.format(launches=found.launches, left=_remaining_gain_text(found))
    return join(el("p", intro, class_="intro"), scroll("Effects of settings", table))


def _remaining_gain_text(found: Explanation) -> str:
    if found.untried_ratio_bound is None:
        return ""
    bound = bound_words(found.untried_ratio_bound)
    return f"No untried configuration is better than the best tried one by {bound}."


def _lines(found: Explanation) -> Iterator[tuple[SettingEffect, str]]:
    yield from ((share, "in the recommended configuration") for share in found.parts)
    yield from ((share, "interaction, beyond the separate effects") for share in found.interactions)
    yield from ((share, "on average over the space") for share in found.trends)


def _line(share: SettingEffect, words: str) -> Html:
    figures = (change_text(share.ratio), interval_text(share.ci))
    return el(
        "tr",
        el("th", share.name, scope="row"),
        el("td", words),
        [el("td", typeset(figure, figure), class_="num") for figure in figures],
    )
