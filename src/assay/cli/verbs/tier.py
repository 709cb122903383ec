"""``assay tier``: storage as memory."""

from __future__ import annotations

from assay.cli.parsing.actions import demand_used
from assay.cli.parsing.parser import Parsed, parse

OF_ACTIONS = {
    "doctor": ("path", "json"),
    "run": (
        *("path", "dram", "how", "numa", "trace", "replay"),
        *("assignments", "reserve", "partition"),
        *("explain", "record"),
    ),
    "top": ("every", "json"),
    "predict": ("path", "dram", "numa", "for", "json"),
    "bench": ("path", "dram", "threads", "budget", "output", "json"),
}
"""The options of each action."""


def run(parsed: Parsed) -> int:
    """Run the verb."""
    demand_used(parsed.arguments, OF_ACTIONS)
    if parsed.arguments.action == "run":
        from assay.cli.verbs import run as launching

        return launching.run(_as_run(parsed))
    if parsed.arguments.action == "predict":
        from assay.cli.tier import predict

        return predict.run(parsed.arguments, parsed.command)
    from assay.cli.parsing.actions import run_action

    return run_action(parsed.arguments)


def _as_run(parsed: Parsed) -> Parsed:
    """``assay run`` with the settings that this verb is short for.

    Raises:
        InvalidInputError: one of them is missing.
        NotPossibleError: neither the pager nor the advisor can be had here.
    """
    from assay.cli.tier.free_space import free_space_assignments
    from assay.cli.tier.mechanism import choose_tier
    from assay.cli.tier.traces import trace_assignments

    arguments = parsed.arguments
    tier = choose_tier(arguments)
    of_run = parse(["run"]).arguments
    for name, value in vars(arguments).items():
        if name in vars(of_run) and name != "verb":
            setattr(of_run, name, value)
    of_run.assignments = [
        f"mem.dram={arguments.dram}",
        f"mem.tier={tier}",
        *([f"mem.numa={arguments.numa}"] if arguments.numa else []),
        *free_space_assignments(arguments.keep_free, tier),
        *trace_assignments(arguments, tier),
        *arguments.assignments,
    ]
    return parsed._replace(arguments=of_run)
