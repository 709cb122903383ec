"""Exported environment variables that a configuration overrides.

The default leaves exported variables unchanged: they belong to *the default*, the baseline of a
study.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from assay.records import Configuration, EnvSet, EnvUnset, Plan, Range, Space, Value
from assay.records.domain import Domain
from assay.settings.inherited import format_variables, inherited_settings
from assay.settings.list_variables import LIST_VARIABLES
from assay.untrusted import clean


def overridden(plan: Plan, env: Mapping[str, str]) -> dict[str, str]:
    """Return the exported variables that the plan sets to another value, with that value.

    Lists that settings share are omitted, since they keep their exported entries.
    """
    return {
        action.name: action.value
        for action in plan.actions
        if isinstance(action, EnvSet)
        and action.name not in LIST_VARIABLES
        and env.get(action.name, action.value) != action.value
    }


def plan_notes(plan: Plan, env: Mapping[str, str]) -> Iterable[str]:
    """Yield a line for each exported variable that the plan overrides, unsets or keeps."""
    for name, value in overridden(plan, env).items():
        yield clean(f"{_default_text(name, env)}, this configuration sets {value}")
    unset = {action.name for action in plan.actions if isinstance(action, EnvUnset)}
    own = {action.name for action in plan.actions if isinstance(action, EnvSet)}
    found = inherited_settings(env)
    for name in sorted(unset & env.keys()):
        yield clean(f"{_default_text(name, env)}, this configuration unsets it")
    for name, value in found.items():
        if name not in unset | own:
            yield clean(f"{format_variables({name: value})} is already exported and remains set")


def space_notes(
    space: Space, planner: Callable[[Configuration], Plan], env: Mapping[str, str]
) -> Iterable[str]:
    """Yield a line for each exported variable that some value in the space overrides."""
    found = {
        name
        for parameter in space.parameters
        for value in _samples(parameter.domain)
        for name in overridden(planner(Configuration({parameter.name: value})), env)
    }
    for name in sorted(found):
        yield clean(_default_text(name, env))


def _default_text(name: str, env: Mapping[str, str]) -> str:
    return f"{name}={env[name]} is already exported: the default keeps it"


def _samples(domain: Domain) -> tuple[Value, ...]:
    """Return values that show which variables a setting needs; of a range its two ends."""
    if isinstance(domain, Range):
        return (domain.at(0.0), domain.at(1.0))
    return domain.values() or ()
