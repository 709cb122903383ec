"""``assay case``: the catalogue of workloads."""

from __future__ import annotations

from assay.cli.parsing.actions import demand_used, run_action
from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError

OF_ACTIONS = {
    "list": (),
    "show": ("size", "threads", "values", "name"),
    "run": (
        *("size", "threads", "values", "name", "variant", "budget", "runs", "seed"),
        *("disturbed_above", "output"),
    ),
}
"""What each action takes."""


def run(parsed: Parsed) -> int:
    """Run the verb."""
    arguments = parsed.arguments
    if arguments.action == "list" and arguments.name is not None:
        raise InvalidInputError(
            "`assay case list` takes no name.", f"`assay case show {arguments.name}` tells of one."
        )
    if arguments.action != "list" and arguments.name is None:
        raise InvalidInputError(
            f"`assay case {arguments.action}` is about one case.",
            "Name it: `assay case list` shows those there are.",
        )
    demand_used(arguments, OF_ACTIONS)
    return run_action(arguments)
