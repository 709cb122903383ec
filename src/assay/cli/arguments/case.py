"""Command line of ``assay case`` as requests, one for each action."""

from __future__ import annotations

import argparse
from pathlib import Path

from assay.cli.arguments.study_groups import budget_of, disturbed_above_of
from assay.cli.files.output_file import output_path
from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError
from assay.requests.case import DEFAULT_SIZE, CaseRunRequest, CaseShowRequest


def demand_case_name(parsed: Parsed) -> None:
    """Raise if the name of a case is missing, or not expected.

    Raises:
        InvalidInputError: a name for ``list``, or none for another action.
    """
    name = parsed.arguments.name
    if parsed.action == "list" and name is not None:
        raise InvalidInputError(
            "`assay case list` takes no name.", f"`assay case show {name}` describes one."
        )
    if parsed.action != "list" and name is None:
        raise InvalidInputError(
            f"`assay case {parsed.action}` needs the name of a case.",
            "`assay case list` lists all cases.",
        )


def show_request(parsed: Parsed) -> CaseShowRequest:
    """Return the request of ``assay case show``.

    Raises:
        InvalidInputError: a word that is not PARAMETER=N.
    """
    arguments = parsed.arguments
    return CaseShowRequest(
        name=arguments.name,
        size=arguments.size or DEFAULT_SIZE,
        parameters=_parameters(arguments),
        threads=arguments.threads,
    )


def run_request(parsed: Parsed) -> CaseRunRequest:
    """Return the request of ``assay case run``.

    Raises:
        InvalidInputError: a word that is not PARAMETER=N, or an invalid option.
    """
    arguments = parsed.arguments
    return CaseRunRequest(
        name=arguments.name,
        size=arguments.size or DEFAULT_SIZE,
        parameters=_parameters(arguments),
        threads=arguments.threads,
        variants=tuple(arguments.variant),
        budget=budget_of(arguments),
        seed=arguments.seed,
        disturbed_above=disturbed_above_of(arguments),
    )


def roofline_path(parsed: Parsed) -> Path | None:
    """Return the file of the roofline; ``None`` for none.

    Raises:
        InvalidInputError: an unknown suffix, or a missing folder.
    """
    output = parsed.arguments.output
    return output_path("--output", output, (".svg",)) if output else None


def _parameters(arguments: argparse.Namespace) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in arguments.values:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise InvalidInputError(
                f"Invalid parameter: {text!r}.",
                f"Write PARAMETER=N: `assay case show {arguments.name}` lists the parameters.",
            )
        found[name] = value
    return found
