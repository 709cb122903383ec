"""Demands of a profile on a host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.machine.checks.finding import Status


@dataclass(frozen=True)
class Demand:
    """A demand on one check.

    Attributes:
        otherwise: status of a host that does not meet it, ``WARN`` or ``FAIL``; ``OK`` without a
            demand: then the check is only read, and the reason explains why.
        accept: accepted words, of which a remedy uses the first; for checks of words.
        at_most, at_least: bounds, inclusive; for checks of numbers.
        reason: reason for the demand, or for its absence.
        source: source of the reason.
    """

    otherwise: Status
    accept: tuple[str, ...] = ()
    at_most: float | None = None
    at_least: float | None = None
    reason: str = ""
    source: str = ""

    @property
    def asks(self) -> bool:
        """True if a host can fail it."""
        return self.otherwise is not Status.OK


@dataclass(frozen=True)
class Profile:
    """Demands on a host by check id."""

    name: str
    summary: str = ""
    demands: Mapping[str, Demand] = field(default_factory=dict)
