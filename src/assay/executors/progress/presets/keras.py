"""Progress of Keras.

``ms/step`` is the mean since the first step of the epoch, in whole milliseconds. Therefore steps
and times count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.executors.progress.json_records import number
from assay.executors.progress.output_files import TimedLine
from assay.executors.progress.presets.preset import Preset
from assay.executors.progress.report import Report

_FRAME = re.compile(r" *(\d+)/(\d+|Unknown) (?: *[\u2501] *|\[[=>.]*\]|- \d+s)")
"""Frame of ``verbose=1``, such as ``12/30 ━━━ 0s 41ms/step - loss: 0.14``, or a line of
``verbose=2``, such as ``30/30 - 1s - 41ms/step - loss: 0.14``."""
_EPOCH = re.compile(r"Epoch \d+")
_VALUE = re.compile(r" - (?!ETA: )([A-Za-z_]\w*): ([-+]?(?:[\d.]+(?:[eE][-+]?\d+)?|nan|inf))")


class FitReader:
    """Reads the frames of one launch; each epoch counts its steps from one."""

    def __init__(self) -> None:
        self._before = 0.0
        self._last = 0.0

    def read(self, line: TimedLine) -> Sequence[Report]:
        """Return the report of a frame; see ``LineReader``."""
        text = line[1]
        frame = _FRAME.match(text)
        if frame is None:
            if _EPOCH.match(text):
                self._before += self._last
                self._last = 0.0
            return ()
        if line[2] and frame.end() <= line[2]:
            return ()
        step = float(frame[1])
        if step < self._last:  # evaluate() prints no line for an epoch
            self._before += self._last
        self._last = step
        total = number(frame[2])
        values = dict(_VALUE.findall(text))
        whole = None if total is None else self._before + total
        return (Report(line[0], values, step=self._before + step, total=whole),)


PRESET = Preset(
    name="keras",
    reader=FitReader,
    advice="Keras prints its bar with verbose=1.",
)
"""Format of Keras 2 and 3."""
