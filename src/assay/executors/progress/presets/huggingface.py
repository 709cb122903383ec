"""Trainer of Hugging Face Transformers: a bar, and a dictionary for each logged step.

The dictionaries contain neither step nor speed. Their step is that of the bar.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.executors.progress.output_files import TimedLine
from assay.executors.progress.presets.bars import BarReader
from assay.executors.progress.presets.preset import Preset
from assay.executors.progress.report import Report

_VALUE = re.compile(r"'(\w+)': '?([-+]?(?:[\d.]+(?:[eE][-+]?\d+)?|nan|inf))'?(?=[,}])")


class TrainerReader:
    """Reads the bar and the dictionaries of one launch."""

    def __init__(self) -> None:
        self._bars = BarReader(lambda name: not name)

    def read(self, line: TimedLine) -> Sequence[Report]:
        """Return the report of a line; see ``LineReader``."""
        if not line[1].startswith("{'"):
            return self._bars.read(line)
        values = dict(_VALUE.findall(line[1]))
        if not values:
            return ()
        return (Report(line[0], values, step=self._bars.step, total=self._bars.total),)


PRESET = Preset(
    name="huggingface",
    reader=TrainerReader,
    advice="The Trainer prints its bar unless disable_tqdm is set.",
)
"""Format of Transformers 4 and 5. Bars with a description, such as those of data sets, do not
count."""
