"""Choosing what to try when nothing was named."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec

from assay.errors import NotPossible
from assay.machine.document import Machine, Program
from assay.records import Choices, Configuration, Parameter, Plan, Space, Value
from assay.records.configuration import show_value
from assay.search.expression import Expression
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

    A setting that keeps no value leaves the space altogether. Ranges of more than
    ``MOST_VALUES`` values, and continuous ones, are left as they are; the race then keeps to what
    can be granted.

    Raises:
        NotPossible: a condition or constraint needs a setting that left the space.
    """
    kept: list[Parameter] = []
    refused: dict[str, str] = {}
    gone: dict[str, str] = {}
    for parameter in space.parameters:
        values = parameter.domain.values()
        if values is None or len(values) > MOST_VALUES:
            kept.append(parameter)
            continue
        reasons = {value: _refusal(parameter, value, planner) for value in values}
        options = tuple(value for value, reason in reasons.items() if reason is None)
        refused |= _told(parameter.name, reasons)
        if len(options) == len(values):
            kept.append(parameter)
        elif options:
            ordered = not isinstance(parameter.domain, Choices) or parameter.domain.ordered
            narrowed = Choices(options, ordered=ordered)
            kept.append(msgspec.structs.replace(parameter, domain=narrowed))
        else:
            gone[parameter.name] = next(r for r in reasons.values() if r is not None)
    _demand_named(space, kept, gone)
    return msgspec.structs.replace(space, parameters=tuple(kept)), refused


MOST_VALUES = 512
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


def _demand_named(space: Space, kept: list[Parameter], gone: dict[str, str]) -> None:
    """Refuse expressions about settings that cannot be varied here.

    Raises:
        NotPossible: names the setting and why it left.
    """
    texts = [*space.constraints, *(p.when for p in kept if p.when)]
    for text in texts:
        for name in sorted(Expression(text).names & gone.keys()):
            raise NotPossible(
                f"{text!r} needs {name}, of which nothing can be granted here: {gone[name]}",
                f"Leave {name} out of it, or give {name} other values.",
            )


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
