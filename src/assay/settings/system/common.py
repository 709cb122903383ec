"""Common parts of system settings: privileges, and grants from the content of files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from assay.machine.document import Machine
from assay.machine.value_formats import normalised
from assay.records import Grant, Level, RunFacts, Scope, Value, WriteFile
from assay.settings.base import BaseSetting, Refused
from assay.settings.evidence import degraded, granted, refused, unverified
from assay.units import show_count

SWITCH_S = 0.02
"""Cost of restoring one value and writing another, in seconds: two journal records each."""
_ROUNDED = 0.1
"""Tolerated deviation of a frequency, as a share: drivers round it."""
ONLY_ON_REQUEST = "it changes the machine for all programs; name it to vary it"


class SystemSetting(BaseSetting, frozen=True):
    """Defaults of a setting that changes the machine for all programs."""

    scope: ClassVar[Scope] = Scope.SYSTEM
    switch_cost_s: ClassVar[float] = SWITCH_S
    not_suggested: ClassVar[str] = ONLY_ON_REQUEST


def missing_privileges(machine: Machine) -> Refused | None:
    """Return why this process may not change the system; ``None`` if it may."""
    if machine.rights.uid != 0:
        return Refused("changing system settings needs root", "Run assay as root.")
    if machine.rights.user_namespace:
        return Refused("root of a user namespace may not change the host", "Run assay on the host.")
    return None


def judge_files(value: Value, actions: Iterable[WriteFile], facts: RunFacts) -> Grant:
    """Compare the content of files before and after a launch with the written values."""
    actions = tuple(actions)
    unread = [action.path for action in actions if action.path not in facts.system_files]
    if unread or not actions:
        unread_text = unread[0] if unread else "its files"
        return unverified(value, f"{unread_text} was not read before the launch")
    differing = [
        action for action in actions if not _as_written(action, facts.system_files[action.path])
    ]
    observed = _observed_text(actions, facts)
    if differing:
        first = differing[0]
        why = f"{first.path} read {facts.system_files[first.path]} before the launch"
        partly = len(differing) < len(actions) or _in_part(first, facts.system_files[first.path])
        return (degraded if partly else refused)(value, Level.SEEN, why, observed)
    for action in actions:
        if action.path in facts.changed_system_files:
            now = facts.changed_system_files[action.path]
            why = f"{action.path} changed to {now} while the program ran"
            return degraded(value, Level.SEEN, why, observed)
    return granted(value, Level.SEEN, observed)


def _as_written(action: WriteFile, text: str) -> bool:
    return normalised(action.form, text) == normalised(action.form, action.value)


def _in_part(action: WriteFile, text: str) -> bool:
    """Return whether a number is close to the requested one.

    A pool of huge pages grows only as far as memory permits, and a driver rounds frequencies.
    """
    try:
        found, requested = int(text), int(action.value)
    except ValueError:
        return False
    if action.path.endswith("/nr_hugepages"):
        return 0 < found < requested
    return action.path.endswith("_freq") and abs(found - requested) <= _ROUNDED * requested


def _observed_text(actions: tuple[WriteFile, ...], facts: RunFacts) -> str:
    if len(actions) == 1:
        return f"{actions[0].path} {facts.system_files[actions[0].path]}"
    held = sum(_as_written(action, facts.system_files[action.path]) for action in actions)
    return f"{held} of {show_count(len(actions), 'file')}"
