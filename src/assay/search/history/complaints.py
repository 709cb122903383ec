"""Complaints: standard error lines specific to the launches with one value of a setting."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from assay.records import Configuration, Sample, Stage
from assay.records.configuration import show_value
from assay.records.sample import STDERR_LINES
from assay.search.history.history import History
from assay.search.history.packed_samples import select, with_evidence
from assay.wording.launch_notes import error_line_note

MIN_LAUNCHES = 3
"""Minimum launches on either side: fewer may differ by chance."""
MAX_NOTES = 4
_COUNTED = (Stage.SEARCH, Stage.REDUCE, Stage.CONFIRM)
_COMPLAINS = re.compile(
    r"\b(?:invalid|illegal|malformed|unknown|unrecogni|unsupported|not supported|ignor|warn"
    r"|error|fail|cannot|can't|could not|unable|bad|deprecat|not found|denied|no such|missing"
    r"|fall(?:ing)? ?back|disabled)",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"[-+]?\d[\d.,:eE+-]*\s?"
    r"(?:[kKMGTPmunµμ]?i?(?:B|b|s|secs?|seconds?|min|h|Hz|ops?|it|flops?|FLOPS?|bytes?|bits?|%)\b)?"
    r"(?:/\w+)?"
)
"""A number and its unit: both change with speed and size."""


_SettingText = tuple[str, str]
"""A setting and a value of it, as text."""
_Shapes = dict[str, str]
"""Normalised line -> original line."""


@dataclass(frozen=True)
class _ErrorOutput:
    """A launch with complete standard error."""

    arm: str
    lines: _Shapes


def complaint_notes(history: History) -> list[str]:
    """Return notes on lines that occur in exactly the launches with one value of a setting.

    Lines are compared without digits, units and values of settings. A line counts if its words
    match a complaint, or if all other launches have no line at all. Launches with incomplete lines
    are ignored, and so are their values.

    Args:
        history: history of the study.
    """
    samples = select(
        history.samples, lambda shape: shape.stage in _COUNTED and shape.outcome.succeeded
    )
    if not with_evidence(samples, STDERR_LINES):
        return []
    if not select(samples, lambda shape: bool(shape.configured)):
        return []
    words = _values_of(sample.launch.configuration for sample in samples)
    by_place: dict[_SettingText, list[_ErrorOutput]] = {}
    unread: set[_SettingText] = set()
    outputs = []
    for sample in samples:
        places = [(n, show_value(v)) for n, v in sample.launch.configuration.items()]
        lines = _lines(sample, words)
        if lines is None:
            unread.update(places)
            continue
        outputs.append(_ErrorOutput(sample.launch.arm, lines))
        for place in places:
            by_place.setdefault(place, []).append(outputs[-1])
    read = {place: of for place, of in by_place.items() if place not in unread}
    return _notes(outputs, read, complete=len(outputs) == len(samples))


def _notes(
    outputs: Sequence[_ErrorOutput],
    by_place: Mapping[_SettingText, Sequence[_ErrorOutput]],
    *,
    complete: bool,
) -> list[str]:
    often = Counter(shape for output in outputs for shape in output.lines)
    speaking = sum(bool(output.lines) for output in outputs)
    notes: dict[str, str] = {}
    for place, affected in by_place.items():
        if min(len(affected), len(outputs) - len(affected)) < MIN_LAUNCHES:
            continue
        others_speak = speaking > sum(bool(output.lines) for output in affected)
        for shape, line in affected[0].lines.items():
            if often[shape] != len(affected) or not all(
                shape in output.lines for output in affected
            ):
                continue
            if not others_speak or _COMPLAINS.search(line):
                subject = _subject(*place, {output.arm for output in affected})
                note = error_line_note(subject, len(affected), line, complete=complete)
                notes.setdefault(shape, note)
    return list(notes.values())[:MAX_NOTES]


def _subject(name: str, value: str, arms: Set[str]) -> str:
    return repr(next(iter(arms))) if len(arms) == 1 else f"{name}={value}"


def _values_of(configurations: Iterable[Configuration]) -> re.Pattern[str] | None:
    """Return a pattern of all values of settings, the longest first."""
    texts = {
        show_value(value) for configuration in configurations for value in configuration.values()
    }
    ordered = sorted((text for text in texts if text), key=len, reverse=True)
    if not ordered:
        return None
    return re.compile("|".join(rf"(?<!\w){re.escape(text)}(?!\w)" for text in ordered))


def _lines(sample: Sample, words: re.Pattern[str] | None) -> _Shapes | None:
    """Return the lines of a launch; ``None`` if they are incomplete."""
    found: _Shapes = {}
    for piece in sample.evidence:
        if piece.kind == STDERR_LINES:
            if piece.note is None:
                return None
            found.update((_shape(line, words), line) for line in piece.note.splitlines())
    return found


def _shape(line: str, words: re.Pattern[str] | None) -> str:
    """Return a line without figures, values of settings and plural endings."""
    shape = words.sub("", line) if words is not None else line
    shape = re.sub(r"s\b", "", _FIGURE.sub("", shape))
    return " ".join(re.sub(r"\d", "", shape).split())
