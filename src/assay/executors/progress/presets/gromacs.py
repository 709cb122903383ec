"""Progress of GROMACS: frames of ``mdrun -v``, or the blocks of ``md.log``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.executors.progress.output_files import TimedLine
from assay.executors.progress.presets.preset import Preset
from assay.executors.progress.report import Report

_FRAME = re.compile(r"(?:imb [FP] +[\d.]+% +|pme/F +[\d.]+ +|vol [\d.]+ +)*step (\d+)(?:, |\s*\Z)")
_HEADER = re.compile(r" +Step +Time\b")
_BLOCK = re.compile(r" +(\d+) +[-\d.]+")


class StepReader:
    """Reads the steps of one launch."""

    def __init__(self) -> None:
        self._in_block = False

    def read(self, line: TimedLine) -> Sequence[Report]:
        """Return the report of a step; see ``LineReader``."""
        if self._in_block:
            self._in_block = False
            block = _BLOCK.match(line[1])
            return (Report(line[0], step=float(block[1])),) if block else ()
        frame = _FRAME.match(line[1])
        if frame is not None:
            seen = line[2] and frame.end() <= line[2]
            return () if seen else (Report(line[0], step=float(frame[1])),)
        self._in_block = _HEADER.match(line[1]) is not None
        return ()


PRESET = Preset(
    name="gromacs",
    reader=StepReader,
    advice="Pass -v to mdrun, or read its log: --progress-file md.log.",
)
"""Format of GROMACS 2016 and newer. The first steps tune the PME grid and are warm-up."""
