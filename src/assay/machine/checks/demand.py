"""Demand: what a profile asks of a host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.machine.checks.finding import Status


@dataclass(frozen=True)
class Demand:
    """What is asked of one check.

    Attributes:
        otherwise: the status of a host that does not meet it, ``WARN`` or ``FAIL``; ``OK`` where
            nothing is asked: then the check is only read, and the reason says why.
        accept: words that are right, the one that a remedy names first; of checks on words.
        at_most, at_least: bounds, both within; of checks on numbers.
        reason: why it is asked, or why not.
        source: where that is from.
    """

    otherwise: Status
    accept: tuple[str, ...] = ()
    at_most: float | None = None
    at_least: float | None = None
    reason: str = ""
    source: str = ""

    @property
    def asks(self) -> bool:
        """Whether a host can fall short of it."""
        return self.otherwise is not Status.OK


@dataclass(frozen=True)
class Profile:
    """What somebody asks of a host: a demand for each check that counts, by its id."""

    name: str
    summary: str = ""
    demands: Mapping[str, Demand] = field(default_factory=dict)
