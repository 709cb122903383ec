"""Steps that increase over a whole launch.

Many programs restart their count of steps in each epoch. Their count is continued. A step that
falls back into the middle of an earlier count, as after a restart from a checkpoint, begins a
segment.
"""

from __future__ import annotations

from dataclasses import dataclass

_MAX_FALLEN = 8


@dataclass(frozen=True, slots=True)
class FallenStep:
    """Place where the printed step fell, other than at the begin of an epoch.

    Attributes:
        time_s: time since the start of the launch, in seconds.
        before: printed step before it.
        after: printed step after it.
    """

    time_s: float
    before: float
    after: float


class StepCount:
    """Makes printed steps increase over a launch.

    Args:
        completed: whether the printed step is the number of completed steps, so that 0 follows the
            last step of the previous epoch without a step between them.

    Attributes:
        epochs: number of restarts of the count.
        unexpected: number of those that no printed total announced.
        falls: number of other falls; ``fallen`` holds the first of them.
        fallen: first falls, at most eight.
    """

    def __init__(self, *, completed: bool = False) -> None:
        self._completed = completed
        self._offset = 0.0
        self._first: float | None = None
        self._last = 0.0
        self._stride = 1.0
        self._total: float | None = None
        self._ordinal = 0
        self.epochs = 0
        self.unexpected = 0
        self.falls = 0
        self.fallen: list[FallenStep] = []

    def next(self, time_s: float, printed: float | None, total: float | None = None) -> float:
        """Return the step of a report, counted over the whole launch.

        Args:
            time_s: time of the report since the start of the launch, in seconds.
            printed: printed step; ``None``: the ordinal of the report is its step.
            total: printed number of steps of the epoch.
        """
        if printed is None:
            self._ordinal += 1
            printed = float(self._ordinal)
        if self._first is None:
            self._first = printed
        elif printed > self._last:
            self._stride = printed - self._last
        elif printed < self._last:
            self._restart(time_s, printed)
        self._last = printed
        self._total = total
        return self._offset + printed

    def _restart(self, time_s: float, printed: float) -> None:
        """Continue the count at a printed step that is lower than the previous one."""
        first = self._first or 0.0
        ends_whole = self._total is not None and self._last >= self._total
        if printed <= first + self._stride or ends_whole:
            self.epochs += 1
            self.unexpected += not ends_whole
            self._offset += self._epoch_steps(printed)
            self._first = printed
            return
        self.falls += 1
        if len(self.fallen) < _MAX_FALLEN:
            self.fallen.append(FallenStep(time_s, self._last, printed))
        self._offset += self._last + self._stride - printed

    def _epoch_steps(self, printed: float) -> float:
        """Return the number of steps of the epoch that ended before a printed step."""
        if self._total is not None:
            return max(self._last, self._total)
        if self._completed or printed > 0.0:
            return self._last
        return self._last + self._stride  # a counter from zero prints no step of its length
