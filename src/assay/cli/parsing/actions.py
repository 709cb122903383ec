"""Acting: verbs with actions, each in a module of its own and with options of its own."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Mapping

from assay.errors import InvalidInputError

OfActions = Mapping[str, tuple[str, ...]]
"""The options of each action of a verb."""


def run_action(arguments: argparse.Namespace) -> int:
    """Run an action, which is loaded only now; gives its exit status."""
    module = importlib.import_module(f"assay.cli.{arguments.verb}.{arguments.action}")
    run: Callable[[argparse.Namespace], int] = module.run
    return run(arguments)


def demand_used(
    arguments: argparse.Namespace, options: OfActions, instead: Mapping[str, str] | None = None
) -> None:
    """Refuse options that the action would leave unread.

    Args:
        arguments: of the verb.
        options: of each of its actions.
        instead: what to do in place of an option; else an action is named that takes it.

    Raises:
        InvalidInputError: names the first.
    """
    verb, action = arguments.verb, arguments.action
    known = {name for names in options.values() for name in names}
    for name in sorted(known - set(options[action])):
        if getattr(arguments, name):
            able = next(other for other, names in options.items() if name in names)
            raise InvalidInputError(
                f"`assay {verb} {action}` takes no --{name.replace('_', '-')}.",
                (instead or {}).get(name, f"`assay {verb} {able}` does."),
            )
