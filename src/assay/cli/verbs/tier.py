"""``assay tier``: storage as memory."""

from __future__ import annotations

from assay.cli.parsing.actions import demand_used, run_action
from assay.cli.parsing.parser import Parsed

OPTIONS_BY_ACTION = {
    "doctor": ("path", "json"),
    "run": (
        *("path", "dram", "how", "numa", "keep_free", "trace", "replay"),
        *("assignments", "reserve", "partition"),
        *("explain", "record"),
    ),
    "top": ("every", "json"),
    "predict": ("path", "dram", "numa", "for", "json"),
    "bench": ("path", "dram", "threads", "work", "data", "budget", "output", "json"),
}
"""Options of each action."""


def run(parsed: Parsed) -> int:
    """Run the verb."""
    demand_used(parsed, OPTIONS_BY_ACTION)
    if parsed.action == "run":
        from assay.cli.tier.launch import run_with_tier

        return run_with_tier(parsed)
    return run_action(parsed)
