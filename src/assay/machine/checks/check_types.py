"""Kinds of checks: on words, on a number, on a rule that holds or does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from assay.machine.checks.demand import Demand
from assay.machine.checks.finding import Finding, Remedy, Status
from assay.machine.checks.host import Host


class Check(Protocol):
    """One thing that is looked at; what it may be asked is in ``demand_keys``."""

    @property
    def id(self) -> str:
        """Its name, as ``cpu.governor``."""
        ...

    @property
    def summary(self) -> str:
        """What is looked at, in a few words."""
        ...

    @property
    def demand_keys(self) -> frozenset[str]:
        """Which keys of a demand say something to it, besides ``otherwise``."""
        ...

    def look(self, host: Host) -> str:
        """What is there.

        Raises:
            Unread: it cannot be read.
        """
        ...

    def judge(self, host: Host, demand: Demand) -> Finding:
        """What is there, held against a demand.

        Raises:
            Unread: it cannot be read.
        """
        ...


@dataclass(frozen=True)
class WordCheck:
    """Every place holds one of the words that are accepted.

    Attributes:
        read: place -> word; a place is a path, mostly.
        remedy: what makes a wanted word hold; told the word and the places that differ.
        choices: all words that there can be; empty where nobody can list them.
    """

    id: str
    summary: str
    read: Callable[[Host], Mapping[str, str]]
    remedy: Callable[[str, tuple[str, ...]], Remedy]
    choices: tuple[str, ...] = ()
    demand_keys: frozenset[str] = field(default=frozenset({"accept"}), init=False)

    def look(self, host: Host) -> str:
        """See ``Check``."""
        return group_by_word(self.read(host))

    def judge(self, host: Host, demand: Demand) -> Finding:
        """See ``Check``."""
        found = self.read(host)
        wrong = {place: word for place, word in found.items() if word not in demand.accept}
        if not wrong:
            return Finding(self.id, Status.OK, group_by_word(found))
        remedy = self.remedy(demand.accept[0], tuple(wrong))
        return Finding(self.id, demand.otherwise, group_by_word(wrong), remedy)


@dataclass(frozen=True)
class Measurement:
    """A number, and what was read to know it."""

    value: float
    evidence: str


@dataclass(frozen=True)
class NumberCheck:
    """A number lies within bounds.

    Attributes:
        unit: of the number and of its bounds; empty for counts.
        remedy: what brings it to a bound.
    """

    id: str
    summary: str
    unit: str
    read: Callable[[Host], Measurement]
    remedy: Callable[[float, Host], Remedy]
    demand_keys: frozenset[str] = field(default=frozenset({"at_most", "at_least"}), init=False)

    def look(self, host: Host) -> str:
        """See ``Check``."""
        return self.read(host).evidence

    def judge(self, host: Host, demand: Demand) -> Finding:
        """See ``Check``."""
        found = self.read(host)
        for bound, words, broken in (
            (demand.at_most, "at most", found.value > (demand.at_most or 0)),
            (demand.at_least, "at least", found.value < (demand.at_least or 0)),
        ):
            if bound is not None and broken:
                asked = f"{found.evidence}; asked is {words} {bound:g}{_spaced(self.unit)}"
                return Finding(self.id, demand.otherwise, asked, self.remedy(bound, host))
        return Finding(self.id, Status.OK, found.evidence)


@dataclass(frozen=True)
class RuleResult:
    """Whether a rule holds: with a remedy it does not."""

    evidence: str
    remedy: Remedy | None = None


@dataclass(frozen=True)
class RuleCheck:
    """A rule of the check's own."""

    id: str
    summary: str
    read: Callable[[Host], RuleResult]
    demand_keys: frozenset[str] = field(default=frozenset(), init=False)

    def look(self, host: Host) -> str:
        """See ``Check``."""
        return self.read(host).evidence

    def judge(self, host: Host, demand: Demand) -> Finding:
        """See ``Check``."""
        found = self.read(host)
        status = Status.OK if found.remedy is None else demand.otherwise
        return Finding(self.id, status, found.evidence, found.remedy)


def group_by_word(words: Mapping[str, str]) -> str:
    """``word (place and 3 more), other (place)``."""
    places: dict[str, list[str]] = {}
    for place, word in words.items():
        places.setdefault(word, []).append(place)
    return ", ".join(
        f"{word} ({first}{f' and {len(more)} more' if more else ''})"
        for word, (first, *more) in places.items()
    )


def _spaced(unit: str) -> str:
    return f" {unit}" if unit else ""
