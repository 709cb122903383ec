"""Choosing what to try when nothing was named."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec

from assay.machine.document import Machine, Program
from assay.records import Choices, Configuration, Parameter, Plan, Space, Value
from assay.settings.base import Suggestion
from assay.settings.registry import Registry


@dataclass(frozen=True)
class Chosen:
    """A space, and for every setting that is not in it the reason why."""

    space: Space
    left_out: dict[str, str]


def choose(registry: Registry, program: Program, machine: Machine) -> Chosen:
    """The settings that can matter for this program on this machine."""
    parameters = []
    left_out = {}
    for setting in registry:
        answer = setting.matters(program, machine)
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
    return Chosen(Space(parameters=tuple(parameters)), left_out)


def grantable(
    space: Space, planner: Callable[[Configuration], Plan]
) -> tuple[Space, dict[str, str]]:
    """The space without values that the planner refuses, and why each was left out.

    A setting that keeps no value leaves the space altogether.
    """
    kept = []
    refused: dict[str, str] = {}
    for parameter in space.parameters:
        domain = parameter.domain
        if not isinstance(domain, Choices):
            kept.append(parameter)
            continue
        options: list[Value] = []
        for value in domain.options:
            reason = _refusal(parameter, value, planner)
            if reason is None:
                options.append(value)
            else:
                refused[f"{parameter.name}={value}"] = reason
        if options:
            narrowed = Choices(tuple(options), domain.ordered)
            kept.append(msgspec.structs.replace(parameter, domain=narrowed))
    return msgspec.structs.replace(space, parameters=tuple(kept)), refused


def _refusal(
    parameter: Parameter, value: Value, planner: Callable[[Configuration], Plan]
) -> str | None:
    plan = planner(Configuration({parameter.name: value}))
    word = plan.words.get(parameter.name)
    return word.reason if word is not None and parameter.name in plan.refused else None


def describe(space: Space) -> Iterable[str]:
    """One line for each parameter: its domain, and why it is tried."""
    for parameter in space.parameters:
        when = f" when {parameter.when}" if parameter.when else ""
        reason = f"   {parameter.reason}" if parameter.reason else ""
        yield f"{parameter.name}={parameter.domain}{when}{reason}"
