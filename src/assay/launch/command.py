"""The command of a launch: the workload's words with the plan's values in them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.errors import InvalidInputError, nearest
from assay.records import Arg, Command, Plan, Workload, Wrap

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def placeholders_in(argv: tuple[str, ...]) -> set[str]:
    """Names that stand in braces in a command, declared or not."""
    return {name for word in argv for name in _PLACEHOLDER.findall(word)}


INSTANCE = "instance"
"""The placeholder that is the number of an instance."""


def command_of(plan: Plan, workload: Workload, instance: int | None = None) -> tuple[str, ...]:
    """Program and arguments; declared placeholders replaced, other braces left alone.

    Args:
        plan: gives values to placeholders.
        workload: what runs.
        instance: number of one of several instances.

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
            f"arg.{name} is set, but the command holds no {{{name}}}.",
            f"Did you mean arg.{near}?" if near else f"Put {{{name}}} where the value belongs.",
        )
    return wrap + tuple(_filled(word, values) for word in argv)


def _filled(word: str, values: Mapping[str, str]) -> str:
    # One pass: braces within a value are not replaced again.
    return _PLACEHOLDER.sub(lambda m: values.get(m[1], m[0]), word)
