"""Command line of a launch: the workload's command with the values of a plan."""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.errors import InvalidInputError, nearest
from assay.records import Arg, Command, Plan, Workload, Wrap

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def placeholders_in(argv: tuple[str, ...]) -> set[str]:
    """Return the names in braces of a command, declared or not."""
    return {name for word in argv for name in _PLACEHOLDER.findall(word)}


INSTANCE = "instance"
"""Placeholder for the number of an instance."""


def command_of(plan: Plan, workload: Workload, instance: int | None = None) -> tuple[str, ...]:
    """Return program and arguments; undeclared braces remain unchanged.

    Args:
        plan: source of the placeholder values.
        workload: program to run.
        instance: number of the instance, if there are several.

    Raises:
        InvalidInputError: ``arg.NAME`` is set, but the command has no ``{NAME}``.
    """
    argv = next((a.argv for a in plan.actions if isinstance(a, Command)), workload.argv)
    wrap = tuple(word for a in plan.actions if isinstance(a, Wrap) for word in a.argv)
    args = {a.name: a.value for a in plan.actions if isinstance(a, Arg)}
    values = {**workload.placeholders, **args}
    if instance is not None:
        values[INSTANCE] = str(instance)
    used = placeholders_in(argv)
    for name in sorted(args.keys() - used):
        near = nearest(name, tuple(used))
        raise InvalidInputError(
            f"arg.{name} is set, but the command has no placeholder {{{name}}}.",
            f"Did you mean arg.{near}?" if near else f"Write {{{name}}} in the command.",
        )
    return wrap + tuple(_filled(word, values) for word in argv)


def _filled(word: str, values: Mapping[str, str]) -> str:
    # One pass: braces in a value are not replaced again.
    return _PLACEHOLDER.sub(lambda m: values.get(m[1], m[0]), word)
