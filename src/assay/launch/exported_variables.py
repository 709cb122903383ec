"""Exported variables that a configuration would set otherwise.

The default leaves what is exported as it is: it belongs to *the default*, which a study holds
everything against.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from assay.records import Configuration, EnvSet, EnvUnset, Plan, Range, Space, Value
from assay.records.domain import Domain
from assay.settings.inherited import inherited_settings, inherited_words
from assay.settings.joined import JOINED
from assay.untrusted import clean


def overridden(plan: Plan, env: Mapping[str, str]) -> dict[str, str]:
    """Variables that the plan sets otherwise than they are exported, and what it sets them to.

    Lists that settings share are left out: they keep what they held.
    """
    return {
        action.name: action.value
        for action in plan.actions
        if isinstance(action, EnvSet)
        and action.name not in JOINED
        and env.get(action.name, action.value) != action.value
    }


def plan_notes(plan: Plan, env: Mapping[str, str]) -> Iterable[str]:
    """Yield a line for each variable that the plan sets otherwise or unsets, or that stays."""
    for name, value in overridden(plan, env).items():
        yield clean(f"{_kept(name, env)}, this configuration sets {value}")
    unset = {action.name for action in plan.actions if isinstance(action, EnvUnset)}
    own = {action.name for action in plan.actions if isinstance(action, EnvSet)}
    found = inherited_settings(env)
    for name in sorted(unset & env.keys()):
        yield clean(f"{_kept(name, env)}, this configuration unsets it")
    for name, value in found.items():
        if name not in unset | own:
            yield clean(f"{inherited_words({name: value})} is exported already, and stays")


def space_notes(
    space: Space, planner: Callable[[Configuration], Plan], env: Mapping[str, str]
) -> Iterable[str]:
    """One line for each variable that some value in the space sets otherwise."""
    found = {
        name
        for parameter in space.parameters
        for value in _samples(parameter.domain)
        for name in overridden(planner(Configuration({parameter.name: value})), env)
    }
    for name in sorted(found):
        yield clean(_kept(name, env))


def _kept(name: str, env: Mapping[str, str]) -> str:
    return f"{name}={env[name]} is exported already: the default keeps it"


def _samples(domain: Domain) -> tuple[Value, ...]:
    """Values that show which variables a setting needs; a range is shown by its ends."""
    if isinstance(domain, Range):
        return (domain.at(0.0), domain.at(1.0))
    return domain.values() or ()
