"""Command line of ``assay tune`` as a request."""

from __future__ import annotations

import argparse
import shlex

from assay.api.options.command_words import command_of
from assay.api.options.option_values import parse_slots
from assay.api.options.workload import several_objectives
from assay.cli.arguments.new_study import decision_fields, study_fields
from assay.cli.arguments.workload import workload_options
from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError
from assay.requests.tune import TuneRequest
from assay.search.races.single_objective import reject_options


def tune_request(parsed: Parsed) -> TuneRequest:
    """Return the request of a command line.

    Raises:
        InvalidInputError: the command is missing, or an option is invalid.
    """
    arguments = parsed.arguments
    if arguments.settings and not parsed.separated and "=" not in arguments.settings[0]:
        words = shlex.join(arguments.settings)
        raise InvalidInputError(
            "The command is missing.", f"Write it after --, as in: assay tune -- {words}"
        )
    argv = command_of(parsed.command, separated=parsed.separated, shell=arguments.shell)
    options = workload_options(arguments)
    objectives = several_objectives(options)
    if objectives:
        _demand_no_single_objective(arguments)
    return TuneRequest(
        **study_fields(arguments, options, argv),
        **decision_fields(arguments, options),
        settings=tuple(arguments.settings),
        space_file=arguments.space,
        constraints=tuple(arguments.constraint),
        objectives=objectives,
        parallel=parse_slots(arguments.parallel),
        warm_start=tuple(arguments.warm_start),
        dry_run=arguments.dry_run,
        fidelity=arguments.fidelity,
    )


def _demand_no_single_objective(arguments: argparse.Namespace) -> None:
    """Raise on options that a study with several objectives does not support.

    Raises:
        InvalidInputError: such an option is given.
    """
    reject_options(
        {
            "--require": arguments.require,
            "--parallel": arguments.parallel,
            "--warm-start": [word for word in arguments.warm_start if word != "none"],
        }
    )
