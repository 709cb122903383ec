"""Number of disturbed blocks so far, for the progress line."""

from __future__ import annotations

from assay.records import Launch, Sample, Stage
from assay.search.history.disturbance_sources import OTHER_PROCESS
from assay.search.history.history import History
from assay.units import show_count
from assay.untrusted import clean

NAME_CHARACTERS = 40
"""Maximum length of a process name in the line."""


class DisturbedCount:
    """Counter of the disturbed blocks of the current stage; each update costs one block."""

    def __init__(self) -> None:
        self._stage: Stage | None = None
        self._block = -1
        self._blocks = 0
        self._disturbed = 0
        self._disturbing = ""

    def start_launch(self, launch: Launch, history: History | None) -> None:
        """Count the previous block when a new one begins.

        Args:
            launch: next launch.
            history: history of the study; ``None`` before the first sample.
        """
        if history is None or (launch.stage, launch.block) == (self._stage, self._block):
            return
        over = [self._block]
        if launch.stage is not self._stage:
            self._blocks = self._disturbed = 0
            over = [block for block in history.blocks(launch.stage) if block < launch.block]
        self._stage, self._block = launch.stage, launch.block
        self._blocks += len(over)
        self._disturbed += sum(history.is_disturbed(launch.stage, block) for block in over)

    def add_sample(self, sample: Sample) -> None:
        """Remember the disturbing process, if the evidence of a sample names it."""
        named = (
            piece.note for piece in sample.evidence if piece.kind == OTHER_PROCESS and piece.note
        )
        self._disturbing = next(named, self._disturbing)

    @property
    def text(self) -> str:
        """Text such as ``3 of 12 blocks disturbed by burn (process 812)``; empty without any."""
        if not self._disturbed or self._stage is Stage.SURVEY:
            return ""
        by = f" by {clean(self._disturbing)[:NAME_CHARACTERS]}" if self._disturbing else ""
        return f"{self._disturbed} of {show_count(self._blocks, 'block')} disturbed{by}"
