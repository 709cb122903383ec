"""Units of figures: detection of mixed units within an arm or between two arms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from assay.records import Metric, Sample
from assay.records.configuration import show_value
from assay.records.sample import UNIT_MULTIPLES, UNIT_PREFIX, UNKNOWN_UNIT_PREFIX
from assay.settings.printed_values import split_text
from assay.wording.objections import different_units, possible_units

UNIT_PREFIXES = "kKMGT"
"""Prefixes of multiples of a unit: ``Mpps`` of ``pps``."""
_NAMED = re.compile(r"\(\?P<unit>")

_Arm = tuple[str, Sequence[Sample]]
"""Name of an arm, and its successful launches."""


def mixed_unit_objection(metric: Metric, arms: Sequence[_Arm]) -> str | None:
    """Return an objection if figures have different units, or words that may be units.

    Args:
        metric: metric read from the output.
        arms: compared arms.
    """
    return _known_units(metric, arms) or _multiples(metric, arms) or _words(metric, arms)


def _known_units(metric: Metric, arms: Sequence[_Arm]) -> str | None:
    seen = Counter(_noted(UNIT_PREFIX, metric, s) for s in _with_figure(metric, arms))
    if not seen.keys() & UNIT_MULTIPLES:  # a figure without a following word may have any unit
        del seen[None]
    if len(seen) < 2:
        return None
    return different_units(metric.name, seen.most_common(), has_group=_has_group(metric))


def _multiples(metric: Metric, arms: Sequence[_Arm]) -> str | None:
    """Return an objection on words such as ``kpps`` and ``Mpps``, also within an arm."""
    seen = Counter(_noted(UNKNOWN_UNIT_PREFIX, metric, s) for s in _with_figure(metric, arms))
    roots: dict[str, list[str]] = {}
    for word in filter(None, seen):
        for root in {word, word[1:]} if word[0] in UNIT_PREFIXES else {word}:
            roots.setdefault(root, []).append(word)
    several = next((w for root, w in roots.items() if len(w) > 1 and len(root) > 1), None)
    return _possible_units(metric, {word: seen[word] for word in several}) if several else None


def _words(metric: Metric, arms: Sequence[_Arm]) -> str | None:
    """Return an objection on words that are constant within arms and differ between them."""
    tokens: dict[str | None, int] = {}
    unknown = False
    for _, mine in arms:
        samples = _with_figure(metric, [("", mine)])
        words = {_noted(UNKNOWN_UNIT_PREFIX, metric, s) for s in samples}
        found = words | {_noted(UNIT_PREFIX, metric, s) for s in samples}
        if not samples:
            continue
        if len(words) > 1 or any(_is_value(word, s) for word in words for s in samples[:1]):
            return None  # it varies by itself, or depends on a setting
        unknown = unknown or words != {None}
        token = next(filter(None, found), None)
        tokens[token] = tokens.get(token, 0) + len(samples)
    return _possible_units(metric, tokens) if unknown and len(tokens) > 1 else None


def _possible_units(metric: Metric, seen: dict[str | None, int] | dict[str, int]) -> str:
    words = sorted(seen.items(), key=lambda pair: -pair[1])
    return possible_units(metric.name, words, has_group=_has_group(metric))


def _has_group(metric: Metric) -> bool:
    return _NAMED.search(metric.pattern or "") is not None


def _with_figure(metric: Metric, arms: Sequence[_Arm]) -> list[Sample]:
    return [s for _, samples in arms for s in samples if metric.name in s.metrics]


def _noted(kind: str, metric: Metric, sample: Sample) -> str | None:
    return next((e.note for e in sample.evidence if e.kind == f"{kind}{metric.name}"), None)


def _is_value(word: str | None, sample: Sample) -> bool:
    """Return whether a word is a value of a setting, or a word of the command."""
    bare = (word or "").strip("()[]").casefold()
    if not bare:
        return False
    texts = [show_value(value) for value in sample.launch.configuration.values()]
    return bare in {part.casefold() for text in texts for part in (text, *_parts(text))}


def _parts(text: str) -> list[str]:
    return [part for word in split_text(text) for part in (word, word.rpartition("=")[2])]
