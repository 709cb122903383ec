"""``assay machine``: description, check, comparison, settings and noise of this machine."""

from __future__ import annotations

from assay.cli.arguments.machine import demand_machine_words
from assay.cli.parsing.actions import demand_used, run_action
from assay.cli.parsing.parser import Parsed

OPTIONS_BY_ACTION = {
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
"""Options of each action."""


def run(parsed: Parsed) -> int:
    """Run the verb."""
    demand_machine_words(parsed)
    to_file = f"Send what it prints to a file: `assay machine {parsed.action} --json > FILE`."
    instead = {"output": to_file, "root": "It is about this machine as it runs."}
    demand_used(parsed, OPTIONS_BY_ACTION, instead)
    return run_action(parsed)
