"""Choosing what to try when nothing was named."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import msgspec

from assay.errors import NotPossibleError
from assay.machine.document import Machine, Program
from assay.records import Choices, Configuration, Parameter, Plan, Scope, Space, Value
from assay.records.configuration import show_value
from assay.search.space.expression import Expression
from assay.search.space.search_space import same_value
from assay.settings.base import Suggestion
from assay.settings.inherited import inherited_parameters
from assay.settings.registry import Registry
from assay.settings.system.common import ONLY_ON_REQUEST


@dataclass(frozen=True)
class SpaceChoice:
    """A space, and for every setting that is not in it the reason why."""

    space: Space
    left_out: dict[str, str]


SYSTEM_WIDE = "system settings"
"""Stands for all of them where it is said what is not tried."""


def choose_space(
    registry: Registry,
    program: Program,
    machine: Machine,
    env: Mapping[str, str] = MappingProxyType({}),
) -> SpaceChoice:
    """Return the settings that can matter for this program on this machine.

    Args:
        registry: all settings.
        program: with what its first launch showed.
        machine: as programs have it.
        env: that launches start from; the absence of a setting in it is tried as well.
    """
    parameters = []
    left_out = {}
    for setting in registry:
        if setting.scope is Scope.SYSTEM:
            left_out[SYSTEM_WIDE] = ONLY_ON_REQUEST
            continue
        answer = setting.suggest(program, machine)
        if isinstance(answer, Suggestion):
            parameters.append(
                Parameter(
                    name=setting.name,
                    domain=answer.domain,
                    default=setting.default(machine),
                    reason=answer.reason,
                )
            )
        else:
            left_out[setting.name] = answer
    parameters += inherited_parameters(env, program)
    return SpaceChoice(Space(parameters=tuple(parameters)), left_out)


def grantable_space(
    space: Space, planner: Callable[[Configuration], Plan]
) -> tuple[Space, dict[str, str]]:
    """The space without values that the planner refuses, and why each was left out.

    A setting that keeps no value leaves the space altogether, and so does one that keeps nothing
    but its default, which is no choice, unless an expression names it. Ranges of more than
    ``MAX_CHECKED_VALUES`` values, and continuous ones, are left as they are; the race then keeps to what
    can be granted.

    Raises:
        NotPossibleError: a condition or constraint needs a setting that left the space.
    """
    kept: list[Parameter] = []
    idle: list[Parameter] = []
    refused: dict[str, str] = {}
    gone: dict[str, str] = {}
    named = {name for text in _texts(space) for name in Expression(text).names}
    for parameter in space.parameters:
        values = parameter.domain.values()
        if values is None or len(values) > MAX_CHECKED_VALUES:
            kept.append(parameter)
            continue
        reasons = {value: _refusal(parameter, value, space, planner) for value in values}
        options = tuple(value for value, reason in reasons.items() if reason is None)
        refused |= _told(parameter.name, reasons)
        if len(options) == len(values):
            kept.append(parameter)
        elif options:
            ordered = not isinstance(parameter.domain, Choices) or parameter.domain.ordered
            narrowed = Choices(options, ordered=ordered)
            spare = parameter.name not in named and _no_choice(parameter, options)
            (idle if spare else kept).append(msgspec.structs.replace(parameter, domain=narrowed))
        else:
            gone[parameter.name] = next(r for r in reasons.values() if r is not None)
    kept = kept or idle  # what was asked for and is had is not refused, were it no choice
    _demand_named(msgspec.structs.replace(space, parameters=tuple(kept)), gone)
    return msgspec.structs.replace(space, parameters=tuple(kept)), refused


MAX_CHECKED_VALUES = 512
"""Of one setting, that are held against the planner before a study: 0.1 ms each."""


def _told(name: str, reasons: dict[Value, str | None]) -> dict[str, str]:
    """Why values are left out; neighbouring numbers that share a reason are told together."""
    groups: list[tuple[list[Value], str]] = []
    before: str | None = None
    for value, reason in reasons.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if reason is not None and reason == before and number:
            groups[-1][0].append(value)
        elif reason is not None:
            groups.append(([value], reason))
        before = reason
    return {
        f"{name}={show_value(values[0])}"
        + (f"..{show_value(values[-1])}" if len(values) > 1 else ""): reason
        for values, reason in groups
    }


def _texts(space: Space) -> list[str]:
    """The expressions of a space."""
    return [*space.constraints, *(p.when for p in space.parameters if p.when)]


def _no_choice(parameter: Parameter, options: tuple[Value, ...]) -> bool:
    """Whether what can be granted is the default alone."""
    return bool(options) and all(same_value(option, parameter.default) for option in options)


def _demand_named(space: Space, gone: dict[str, str]) -> None:
    """Refuse expressions about settings that cannot be varied here.

    Raises:
        NotPossibleError: names the setting and why it left.
    """
    for text in _texts(space):
        for name in sorted(Expression(text).names & gone.keys()):
            raise NotPossibleError(
                f"{text!r} needs {name}, of which nothing can be granted here: {gone[name]}",
                f"Leave {name} out of it, or give {name} other values.",
            )


def _refusal(
    parameter: Parameter, value: Value, space: Space, planner: Callable[[Configuration], Plan]
) -> str | None:
    """Why a value is refused alone, and in all company that its condition names."""

    def refusal(company: Mapping[str, Value]) -> str | None:
        plan = planner(Configuration({**company, parameter.name: value}))
        word = plan.words.get(parameter.name)
        return word.reason if word is not None and parameter.name in plan.refused else None

    alone = refusal({})
    if alone is None or parameter.when is None:
        return alone
    condition = Expression(parameter.when)
    others = [p for p in space.parameters if p.name in condition.names - {parameter.name}]
    options = [(None, *(p.domain.values() or ())) for p in others]
    for values in itertools.islice(itertools.product(*options), MAX_CHECKED_VALUES):
        pairs = zip(others, values, strict=True)
        company = {other.name: value for other, value in pairs if value is not None}
        if company and condition.holds(company, unknown=False) and refusal(company) is None:
            return None
    return alone


def describe_space(space: Space) -> Iterable[str]:
    """One line for each parameter: its domain, and why it is tried."""
    for parameter in space.parameters:
        when = f" when {parameter.when}" if parameter.when else ""
        reason = f"   {parameter.reason}" if parameter.reason else ""
        yield f"{parameter.name}={parameter.domain}{when}{reason}"
