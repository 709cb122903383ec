"""Actions of verbs: each is a module of its own, with its own options."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping

from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError

OptionsByAction = Mapping[str, tuple[str, ...]]
"""Names of the options that each action of a verb takes."""

_SPELLINGS = {"assignments": "SETTING=VALUE"}
"""Spelling of arguments whose name in the namespace is not that of an option."""


def run_action(parsed: Parsed) -> int:
    """Load the module of an action, run it, and return its exit status."""
    module = importlib.import_module(f"assay.cli.{parsed.verb}.{parsed.action}")
    run: Callable[[Parsed], int] = module.run
    return run(parsed)


def demand_used(
    parsed: Parsed, options: OptionsByAction, instead: Mapping[str, str] | None = None
) -> None:
    """Raise an error if the action ignores one of the given options.

    Args:
        parsed: command line of the verb.
        options: options of each of its actions.
        instead: remedy by option; by default the message names an action that takes the option.

    Raises:
        InvalidInputError: an option that the action does not take; names the first.
    """
    verb, action = parsed.verb, parsed.action
    known = {name for names in options.values() for name in names}
    for name in sorted(known - set(options[action])):
        if getattr(parsed.arguments, name):
            able = next(other for other, names in options.items() if name in names)
            raise InvalidInputError(
                f"`assay {verb} {action}` takes no {_spelling(name)}.",
                (instead or {}).get(name, f"`assay {verb} {able}` does."),
            )


def _spelling(name: str) -> str:
    return _SPELLINGS.get(name) or f"--{name.replace('_', '-')}"
