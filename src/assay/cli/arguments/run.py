"""Command line of ``assay run`` as a request."""

from __future__ import annotations

import argparse

from assay.api.options.command_words import command_of
from assay.cli.arguments.reservation import reservation_of
from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError
from assay.records.observation import Observation
from assay.requests.run import RunRequest
from assay.requests.workload import BuildRequest

STDOUT = "-"
_REMEDY = "Name the study with --from STUDY."


def run_request(parsed: Parsed) -> RunRequest:
    """Return the request of a command line.

    Raises:
        InvalidInputError: the command and the study are missing, or an option is invalid.
        NotPossibleError: no permission to write the record.
    """
    arguments = parsed.arguments
    _demand_study(arguments)
    if arguments.observe is not None and not arguments.record and not arguments.explain:
        raise InvalidInputError(
            "--observe applies only with --record.", "Add --record FILE, or leave it out."
        )
    return RunRequest(
        argv=run_argv(parsed, study=arguments.study),
        settings=tuple(arguments.assignments),
        study=arguments.study,
        point=arguments.point,
        cell=arguments.cell,
        unproven=arguments.unproven,
        outputs_may_differ=arguments.outputs_may_differ,
        build=_build(arguments),
        reserve=reservation_of(arguments),
        record=_record(arguments.record),
        observe=_observations(arguments.observe),
        explain=arguments.explain,
    )


def run_argv(parsed: Parsed, *, study: str | None = None) -> tuple[str, ...] | None:
    """Return the command; ``None`` if the study provides it.

    Raises:
        InvalidInputError: the command is missing.
    """
    if study is not None and not parsed.separated:
        return None
    return command_of(parsed.command, separated=parsed.separated, shell=False)


def _demand_study(arguments: argparse.Namespace) -> None:
    """Raise on an option of recommendations without a study.

    Raises:
        InvalidInputError: such an option is given; names the first.
    """
    if arguments.study is not None:
        return
    if arguments.point is not None:
        raise InvalidInputError("--point selects a point of a study.", _REMEDY)
    if arguments.cell is not None:
        raise InvalidInputError(
            "--cell selects a cell of a study.", "Name the sweep or comparison with --from STUDY."
        )
    if arguments.unproven:
        raise InvalidInputError("--unproven needs a study.", _REMEDY)
    if arguments.outputs_may_differ:
        raise InvalidInputError("--outputs-may-differ needs a study.", _REMEDY)


def _build(arguments: argparse.Namespace) -> BuildRequest | None:
    if not (arguments.build or arguments.build_input or arguments.build_timeout):
        return None
    from assay.cli.arguments.workload import build_of  # most commands build nothing

    return build_of(arguments)


def _record(text: str | None) -> str | None:
    """Return the file of ``--record``, checked before the launch.

    Raises:
        InvalidInputError: a folder, or its folder is missing.
        NotPossibleError: no permission to write the file.
    """
    if not text or text == STDOUT:
        return text or None
    from pathlib import Path

    from assay.cli.files.output_file import demand_writable  # most commands record nothing

    path = Path(text)
    if path.is_dir():
        raise InvalidInputError(f"--record {path}: that is a folder.", "Specify a file.")
    demand_writable("--record", path)
    return text


def _observations(text: str | None) -> tuple[Observation, ...] | None:
    if text is None:
        return None
    from assay.api.options.observe import parse_observations

    return parse_observations(text)
