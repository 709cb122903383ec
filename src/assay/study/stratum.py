"""Strata: the conditions under which samples may be pooled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from assay import __version__
from assay.errors import NotPossibleError
from assay.machine.document import Machine
from assay.machine.launch_environment import VARIABLE_PREFIX, is_compared, read_environment
from assay.machine.reader import fingerprint
from assay.partition.names import UTILITY_VARIABLE
from assay.records import Stratum
from assay.settings.gpus import VARIABLES
from assay.settings.inherited import inherited_settings
from assay.wording.changed_conditions import (
    changed_conditions,
    restore_conditions,
    restore_conditions_in_python,
)

MEMORY_LIMIT = "memory limit"


def stratum_of(
    number: int, machine: Machine, program_digest: str | None, env: Mapping[str, str]
) -> Stratum:
    """Return the present conditions; ``env`` is the environment of launches."""
    return Stratum(
        number=number,
        program_digest=program_digest,
        kernel=machine.kernel,
        cpus=machine.allowed_cpus,
        default_state=machine.default_state | _limits(machine),
        launch_environment=read_environment(env),
        assay_version=__version__,
        machine=fingerprint(machine),
        model=machine.model,
        # Sets in order: equal hosts make equal documents, which a store keeps once.
        host=msgspec.to_builtins(machine, order="deterministic"),
        inherited_variables=inherited_settings(env),
    )


def as_if_reserved(now: Stratum, then: Stratum) -> Stratum:
    """Return the present conditions with the effects of a reservation as in an earlier stratum."""
    names = {f"{VARIABLE_PREFIX}{name}" for name in (UTILITY_VARIABLE, *VARIABLES)}
    return msgspec.structs.replace(
        now,
        cpus=then.cpus,
        default_state=_taking(now.default_state, then.default_state, {MEMORY_LIMIT}),
        launch_environment=_taking(now.launch_environment, then.launch_environment, names),
    )


def _taking(now: dict[str, str], then: dict[str, str], names: set[str]) -> dict[str, str]:
    kept = {name: value for name, value in now.items() if name not in names}
    return kept | {name: value for name, value in then.items() if name in names}


def differences(then: Stratum, now: Stratum) -> list[str]:
    """Return the differences between two strata, one line each."""
    found = []
    for name, label in (
        ("machine", "the machine"),
        ("program_digest", "the program"),
        ("kernel", "the kernel"),
        ("cpus", "the usable CPUs"),
        ("assay_version", "assay's version"),
    ):
        before, after = getattr(then, name), getattr(now, name)
        if before != after:
            found.append(f"{label}: {_show(before)} then, {_show(after)} now")
    for before, after in (
        (then.default_state, now.default_state),
        (then.launch_environment, now.launch_environment),
    ):
        found += [
            _changed(name, before.get(name), after.get(name)) for name in _unlike(before, after)
        ]
    return found


def _unlike(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the names of relevant readings that differ."""
    names = sorted(before.keys() | after.keys())
    return [name for name in names if before.get(name) != after.get(name) and is_compared(name)]


def _limits(machine: Machine) -> dict[str, str]:
    """Return the limits of the control group that assay was started in."""
    limits = {"CPU limit": machine.cpu_limit, MEMORY_LIMIT: machine.memory_limit_bytes}
    return {name: str(value) for name, value in limits.items() if value is not None}


def _changed(name: str, before: str | None, after: str | None) -> str:
    """Return a line; values of variables are not stored, only their digests."""
    if name.startswith(VARIABLE_PREFIX):
        if before is None:
            return f"{name}: not set then"
        return f"{name}: not set now" if after is None else f"{name}: another value now"
    return f"{name}: {_show(before)} then, {_show(after)} now"


def _show(value: object) -> str:
    if value is None:
        return "absent"
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    text = str(value)
    return text[:12] if len(text) == 64 else text


def demand_same(then: Stratum, now: Stratum) -> None:
    """Raise an error if the conditions differ, so that samples cannot be pooled.

    Raises:
        NotPossibleError: names the differences.
    """
    changed = differences(then, now)
    if changed:
        raise conditions_changed(changed, new_variables(then, now))


def new_variables(then: Stratum, now: Stratum) -> tuple[str, ...]:
    """Return the names of the variables that were not set then."""
    return tuple(
        name.removeprefix(VARIABLE_PREFIX)
        for name in _unlike(then.launch_environment, now.launch_environment)
        if name.startswith(VARIABLE_PREFIX) and name not in then.launch_environment
    )


def conditions_changed(changed: Sequence[str], unset: Sequence[str]) -> NotPossibleError:
    """Return the error for conditions that changed, so that samples cannot be pooled.

    Args:
        changed: differences, one line each.
        unset: variables that were not set then.
    """
    return NotPossibleError(
        changed_conditions(changed),
        restore_conditions(unset),
        python_remedy=restore_conditions_in_python(unset),
    )
