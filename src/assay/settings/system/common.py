"""What settings of the system share: rights, and grants from what their files held."""

from __future__ import annotations

from collections.abc import Iterable

from assay.machine.document import Machine
from assay.machine.value_formats import normalized
from assay.records import Grant, Level, RunFacts, Value, WriteFile
from assay.settings.base import Refused
from assay.settings.evidence import degraded, granted, refused, unverified
from assay.units import show_count

SWITCH_S = 0.02
"""What putting one value back and another in its place takes: two notes on the disk each."""
_ROUNDED = 0.1
"""Share of a frequency that a driver may add or leave out."""
ONLY_ON_REQUEST = "what changes the machine for all that runs on it is tried where it is named"


def missing_privileges(machine: Machine) -> Refused | None:
    """Why this process may not change the system; ``None`` where it may."""
    if machine.rights.uid != 0:
        return Refused("system settings are changed as root", "Run assay as root.")
    if machine.rights.user_namespace:
        return Refused("root of a user namespace may not change the host", "Run assay on the host.")
    return None


def judge_files(value: Value, actions: Iterable[WriteFile], facts: RunFacts) -> Grant:
    """Hold what files held before a launch, and after it, against what was written."""
    actions = tuple(actions)
    unread = [action.path for action in actions if action.path not in facts.system]
    if unread or not actions:
        what = unread[0] if unread else "what it changes"
        return unverified(value, f"nobody read {what} before the launch")
    amiss = [action for action in actions if not _as_written(action, facts.system[action.path])]
    observed = _told(actions, facts)
    if amiss:
        first = amiss[0]
        why = f"{first.path} read {facts.system[first.path]} before the launch"
        partly = len(amiss) < len(actions) or _in_part(first, facts.system[first.path])
        return (degraded if partly else refused)(value, Level.SEEN, why, observed)
    for action in actions:
        if action.path in facts.system_changed:
            now = facts.system_changed[action.path]
            why = f"somebody set {action.path} to {now} while the program ran"
            return degraded(value, Level.SEEN, why, observed)
    return granted(value, Level.SEEN, observed)


def _as_written(action: WriteFile, text: str) -> bool:
    return normalized(action.form, text) == normalized(action.form, action.value)


def _in_part(action: WriteFile, text: str) -> bool:
    """Whether a number came to nearly what was asked for.

    A pool of huge pages grows as far as there is memory, and a driver rounds frequencies.
    """
    try:
        found, asked = int(text), int(action.value)
    except ValueError:
        return False
    if action.path.endswith("/nr_hugepages"):
        return 0 < found < asked
    return action.path.endswith("_freq") and abs(found - asked) <= _ROUNDED * asked


def _told(actions: tuple[WriteFile, ...], facts: RunFacts) -> str:
    if len(actions) == 1:
        return f"{actions[0].path} {facts.system[actions[0].path]}"
    held = sum(_as_written(action, facts.system[action.path]) for action in actions)
    return f"{held} of {show_count(len(actions), 'file')}"
