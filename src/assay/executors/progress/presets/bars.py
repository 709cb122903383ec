"""Frames of progress bars that look like those of tqdm.

A program may show several bars: nested loops, validation, downloads. The bar that advances most is
the one whose speed counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from assay.executors.progress.json_records import number
from assay.executors.progress.output_files import TimedLine
from assay.executors.progress.report import Report

_PERCENT = re.compile(r" *\d+\Z")
_FRAME = re.compile(
    r"\|? *(?P<step>\d[\d.]*)(?P<scale>[kMGTPE]?)"
    r"(?:/(?P<total>\d[\d.]*)(?P<total_scale>[kMGTPE]?)|/\?|(?=[A-Za-z ]))[A-Za-z ]*"
    r"\[(?:\d+ days?, )?[\d:]+(?:<[^,\]]*)?, *[^,\]]*(?P<values>[^\]]*)\]"
)
"""Frame after its bar: ``| 2/6 [00:00<00:00,  6.19it/s, loss=0.1]``."""
_MAX_NAME = 200
"""Length of a description beyond which a line is not a frame."""
_VALUE = re.compile(r"([A-Za-z_][\w./-]*)=([-+]?(?:[\d.]+(?:[eE][-+]?\d+)?|nan|inf))")
_SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_DIGITS = re.compile(r"\d+")
_SWITCH_FACTOR = 2.0
_SWITCH_STEPS = 2.0
"""Steps by which another bar must lead before its speed counts."""

BarKey = tuple[str, float | None]


class BarReader:
    """Reads frames of the bar that advances most.

    Args:
        accepts: returns whether a bar with a description counts; digits in it are ``#``.

    Attributes:
        step, total: newest step of that bar, and its number of steps.
    """

    def __init__(self, accepts: Callable[[str], bool] = lambda name: True) -> None:
        self._accepts = accepts
        self._advanced: dict[BarKey, float] = {}
        self._last: dict[BarKey, float] = {}
        self._main: BarKey | None = None
        self.step: float | None = None
        self.total: float | None = None

    def read(self, line: TimedLine) -> Sequence[Report]:
        """Return the report of a frame; see ``LineReader``.

        A switch to another bar marks its report as restarted.
        """
        found = _frame(line[1])
        if found is None:
            return ()
        name, frame = found
        if (line[2] and frame.end() <= line[2]) or not self._accepts(name):
            return ()
        step = _scaled(frame["step"], frame["scale"])
        total = _scaled(frame["total"], frame["total_scale"]) if frame["total"] else None
        key = name, total
        switched = self._advance(key, step)
        if key != self._main:
            return ()
        self.step, self.total = step, total
        values = dict(_VALUE.findall(frame["values"]))
        return (Report(line[0], values, step=step, total=total, restarted=switched),)

    def _advance(self, key: BarKey, step: float) -> bool:
        """Register a step of a bar; return whether the reports now come from another bar."""
        last = self._last.get(key)
        self._last[key] = step
        own = self._advanced[key] = self._advanced.get(key, 0.0) + (
            0.0 if last is None else max(0.0, step - last)
        )
        if self._main is None:
            self._main = key
            return False
        if key == self._main:
            return False
        leader = self._advanced[self._main]
        if own < _SWITCH_FACTOR * leader + _SWITCH_STEPS:
            return False
        self._main = key
        return True


def _frame(text: str) -> tuple[str, re.Match[str]] | None:
    """Return description and figures of a frame; ``None`` for other lines."""
    bar = text.find("%|", 0, _MAX_NAME)
    if bar >= 0:  # name:  33%|###   | 2/6 [...]
        frame = _FRAME.match(text, text.find("|", bar + 2))
        name = _PERCENT.sub("", text[:bar])
    else:  # name: 2it [...]
        bracket = text.find(" [", 0, _MAX_NAME)
        if bracket <= 0:
            return None
        begin = text.rfind(" ", 0, bracket) + 1
        frame = _FRAME.match(text, begin)
        name = text[:begin]
    if frame is None:
        return None
    name = name.rstrip().removesuffix("|").rstrip().removesuffix(":")
    return (_DIGITS.sub("#", name) if name else ""), frame


def _scaled(text: str, scale: str) -> float:
    found = number(text) or 0.0
    return found * _SCALES[scale] if scale else found
