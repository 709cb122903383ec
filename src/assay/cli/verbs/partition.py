"""``assay partition``: CPUs and memory set apart for measured work, and who has shares of them."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable

from assay.cli.parser import Parsed
from assay.errors import BadInput

OF_ACTIONS = {
    "create": (
        *("cpus", "cores", "partial", "mem", "pages", "precise", "gpus", "idle"),
        *("no_machine_checks", "no_broker", "dry_run", "timeout"),
    ),
    "list": (),
    "start": ("timeout",),
    "delete": ("force", "timeout"),
}
"""The options of each action."""


def run(parsed: Parsed) -> int:
    """Run the verb."""
    arguments = parsed.arguments
    _demand_used(arguments)
    module = importlib.import_module(f"assay.cli.partition.{arguments.action}")
    run_action: Callable[[argparse.Namespace], int] = module.run
    return run_action(arguments)


def _demand_used(arguments: argparse.Namespace) -> None:
    """Refuse options that the action would leave unread.

    Raises:
        BadInput: names the first.
    """
    action = arguments.action
    known = {name for names in OF_ACTIONS.values() for name in names}
    for name in sorted(known - set(OF_ACTIONS[action])):
        if getattr(arguments, name):
            able = [other for other, names in OF_ACTIONS.items() if name in names]
            raise BadInput(
                f"`assay partition {action}` takes no --{name.replace('_', '-')}.",
                f"`assay partition {able[0]}` does.",
            )
