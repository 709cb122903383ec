"""``assay machine``: what this machine is, whether it is fit, and setting and restoring it."""

from __future__ import annotations

import argparse

from assay.cli.parsing.actions import demand_used, run_action
from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError

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
    _demand_words_used(arguments)
    to_file = f"Send what it prints to a file: `assay machine {arguments.action} --json > FILE`."
    instead = {"output": to_file, "root": "It is about this machine as it runs."}
    demand_used(arguments, OF_ACTIONS, instead)
    return run_action(arguments)


def _demand_words_used(arguments: argparse.Namespace) -> None:
    """Refuse words that the action would leave unread.

    Raises:
        InvalidInputError: names the first.
    """
    action = arguments.action
    if "" in arguments.words:
        raise InvalidInputError(
            f"A word for `assay machine {action}` is empty.",
            "Is a variable of the shell not set?",
        )
    spare = arguments.words[WORDS.get(action, 0) :]
    if spare:
        raise InvalidInputError(
            f"Unexpected argument {spare[0]!r} for `assay machine {action}`.",
            f"A profile is named by an option: `assay machine check --profile {spare[0]}`."
            if action == "check"
            else "`assay machine --help` shows what it takes.",
        )
