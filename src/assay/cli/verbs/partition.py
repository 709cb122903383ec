"""``assay partition``: CPUs and memory set apart for measured work, and who has shares of them."""

from __future__ import annotations

from assay.cli.parsing.actions import demand_used, run_action
from assay.cli.parsing.parser import Parsed

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
    demand_used(parsed.arguments, OF_ACTIONS)
    return run_action(parsed.arguments)
