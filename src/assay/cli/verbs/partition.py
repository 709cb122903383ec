"""``assay partition``: CPUs and memory reserved for measured work."""

from __future__ import annotations

from assay.cli.parsing.actions import demand_used, run_action
from assay.cli.parsing.parser import Parsed

OPTIONS_BY_ACTION = {
    "create": (
        *("cpus", "cores", "partial", "mem", "pages", "precise", "gpus", "idle"),
        *("no_machine_checks", "no_broker", "dry_run", "timeout"),
    ),
    "list": (),
    "start": ("timeout",),
    "delete": ("force", "timeout"),
}
"""Options of each action."""


def run(parsed: Parsed) -> int:
    """Run the verb."""
    demand_used(parsed, OPTIONS_BY_ACTION)
    return run_action(parsed)
