"""Refusals: values that launches of the search were seen not to take.

What the planner refuses never runs. Some refusals only a launch shows: an OpenBLAS without a core
type, a program that sets its own affinity. Such a value changes nothing, so that whatever is said
of it would be said of another; it leaves the search.
"""

from __future__ import annotations

from assay.records import Configuration, GrantStatus, Sample, Stage, Value
from assay.records.configuration import show_value

_Place = tuple[str, str]
"""A setting and a value of it, as they are written."""


class Refusals:
    """Read-back of each value, as far as it was asked for in the search.

    Args:
        stage: takes the place of the search, as in a study that has none.
    """

    def __init__(self, stage: Stage = Stage.SEARCH) -> None:
        self._stage = stage
        self._refused: dict[_Place, str] = {}
        self._taken: set[_Place] = set()

    def add(self, sample: Sample) -> None:
        """Take in one sample."""
        if sample.launch.stage is not self._stage:
            return
        for name, grant in sample.settings.items():
            place = _place(name, grant.value)
            if grant.grant is GrantStatus.REFUSED:
                why = ": ".join(filter(None, (grant.reason, grant.observed)))
                self._refused.setdefault(place, why)
            elif grant.grant is not GrantStatus.UNVERIFIED:
                self._taken.add(place)

    @property
    def reasons(self) -> dict[str, str]:
        """``NAME=VALUE`` of what was refused whenever it was asked for, and why."""
        return {
            "=".join(place): reason
            for place, reason in self._refused.items()
            if place not in self._taken
        }

    def hold(self, configuration: Configuration) -> bool:
        """Whether a configuration asks for one of them."""
        places = (_place(name, value) for name, value in configuration.items())
        return any(place in self._refused and place not in self._taken for place in places)


def _place(name: str, value: Value) -> _Place:
    return name, show_value(value)
