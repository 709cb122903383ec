"""Command line of ``assay measure`` as a request."""

from __future__ import annotations

from assay.api.options.command_words import command_of
from assay.api.options.study_options import parse_gate, parse_precision, parse_warmup
from assay.api.options.workload import demand_one_objective, parse_statistic
from assay.cli.arguments.new_study import study_fields
from assay.cli.arguments.workload import workload_options
from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError
from assay.records import Statistic
from assay.requests.measure import MeasureRequest
from assay.search.claims.gate import SINGLE_ARM_CONDITIONS


def measure_request(parsed: Parsed) -> MeasureRequest:
    """Return the request of a command line.

    Raises:
        InvalidInputError: the command is missing, or an option is invalid.
    """
    arguments = parsed.arguments
    options = workload_options(arguments)
    gate = parse_gate(arguments.fail_if, SINGLE_ARM_CONDITIONS)
    demand_one_objective(options, parsed.verb)
    if parse_statistic(options.objective) is not Statistic.MEAN:
        raise InvalidInputError(
            "measure takes the mean as its objective; it also prints quartiles and spread.",
            "Name the metric alone; compare, tune and sweep decide by :median or :spread.",
        )
    argv = command_of(parsed.command, separated=parsed.separated, shell=arguments.shell)
    return MeasureRequest(
        **study_fields(arguments, options, argv),
        settings=tuple(arguments.assignments),
        precision=parse_precision(arguments.precision),
        warmup=parse_warmup(arguments.warmup),
        gate=gate,
    )
