"""``assay machine``: what this machine is, whether it is fit, and setting and restoring it."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable

from assay.cli.parser import Parsed
from assay.errors import BadInput

OF_ACTIONS = {
    "show": ("root", "output"),
    "check": ("root", "profile"),
    "snapshot": ("root", "output"),
    "diff": ("root",),
    "apply": ("dry_run",),
    "restore": ("dry_run", "force"),
    "noise": (
        "cpus",
        "output",
        "seconds",
        "quantum",
        "threshold",
        "figures",
        "tool",
    ),
}
"""The options of each action."""
WORDS = {"diff": 2, "apply": 1, "noise": 3}
"""How many words an action takes at most."""


def run(parsed: Parsed) -> int:
    """Run the verb."""
    arguments = parsed.arguments
    _demand_used(arguments)
    module = importlib.import_module(f"assay.cli.machine.{arguments.action}")
    run_action: Callable[[argparse.Namespace], int] = module.run
    return run_action(arguments)


def _demand_used(arguments: argparse.Namespace) -> None:
    """Refuse words and options that the action would leave unread.

    Raises:
        BadInput: names the first.
    """
    action = arguments.action
    if "" in arguments.words:
        raise BadInput(
            f"A word for `assay machine {action}` is empty.",
            "Is a variable of the shell not set?",
        )
    spare = arguments.words[WORDS.get(action, 0) :]
    if spare:
        raise BadInput(
            f"{spare[0]!r} is one word too many for `assay machine {action}`.",
            f"A profile is named by an option: `assay machine check --profile {spare[0]}`."
            if action == "check"
            else "`assay machine --help` shows what it takes.",
        )
    known = {name for names in OF_ACTIONS.values() for name in names}
    for name in sorted(known - set(OF_ACTIONS[action])):
        if getattr(arguments, name):
            raise BadInput(
                f"`assay machine {action}` takes no --{name.replace('_', '-')}.",
                _hint(action, name),
            )


def _hint(action: str, option: str) -> str:
    """What to do in place of an option that an action does not take."""
    if option == "output":
        return f"Send what it prints to a file: `assay machine {action} --json > FILE`."
    if option == "root":
        return "It is about this machine as it runs."
    able = [other for other, names in OF_ACTIONS.items() if option in names]
    return f"`assay machine {able[0]}` does."
