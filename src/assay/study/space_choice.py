"""Choice of the search space if the user names no settings."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import msgspec

from assay.errors import NotPossibleError
from assay.machine.document import Machine, Program
from assay.records import Choices, Configuration, Parameter, Plan, Scope, Space, Value
from assay.records.configuration import is_number, show_value
from assay.search.space.expression import Expression
from assay.search.space.search_space import same_value
from assay.settings.base import Suggestion
from assay.settings.inherited import inherited_parameters
from assay.settings.registry import Registry
from assay.settings.system.common import ONLY_ON_REQUEST


@dataclass(frozen=True)
class SpaceChoice:
    """Search space, with the reason for each omitted setting."""

    space: Space
    left_out: dict[str, str]


SYSTEM_WIDE = "system settings"
"""Name of all system settings in the list of omitted settings."""


def choose_space(
    registry: Registry,
    program: Program,
    machine: Machine,
    env: Mapping[str, str] = MappingProxyType({}),
) -> SpaceChoice:
    """Return the settings that may affect this program on this machine.

    Args:
        registry: all settings.
        program: the program, with results of its survey.
        machine: the machine as seen by programs.
        env: environment of launches; the absence of a variable in it is tried as well.
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
    """Return the space without values that the planner refuses, and the reasons.

    A setting without remaining values is removed, and so is one with only its default, unless an
    expression refers to it. Ranges with more than ``MAX_CHECKED_VALUES`` values and continuous
    ranges are unchanged; the race restricts itself to grantable values.

    Raises:
        NotPossibleError: a condition or constraint refers to a removed setting.
    """
    kept: list[Parameter] = []
    idle: list[Parameter] = []
    refused: dict[str, str] = {}
    unavailable: dict[str, str] = {}
    named = {name for text in _texts(space) for name in Expression(text).names}
    for parameter in space.parameters:
        values = parameter.domain.values()
        if values is None or len(values) > MAX_CHECKED_VALUES:
            kept.append(parameter)
            continue
        reasons = {value: _refusal(parameter, value, space, planner) for value in values}
        options = tuple(value for value, reason in reasons.items() if reason is None)
        refused |= _grouped_reasons(parameter.name, reasons)
        if len(options) == len(values):
            kept.append(parameter)
        elif options:
            ordered = not isinstance(parameter.domain, Choices) or parameter.domain.ordered
            narrowed = Choices(options, ordered=ordered)
            spare = parameter.name not in named and _no_choice(parameter, options)
            (idle if spare else kept).append(msgspec.structs.replace(parameter, domain=narrowed))
        else:
            unavailable[parameter.name] = next(r for r in reasons.values() if r is not None)
    kept = kept or idle  # keep requested grantable settings, even without alternatives
    _demand_named(msgspec.structs.replace(space, parameters=tuple(kept)), unavailable)
    return msgspec.structs.replace(space, parameters=tuple(kept)), refused


MAX_CHECKED_VALUES = 512
"""Maximum number of values of a setting that are checked before a study, at 0.1 ms each."""


def _grouped_reasons(name: str, reasons: dict[Value, str | None]) -> dict[str, str]:
    """Return the reasons of omitted values, with neighbouring numbers of one reason combined."""
    groups: list[tuple[list[Value], str]] = []
    before: str | None = None
    for value, reason in reasons.items():
        number = is_number(value)
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
    """Return the expressions of a space."""
    return [*space.constraints, *(p.condition for p in space.parameters if p.condition)]


def _no_choice(parameter: Parameter, options: tuple[Value, ...]) -> bool:
    """Return whether only the default can be granted."""
    return bool(options) and all(same_value(option, parameter.default) for option in options)


def _demand_named(space: Space, unavailable: dict[str, str]) -> None:
    """Raise an error for expressions over settings that cannot be varied here.

    Raises:
        NotPossibleError: names the setting and the reason of its removal.
    """
    for text in _texts(space):
        for name in sorted(Expression(text).names & unavailable.keys()):
            raise NotPossibleError(
                f"{text!r} refers to {name}, which cannot be varied here: {unavailable[name]}",
                f"Remove {name} from it, or specify other values for {name}.",
            )


def _refusal(
    parameter: Parameter, value: Value, space: Space, planner: Callable[[Configuration], Plan]
) -> str | None:
    """Return the reason why a value is refused alone and in all combinations of its condition."""

    def refusal(other_values: Mapping[str, Value]) -> str | None:
        plan = planner(Configuration({**other_values, parameter.name: value}))
        word = plan.settings.get(parameter.name)
        return word.reason if word is not None and parameter.name in plan.refused else None

    alone = refusal({})
    if alone is None or parameter.condition is None:
        return alone
    condition = Expression(parameter.condition)
    others = [p for p in space.parameters if p.name in condition.names - {parameter.name}]
    options = [(None, *(p.domain.values() or ())) for p in others]
    for values in itertools.islice(itertools.product(*options), MAX_CHECKED_VALUES):
        pairs = zip(others, values, strict=True)
        other_values = {other.name: value for other, value in pairs if value is not None}
        if (
            other_values
            and condition.holds(other_values, unknown=False)
            and refusal(other_values) is None
        ):
            return None
    return alone


def describe_space(space: Space) -> Iterable[str]:
    """Yield a line for each parameter: domain, condition and reason."""
    for parameter in space.parameters:
        when = f" when {parameter.condition}" if parameter.condition else ""
        reason = f"   {parameter.reason}" if parameter.reason else ""
        yield f"{parameter.name}={parameter.domain}{when}{reason}"
