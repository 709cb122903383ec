"""``assay case``: the catalogue of workloads."""

from __future__ import annotations

from assay.cli.arguments.case import demand_case_name
from assay.cli.parsing.actions import demand_used, run_action
from assay.cli.parsing.parser import Parsed

OPTIONS_BY_ACTION = {
    "list": (),
    "show": ("size", "threads", "values", "name"),
    "run": (
        *("size", "threads", "values", "name", "variant", "budget", "runs", "seed"),
        *("disturbed_above", "output"),
    ),
}
"""Options of each action."""


def run(parsed: Parsed) -> int:
    """Run the verb."""
    demand_case_name(parsed)
    demand_used(parsed, OPTIONS_BY_ACTION)
    return run_action(parsed)
