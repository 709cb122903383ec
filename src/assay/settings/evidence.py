"""Grants from read-back facts: functions that the ``judge`` methods of settings share."""

from __future__ import annotations

from collections.abc import Mapping

from assay.records import Configuration, Grant, GrantStatus, Level, ReadBack, RunFacts, Value
from assay.settings.list_variables import LIST_VARIABLES, contains, restore_environment

_NEVER_RAN = frozenset({"exec_failed", "setup_failed", "bad_plan"})
_TOO_SHORT = "the program ended before it could be read"
NOT_MAPPED = "not mapped: the program is static, runs with raised privileges, or removes it"
"""Reason for refusing a preloaded library that the program did not map."""


def granted(
    value: Value, level: Level, observed: str | None = None, reason: str | None = None
) -> Grant:
    """Return a grant: the value took effect, with evidence of ``level``."""
    return Grant(
        value=value, status=GrantStatus.GRANTED, level=level, observed=observed, reason=reason
    )


def degraded(value: Value, level: Level, reason: str, observed: str | None = None) -> Grant:
    """Return a partial grant: the value took effect in part."""
    return Grant(
        value=value, status=GrantStatus.DEGRADED, level=level, observed=observed, reason=reason
    )


def refused(value: Value, level: Level, reason: str, observed: str | None = None) -> Grant:
    """Return a refusal: another value was read back."""
    return Grant(
        value=value, status=GrantStatus.REFUSED, level=level, observed=observed, reason=reason
    )


def unverified(value: Value, reason: str, observed: str | None = None) -> Grant:
    """Return an unverified grant: no fact shows the value."""
    return Grant(value=value, status=GrantStatus.UNVERIFIED, observed=observed, reason=reason)


def start_failure(facts: RunFacts) -> str | None:
    """Return why the program was not started; ``None`` if it was started."""
    if facts.outcome not in _NEVER_RAN:
        return None
    return f"the program was not started: {facts.message or facts.outcome}"


def step_accepted(facts: RunFacts, step: str) -> bool | None:
    """Return whether the kernel accepted a step; ``None`` if it was not tried."""
    results = [result.ok for result in facts.applied if result.step == step]
    return all(results) if results else None


def readback_of(facts: RunFacts) -> ReadBack:
    """Return the read-back facts; all fields are ``None`` if nothing was read."""
    return facts.readback or ReadBack()


def observed_cpus(facts: RunFacts) -> tuple[int, ...] | None:
    """Return the CPUs of the program, or of all its instances together."""
    if not facts.instances:
        return readback_of(facts).cpus
    masks = [instance.cpus for instance in facts.instances if instance.cpus is not None]
    return tuple(sorted({cpu for mask in masks for cpu in mask})) if masks else None


def observed_mask(facts: RunFacts) -> tuple[int, ...] | None:
    """Return the CPUs that all threads of the program could use; ``None`` if unknown.

    A bound OpenMP thread has its own mask, and so has the first thread, so that no single mask is
    sufficient. Several instances have different CPUs and no common mask.
    """
    seen = readback_of(facts)
    if facts.instances or seen.cpus is None or not seen.thread_cpus:
        return None
    return tuple(sorted(set(seen.cpus).union(*seen.thread_cpus)))


def observed_environment(facts: RunFacts) -> dict[str, str] | None:
    """Return the environment at the start of the program; ``None`` if it was not read."""
    environ = readback_of(facts).environ
    return None if environ is None else restore_environment(environ)


def unread_reason(facts: RunFacts, field: str) -> str:
    """Return why ``readback`` has no ``field``."""
    for key in (f"readback.{field}", field, "readback"):
        if key in facts.unavailable:
            return facts.unavailable[key]
    return start_failure(facts) or (
        _TOO_SHORT if facts.readback is None else f"{field} was not read"
    )


def judge_environment(
    value: Value, expected: Mapping[str, str], facts: RunFacts, observed: str | None = None
) -> Grant:
    """Compare the environment at the start of the program with the expected one.

    A variable in the environment is the only evidence visible from outside: level *set*.
    """
    environ = observed_environment(facts)
    if environ is None:
        return unverified(value, unread_reason(facts, "environ"))
    for name, text in expected.items():
        found = environ.get(name)
        if not variable_matches(name, text, found):
            state = "is not set" if found is None else f"is {found!r}"
            return refused(value, Level.SET, f"{name} {state} in the program, not {text!r}")
    return granted(value, Level.SET, observed or _show(expected))


def variable_matches(name: str, text: str, found: str | None) -> bool:
    """Return whether a variable has the expected text; a list may contain more."""
    if found is not None and name in LIST_VARIABLES:
        return contains(name, found, text)
    return found == text


def mapped_files(facts: RunFacts, prefixes: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the mapped files whose name has one of ``prefixes``; ``None`` if maps were not read.

    The launcher reports the maps as paths; a deleted file keeps its name.
    """
    maps = readback_of(facts).maps
    if maps is None:
        return None
    return tuple(path for path in maps if file_name(path).startswith(prefixes))


def file_name(path: str) -> str:
    """Return the last part of a path."""
    return path.rsplit("/", 1)[-1]


def judge_preloaded(value: Value, prefix: str, found: tuple[str, ...], kind: str) -> Grant:
    """Judge a preloaded library by the mapped libraries of its kind.

    Args:
        value: requested value.
        prefix: prefix of the file names of the library.
        found: mapped libraries of the same kind, as paths.
        kind: kind of the libraries, such as ``allocator``.
    """
    observed = ", ".join(found) or f"no {kind} library mapped"
    others = [path for path in found if not file_name(path).startswith(prefix)]
    if len(others) == len(found):
        return refused(value, Level.SEEN, NOT_MAPPED, observed)
    reason = f"another {kind} is mapped too, with lower precedence" if others else None
    return granted(value, Level.SEEN, observed, reason)


def _show(variables: Mapping[str, str]) -> str:
    if not variables:
        return "replaced by env settings"
    first, *others = (f"{name}={text}" for name, text in variables.items())
    return f"{first} and {len(others)} more" if len(others) > 2 else ", ".join((first, *others))


def without_user_variables(expected: dict[str, str], config: Configuration) -> dict[str, str]:
    """Return the variables that no ``env.NAME`` of the configuration sets."""
    return {name: text for name, text in expected.items() if f"env.{name}" not in config}
