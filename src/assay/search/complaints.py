"""Complaints: lines of standard error that only launches with one value of a setting have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from assay.records import Configuration, Outcome, Sample, Stage
from assay.records.configuration import show_value
from assay.records.sample import SAID
from assay.search.history import History
from assay.units import show_count

MIN_LAUNCHES = 3
"""On either side: fewer may differ by chance."""
MAX_NOTES = 4
_COUNTED = (Stage.SEARCH, Stage.REDUCE, Stage.CONFIRM)
_COMPLAINS = re.compile(
    r"\b(?:invalid|illegal|malformed|unknown|unrecogni|unsupported|not supported|ignor|warn"
    r"|error|fail|cannot|can't|could not|unable|bad|deprecat|not found|denied|no such|missing"
    r"|fall(?:ing)? ?back|disabled)",
    re.IGNORECASE,
)
_SAY = " say on standard error, and no other does: "
_FIGURE = re.compile(
    r"[-+]?\d[\d.,:eE+-]*\s?"
    r"(?:[kKMGTPmunµμ]?i?(?:B|b|s|secs?|seconds?|min|h|Hz|ops?|it|flops?|FLOPS?|bytes?|bits?|%)\b)?"
    r"(?:/\w+)?"
)
"""A number and the unit behind it: both change with speed and size."""


def complaint_notes(history: History) -> list[str]:
    """Quote lines that all launches with one value of a setting have, and no others.

    Digits, units and the values of settings are taken out before lines are compared. A line counts
    where it reads like a complaint, or where all other launches have no line at all.

    Args:
        history: of the study.
    """
    samples = [
        sample
        for sample in history.samples
        if sample.launch.stage in _COUNTED and sample.outcome is Outcome.OK
    ]
    if not any(piece.kind == SAID for sample in samples for piece in sample.evidence):
        return []
    words = _values_of(sample.launch.configuration for sample in samples)
    lines = [(sample, _lines(sample, words)) for sample in samples]
    if any(found is None for _, found in lines):
        return []
    known = [(sample, found) for sample, found in lines if found is not None]
    notes: dict[str, str] = {}
    for name, value in _places(samples):
        mine, others = _divided(known, name, value)
        if min(len(mine), len(others)) < MIN_LAUNCHES:
            continue
        elsewhere = {shape for _, found in others for shape in found}
        for shape, line in mine[0][1].items():
            if shape in elsewhere or not all(shape in found for _, found in mine):
                continue
            if elsewhere and not _COMPLAINS.search(line):
                continue
            notes.setdefault(shape, _told(name, value, [s for s, _ in mine], line))
    return list(notes.values())[:MAX_NOTES]


def _told(name: str, value: str, samples: Sequence[Sample], line: str) -> str:
    arms = {sample.launch.arm for sample in samples}
    of = show_count(len(samples), "launch", "launches")
    whose = repr(next(iter(arms))) if len(arms) == 1 else f"{name}={value}"
    return f"all {of} of {whose}{_SAY}{line!r}"


def quotes_output(note: str) -> bool:
    """Return whether a note quotes a line that a program wrote."""
    return _SAY in note


_Shapes = dict[str, str]
"""A line without what varies -> the line."""


def _divided(
    lines: Sequence[tuple[Sample, _Shapes]], name: str, value: str
) -> tuple[list[tuple[Sample, _Shapes]], list[tuple[Sample, _Shapes]]]:
    """Return the launches with a value of a setting, and those without."""
    mine: list[tuple[Sample, _Shapes]] = []
    others: list[tuple[Sample, _Shapes]] = []
    for one in lines:
        has = _shown(one[0].launch.configuration, name) == value
        (mine if has else others).append(one)
    return mine, others


def _places(samples: Iterable[Sample]) -> dict[tuple[str, str], None]:
    """Return the values of settings that launches had, in the order of the launches."""
    return {
        (name, show_value(value)): None
        for sample in samples
        for name, value in sample.launch.configuration.items()
    }


def _shown(configuration: Configuration, name: str) -> str | None:
    return show_value(configuration[name]) if name in configuration else None


def _values_of(configurations: Iterable[Configuration]) -> re.Pattern[str] | None:
    """Return a pattern of all values of settings, the longest first."""
    texts = {show_value(value) for one in configurations for value in one.values()}
    ordered = sorted((text for text in texts if text), key=len, reverse=True)
    if not ordered:
        return None
    return re.compile("|".join(rf"(?<!\w){re.escape(text)}(?!\w)" for text in ordered))


def _lines(sample: Sample, words: re.Pattern[str] | None) -> _Shapes | None:
    """Return the lines of a launch; ``None`` where not all are kept."""
    found: _Shapes = {}
    for piece in sample.evidence:
        if piece.kind == SAID:
            if piece.note is None:
                return None
            found.update((_shape(line, words), line) for line in piece.note.splitlines())
    return found


def _shape(line: str, words: re.Pattern[str] | None) -> str:
    """Return a line without figures, values of settings and marks of the plural."""
    shape = words.sub("", line) if words is not None else line
    shape = re.sub(r"s\b", "", _FIGURE.sub("", shape))
    return " ".join(re.sub(r"\d", "", shape).split())
