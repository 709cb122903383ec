"""Explanation of a recommended configuration as lines of a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator

from assay.search.model.explanation import Explanation, SettingEffect
from assay.units import show_count
from assay.untrusted import clean
from assay.wording.sentence import bound_words, change_text, interval_text

GAP = "  "


def explanation_lines(explanation: Explanation | None) -> Iterator[str]:
    """Yield a line for each setting with an effect, and the data that it is based on."""
    if explanation is None:
        return
    groups = (
        ("  effect of each recommended setting", explanation.parts),
        ("  interactions of two settings, beyond their separate effects", explanation.interactions),
        ("  effects of other settings, on average over the space", explanation.trends),
    )
    shown = [share for _, shares in groups for share in shares]
    yield f"  {coverage_sentence(explanation)}"
    if not shown:
        return
    widths = [max(map(len, column)) for column in zip(*map(_cells, shown), strict=True)]
    source = f" (from a model of {show_count(explanation.launches, 'launch', 'launches')}):"
    for heading, shares in groups:
        if shares:
            yield heading + source
            source = ":"
            for share in shares:
                name, change, ends = _cells(share)
                yield f"    {name:{widths[0]}}{GAP}{change:>{widths[1]}}{GAP}{ends}"


def coverage_sentence(explanation: Explanation) -> str:
    """Return a sentence on the tried part of the space and the gain that the rest may contain."""
    of = f" of {explanation.combinations:,.0f}" if math.isfinite(explanation.combinations) else ""
    tried = f"{explanation.tried:,}{of} combinations were tried"
    if explanation.untried_ratio_bound is None:
        return f"{tried}."
    return (
        f"{tried}; according to the model no other one is better by "
        f"{bound_words(explanation.untried_ratio_bound)} (95 %)."
    )


def _cells(share: SettingEffect) -> tuple[str, str, str]:
    return clean(share.name), change_text(share.ratio), interval_text(share.ci)
