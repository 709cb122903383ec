"""Command line of ``assay sweep`` as a request."""

from __future__ import annotations

from msgspec import UNSET

from assay.api.options.observe import parse_observations
from assay.api.options.study_options import parse_margin
from assay.cli.arguments.boot import boot_request
from assay.cli.arguments.reservation import reservation_of
from assay.cli.arguments.study_groups import disturbed_above_of, given_budget_of
from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError
from assay.requests.sweep import SweepRequest


def is_schema_request(parsed: Parsed) -> bool:
    """Return whether the command line requests the JSON Schema of a sweep file."""
    schema: bool = parsed.arguments.schema
    return schema


def sweep_request(parsed: Parsed) -> SweepRequest:
    """Return the request of a command line.

    Raises:
        InvalidInputError: the file is missing, or an option is invalid.
    """
    arguments = parsed.arguments
    if arguments.file is None:
        raise InvalidInputError(
            "The sweep file is missing.", "Name it, as in: assay sweep experiment.toml"
        )
    if parsed.separated:
        raise InvalidInputError(
            "`assay sweep` takes no command on its own line.",
            "Write it into the file: command under [workload].",
        )
    limited = arguments.disturbed_above is not None
    return SweepRequest(
        file=arguments.file,
        budget=given_budget_of(arguments),
        seed=arguments.seed,
        margin=parse_margin(arguments.margin),
        null=arguments.null,
        disturbed_above=disturbed_above_of(arguments) if limited else UNSET,
        observe=parse_observations(arguments.observe),
        reserve=reservation_of(arguments),
        boot=boot_request(arguments),
        dry_run=arguments.dry_run,
    )
