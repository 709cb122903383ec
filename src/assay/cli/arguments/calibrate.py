"""Command line of ``assay study calibrate`` as a request."""

from __future__ import annotations

import argparse

from assay.api.options.observe import parse_observations
from assay.cli.arguments.study_groups import disturbed_above_of, given_budget_of
from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError
from assay.records import Budget
from assay.requests.calibrate import DEFAULT_CALIBRATION_S, CalibrateRequest, OverheadRequest

UNUSED = {
    "runs": "Its budget is a time: --budget 3m.",
    "observe": "It measures every observation.",
    "disturbed_above": "Pairs are interleaved, and their median is taken.",
}
"""Options that ``--overhead`` does not take, with the reason."""


def calibrate_request(parsed: Parsed) -> CalibrateRequest | OverheadRequest:
    """Return the request of a command line.

    Raises:
        InvalidInputError: an unexpected word, or an invalid option.
    """
    arguments = parsed.arguments
    if arguments.study:
        raise InvalidInputError(
            f"`assay study calibrate` takes no study: {arguments.study!r}.",
            "Write the command after --: assay study calibrate -- ./app",
        )
    if arguments.overhead:
        return _overhead_request(parsed)
    argv = _argv(parsed, "Leave out -- as well to run the built-in load.")
    budget = given_budget_of(arguments)
    return CalibrateRequest(
        argv=argv,
        budget=Budget(time_s=DEFAULT_CALIBRATION_S) if budget == Budget() else budget,
        seed=arguments.seed or 0,
        disturbed_above=disturbed_above_of(arguments),
        observe=parse_observations(arguments.observe),
    )


def _overhead_request(parsed: Parsed) -> OverheadRequest:
    arguments = parsed.arguments
    argv = _argv(parsed, "Leave out -- as well to run the built-in loads.")
    _demand_used(arguments)
    return OverheadRequest(
        argv=argv,
        budget_s=given_budget_of(arguments).time_s or DEFAULT_CALIBRATION_S,
        seed=arguments.seed or 0,
    )


def _argv(parsed: Parsed, remedy: str) -> tuple[str, ...] | None:
    """Return the command after ``--``; ``None`` for the built-in load.

    Raises:
        InvalidInputError: the command is missing.
    """
    if not parsed.separated:
        return None
    if not parsed.command or not parsed.command[0]:
        raise InvalidInputError("The command after -- is missing.", remedy)
    return parsed.command


def _demand_used(arguments: argparse.Namespace) -> None:
    """Raise on an option that ``--overhead`` does not take.

    Raises:
        InvalidInputError: such an option is given; names the first.
    """
    for name, reason in UNUSED.items():
        if getattr(arguments, name):
            option = f"--{name.replace('_', '-')}"
            raise InvalidInputError(
                f"`assay study calibrate --overhead` takes no {option}.", reason
            )
