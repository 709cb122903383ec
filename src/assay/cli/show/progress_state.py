"""State of a study in the words of one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.records import Budget
from assay.units import show_count, show_duration


@dataclass(frozen=True)
class ProgressState:
    """State that a line shows; replaced as a whole, since another thread reads it.

    Attributes:
        stage: name of the stage.
        launches: number of launches so far.
        so_far: leading arm, in words; empty without a result.
        left: remaining budget at ``at_s``.
        at_s: time of the state on the monotonic clock, in seconds.
        disturbed: number of disturbed blocks and the disturbing process; empty without any.
    """

    stage: str
    launches: int
    so_far: str
    left: Budget
    at_s: float
    disturbed: str = ""

    def parts(self, now_s: float) -> list[str]:
        """Return the parts of the line at a later time, the most important ones first."""
        parts = [self.stage]
        if self.left.time_s is not None:
            parts.append(f"{_whole(self.left.time_s - (now_s - self.at_s))} left")
        if self.left.launches is not None:
            left = max(0, self.left.launches)
            parts.append(f"{show_count(left, 'launch', 'launches')} left")
        made = f"{show_count(self.launches, 'launch', 'launches')} made"
        return [*parts, *filter(None, [self.disturbed, self.so_far]), made]


MIN_PART_WIDTH = 21
"""Minimum width of a part that is cut off, in columns; its figure is at the beginning."""


def fit_parts(parts: Sequence[str], width: int) -> str:
    """Return the parts in one line of a terminal, without those that would lose their figure."""
    line = parts[0]
    for part in parts[1:]:
        room = width - len(line) - len(" · ")
        if len(part) <= room:
            line += f" · {part}"
        elif room >= MIN_PART_WIDTH:
            line += f" · {part[: room - 1]}…"
    return line


def _whole(seconds: float) -> str:
    """Return a remaining time in whole seconds."""
    left = max(0, round(seconds))
    return f"{left} s" if left < 120 else show_duration(left)
