"""Notices on the reports of a launch, in words."""

from __future__ import annotations

from collections.abc import Callable
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
        """Return the notice as evidence of a sample; its kind names the metric too."""
        kind = f"{self.kind}.{self.metric}" if self.metric else self.kind
        return Evidence(kind=kind, value=self.value, unit=self.unit, note=self.text)


class FirstNotices:
    """Passes on the first notice of each kind and metric that helps while a launch runs.

    Args:
        receive: receiver of the text.
    """

    def __init__(self, receive: Callable[[str], None]) -> None:
        self._receive = receive
        self._known: set[tuple[str, str]] = set()

    def __call__(self, notice: Notice) -> None:
        """Receive a notice."""
        key = notice.kind, notice.metric
        if notice.kind in _URGENT and key not in self._known:
            self._known.add(key)
            self._receive(notice.text)


_URGENT = frozenset(("progress_silent", "progress_never", "progress_buffered"))


def shown_lines(lines: list[str], max_characters: int = 120) -> str:
    """Return lines in quotes for a message.

    Args:
        lines: lines of an output.
        max_characters: length of the kept begin of a line.
    """
    return ", ".join(repr(line[:max_characters]) for line in lines)
