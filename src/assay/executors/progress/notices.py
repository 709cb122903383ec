"""Notices on the reports of a launch, in words."""

from __future__ import annotations

from dataclasses import dataclass

from assay.records import Evidence


@dataclass(frozen=True, slots=True)
class Notice:
    """Notice on the reports of a launch.

    Attributes:
        kind: name of the finding, such as ``progress_silent``.
        text: finding and advice, in full sentences.
        metric: name of the metric; empty if it concerns the launch.
        value: number that belongs to it.
        unit: unit of the number.
    """

    kind: str
    text: str
    metric: str = ""
    value: float | None = None
    unit: str = ""

    def evidence(self) -> Evidence:
        """Return the notice as evidence of a sample."""
        return Evidence(kind=self.kind, value=self.value, unit=self.unit, note=self.text)


def shown_lines(lines: list[str], max_characters: int = 120) -> str:
    """Return lines in quotes for a message.

    Args:
        lines: lines of an output.
        max_characters: length of the kept begin of a line.
    """
    return ", ".join(repr(line[:max_characters]) for line in lines)
