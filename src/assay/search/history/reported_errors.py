"""Reported errors: arms whose launches exit successfully but report an error."""

from __future__ import annotations

from assay.records import Sample
from assay.records.sample import ERRORS

MIN_EACH = 2
"""Minimum number of launches of each of two arms."""


class ReportedErrors:
    """Errors reported by the launches of each arm."""

    def __init__(self) -> None:
        self._arms: dict[str, _Arm] = {}

    def add(self, sample: Sample) -> None:
        """Add one sample of a successful launch with examined output."""
        piece = next((e for e in sample.evidence if e.kind == ERRORS), None)
        lines = _lines((piece.note if piece is not None else None) or "")
        whole = piece is None or piece.value == len(lines)
        arm = self._arms.setdefault(sample.launch.arm, _Arm(lines))
        arm.add(lines, whole=whole)

    def reported(self, name: str, than: str) -> str | None:
        """Return a line that all launches of an arm have, and no launch of another one.

        Args:
            name: name of the arm.
            than: name of the other arm; the result is ``None`` if its lines are incomplete.
        """
        arm, other = self._arms.get(name), self._arms.get(than)
        if arm is None or other is None or not other.whole:
            return None
        if max(arm.launches, other.launches) < MIN_EACH:
            return None
        return next((line for d, line in arm.always.items() if d not in other.ever), None)

    def launches(self, name: str) -> int:
        """Return the number of launches of an arm."""
        arm = self._arms.get(name)
        return arm.launches if arm is not None else 0

    def ever(self, name: str) -> tuple[frozenset[str], bool]:
        """Return digests of all lines reported by an arm, and whether they are complete."""
        arm = self._arms.get(name)
        return (frozenset(arm.ever), arm.whole) if arm is not None else (frozenset(), True)


class _Arm:
    """Errors of one arm: lines common to all launches, and digests of the lines of any."""

    def __init__(self, lines: dict[str, str]) -> None:
        self.always = dict(lines)
        self.ever: set[str] = set()
        self.launches = 0
        self.whole = True

    def add(self, lines: dict[str, str], *, whole: bool) -> None:
        self.launches += 1
        self.always = {digest: line for digest, line in self.always.items() if digest in lines}
        self.ever |= lines.keys()
        self.whole = self.whole and whole


def _lines(note: str) -> dict[str, str]:
    parted = (line.partition(" ") for line in note.splitlines())
    return {digest: line for digest, _, line in parted}
