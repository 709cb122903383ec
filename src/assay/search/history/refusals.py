"""Refusals: values that did not take effect in launches of the search.

Values that the planner refuses never run. Some refusals appear only in a launch: an OpenBLAS
without a core type, or a program that sets its own affinity. Such a value has no effect, so any
result would belong to another value; the search excludes it.
"""

from __future__ import annotations

from assay.records import Configuration, GrantStatus, Sample, Stage, Value
from assay.records.configuration import show_value

_SettingText = tuple[str, str]
"""A setting and its value, as text."""


class Refusals:
    """Read-back of each value requested in the search.

    Args:
        stage: stage to use in place of the search, for a study without one.
    """

    def __init__(self, stage: Stage = Stage.SEARCH) -> None:
        self._stage = stage
        self._refused: dict[_SettingText, str] = {}
        self._taken: set[_SettingText] = set()

    def add(self, sample: Sample) -> None:
        """Add one sample."""
        if sample.launch.stage is not self._stage:
            return
        for name, grant in sample.settings.items():
            place = _setting_text(name, grant.value)
            if grant.status is GrantStatus.REFUSED:
                why = ": ".join(filter(None, (grant.reason, grant.observed)))
                self._refused.setdefault(place, why)
            elif grant.status is not GrantStatus.UNVERIFIED:
                self._taken.add(place)

    @property
    def reasons(self) -> dict[str, str]:
        """Return the reason of each value that was always refused, by ``NAME=VALUE``."""
        return {
            "=".join(place): reason
            for place, reason in self._refused.items()
            if place not in self._taken
        }

    def covers(self, configuration: Configuration) -> bool:
        """Return whether a configuration requests one of these values."""
        places = (_setting_text(name, value) for name, value in configuration.items())
        return any(place in self._refused and place not in self._taken for place in places)


def _setting_text(name: str, value: Value) -> _SettingText:
    return name, show_value(value)
