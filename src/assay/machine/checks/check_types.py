"""Types of checks: of words, of a number, of a rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from assay.machine.checks.demand import Demand
from assay.machine.checks.finding import Finding, Remedy, Status
from assay.machine.checks.host import Host


class Check(Protocol):
    """A check; ``demand_keys`` are the supported parts of a demand."""

    @property
    def id(self) -> str:
        """Id, such as ``cpu.governor``."""
        ...

    @property
    def summary(self) -> str:
        """Short description of the checked property."""
        ...

    @property
    def demand_keys(self) -> frozenset[str]:
        """Keys of a demand that it supports, besides ``otherwise``."""
        ...

    def reading(self, host: Host) -> str:
        """Return the current state as text.

        Raises:
            UnreadableError: the state cannot be read.
        """
        ...

    def judge(self, host: Host, demand: Demand) -> Finding:
        """Compare the current state with a demand.

        Raises:
            UnreadableError: the state cannot be read.
        """
        ...


@dataclass(frozen=True)
class WordCheck:
    """A check that every place contains an accepted word.

    Attributes:
        read: returns the words by place, usually a path.
        remedy: returns the remedy for a wanted word and the differing places.
        choices: all possible words; empty if they are unknown.
    """

    id: str
    summary: str
    read: Callable[[Host], Mapping[str, str]]
    remedy: Callable[[str, tuple[str, ...]], Remedy]
    choices: tuple[str, ...] = ()
    demand_keys: frozenset[str] = field(default=frozenset({"accept"}), init=False)

    def reading(self, host: Host) -> str:
        """Return the current state; see ``Check``."""
        return group_by_word(self.read(host))

    def judge(self, host: Host, demand: Demand) -> Finding:
        """Compare the current state with a demand; see ``Check``."""
        found = self.read(host)
        wrong = {place: word for place, word in found.items() if word not in demand.accept}
        if not wrong:
            return Finding(self.id, Status.OK, group_by_word(found))
        remedy = self.remedy(demand.accept[0], tuple(wrong))
        return Finding(self.id, demand.otherwise, group_by_word(wrong), remedy)


@dataclass(frozen=True)
class Measurement:
    """A number and its evidence."""

    value: float
    evidence: str


@dataclass(frozen=True)
class NumberCheck:
    """A check that a number is within bounds.

    Attributes:
        unit: unit of the number and its bounds; empty for counts.
        remedy: returns the remedy for a bound.
    """

    id: str
    summary: str
    unit: str
    read: Callable[[Host], Measurement]
    remedy: Callable[[float, Host], Remedy]
    demand_keys: frozenset[str] = field(default=frozenset({"at_most", "at_least"}), init=False)

    def reading(self, host: Host) -> str:
        """Return the current state; see ``Check``."""
        return self.read(host).evidence

    def judge(self, host: Host, demand: Demand) -> Finding:
        """Compare the current state with a demand; see ``Check``."""
        found = self.read(host)
        for bound, words, broken in (
            (demand.at_most, "at most", found.value > (demand.at_most or 0)),
            (demand.at_least, "at least", found.value < (demand.at_least or 0)),
        ):
            if bound is not None and broken:
                comparison = f"{found.evidence}; required: {words} {bound:g}{_spaced(self.unit)}"
                return Finding(self.id, demand.otherwise, comparison, self.remedy(bound, host))
        return Finding(self.id, Status.OK, found.evidence)


@dataclass(frozen=True)
class RuleResult:
    """Result of a rule; a remedy means that it is violated."""

    evidence: str
    remedy: Remedy | None = None


@dataclass(frozen=True)
class RuleCheck:
    """A check of a fixed rule."""

    id: str
    summary: str
    read: Callable[[Host], RuleResult]
    demand_keys: frozenset[str] = field(default=frozenset(), init=False)

    def reading(self, host: Host) -> str:
        """Return the current state; see ``Check``."""
        return self.read(host).evidence

    def judge(self, host: Host, demand: Demand) -> Finding:
        """Compare the current state with a demand; see ``Check``."""
        found = self.read(host)
        status = Status.OK if found.remedy is None else demand.otherwise
        return Finding(self.id, status, found.evidence, found.remedy)


def group_by_word(words: Mapping[str, str]) -> str:
    """Return the words with their places: ``word (place and 3 more), other (place)``."""
    places: dict[str, list[str]] = {}
    for place, word in words.items():
        places.setdefault(word, []).append(place)
    return ", ".join(
        f"{word} ({first}{f' and {len(more)} more' if more else ''})"
        for word, (first, *more) in places.items()
    )


def _spaced(unit: str) -> str:
    return f" {unit}" if unit else ""
