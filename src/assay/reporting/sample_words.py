"""Reports of sessions, whose pages and pictures are on trials instead of launches."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.reporting.inputs import ReportInput
from assay.reporting.markup import Html
from assay.reporting.pictures.theme import Finish
from assay.wording.trial_words import SampleWords, sample_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKUP = re.compile(r"<(?:(script|style|pre|code)\b.*?</\1>|[^>]*>)", re.DOTALL)
_SHOWN_ATTRIBUTE = re.compile(r'((?:aria-label|title|alt)=")([^"]*)')


def words_of(report: ReportInput) -> SampleWords:
    """Return the words for the samples of a study."""
    return sample_words(report.spec, report.samples)


def page_in_own_words(report: ReportInput, page: Html) -> Html:
    """Return a part of a page with the words for the samples of the study.

    Commands and data are unchanged.
    """
    words = words_of(report)
    if not words.in_process:
        return page
    escaped = replace(words, own=tuple(html.escape(text, quote=True) for text in words.own))
    found, end = [], 0
    for markup in _MARKUP.finditer(page):
        found.append(escaped(page[end : markup.start()]))
        found.append(_tag(markup[0], escaped) if markup[1] is None else markup[0])
        end = markup.end()
    return Html("".join([*found, escaped(page[end:])]))


def _tag(tag: str, words: SampleWords) -> str:
    return _SHOWN_ATTRIBUTE.sub(lambda shown: f"{shown[1]}{words(shown[2])}", tag)


def finish_in_own_words(report: ReportInput, finish: Finish) -> Finish:
    """Return a finish of pictures with the words for the samples of the study."""
    words = words_of(report)
    if not words.in_process:
        return finish

    from matplotlib.text import Text

    def finished(fig: Figure, name: str, title: str, description: str) -> str:
        for text in fig.findobj(Text):
            text.set_text(words(text.get_text()))
        return finish(fig, name, words(title), words(description))

    return finished
