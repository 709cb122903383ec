"""Units of figures: detection of mixed units within an arm or between two arms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from assay.records import Metric, Sample
from assay.records.configuration import show_value
from assay.records.sample import UNIT_MULTIPLES, UNIT_PREFIX, UNKNOWN_UNIT_PREFIX
from assay.settings.printed_values import split_text
from assay.wording.objections import different_units, possible_units

UNIT_PREFIXES = "kKMGT"
"""Prefixes of multiples of a unit: ``Mpps`` of ``pps``."""
_NAMED = re.compile(r"\(\?P<unit>")


class ArmUnits:
    """Units of the figures of one arm.

    Args:
        metric: metric read from the output.

    Attributes:
        units: number of figures with each known unit; ``None`` stands for none.
        words: number of figures followed by each other word.
        first: first launch with a figure.
    """

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self.units: Counter[str | None] = Counter()
        self.words: Counter[str | None] = Counter()
        self.first: Sample | None = None

    def add(self, sample: Sample) -> None:
        """Add a launch with a figure."""
        if self._metric.pattern is None:
            return
        self.first = self.first or sample
        self.units[_noted(UNIT_PREFIX, self._metric, sample)] += 1
        self.words[_noted(UNKNOWN_UNIT_PREFIX, self._metric, sample)] += 1


def mixed_unit_objection(metric: Metric, arms: Sequence[ArmUnits]) -> str | None:
    """Return an objection if figures have different units, or words that may be units.

    Args:
        metric: metric read from the output.
        arms: units of the compared arms.
    """
    return _known_units(metric, arms) or _multiples(metric, arms) or _words(metric, arms)


def _known_units(metric: Metric, arms: Sequence[ArmUnits]) -> str | None:
    seen = _sum(arm.units for arm in arms)
    if not seen.keys() & UNIT_MULTIPLES:  # a figure without a following word may have any unit
        del seen[None]
    if len(seen) < 2:
        return None
    return different_units(metric.name, seen.most_common(), has_group=_has_group(metric))


def _sum(counts: Iterable[Counter[str | None]]) -> Counter[str | None]:
    found: Counter[str | None] = Counter()
    for count in counts:
        found.update(count)
    return found


def _multiples(metric: Metric, arms: Sequence[ArmUnits]) -> str | None:
    """Return an objection on words such as ``kpps`` and ``Mpps``, also within an arm."""
    seen = _sum(arm.words for arm in arms)
    roots: dict[str, list[str]] = {}
    for word in filter(None, seen):
        for root in {word, word[1:]} if word[0] in UNIT_PREFIXES else {word}:
            roots.setdefault(root, []).append(word)
    several = next((w for root, w in roots.items() if len(w) > 1 and len(root) > 1), None)
    return _possible_units(metric, {word: seen[word] for word in several}) if several else None


def _words(metric: Metric, arms: Sequence[ArmUnits]) -> str | None:
    """Return an objection on words that are constant within arms and differ between them."""
    tokens: dict[str | None, int] = {}
    unknown = False
    for arm in arms:
        first = arm.first
        if first is None:
            continue
        if len(arm.words) > 1 or any(_is_value(word, first) for word in arm.words):
            return None  # it varies by itself, or depends on a setting
        unknown = unknown or set(arm.words) != {None}
        token = next(filter(None, {*arm.words, *arm.units}), None)
        tokens[token] = tokens.get(token, 0) + arm.words.total()
    return _possible_units(metric, tokens) if unknown and len(tokens) > 1 else None


def _possible_units(metric: Metric, seen: dict[str | None, int] | dict[str, int]) -> str:
    words = sorted(seen.items(), key=lambda pair: -pair[1])
    return possible_units(metric.name, words, has_group=_has_group(metric))


def _has_group(metric: Metric) -> bool:
    return _NAMED.search(metric.pattern or "") is not None


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
