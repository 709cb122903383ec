"""Workload: its request, from texts of options, and the workload itself, in a space."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from assay.api.options.command_words import build_words, split_command
from assay.api.options.metrics import objectives_of, parse_metrics, reported_metrics
from assay.api.options.missing import demand_in_path
from assay.api.options.option_values import parse_count, parse_pair, parse_quantity
from assay.api.options.recipe import build_request, resolve_recipe
from assay.api.options.workload_options import WorkloadOptions
from assay.errors import InvalidInputError, nearest
from assay.executors.metrics.matching import checked_pattern
from assay.launch.command import placeholders_in
from assay.records import (
    Configuration,
    Hooks,
    Limits,
    Metric,
    Parameter,
    Requirement,
    Statistic,
    Workload,
)
from assay.records.workload import BUILT_IN
from assay.requests.workload import MAX_GRACE_S, WorkloadRequest
from assay.search.claims.requirement import parse_requirements
from assay.units import parse_bytes, parse_duration_s


def workload_request(options: WorkloadOptions, argv: tuple[str, ...]) -> WorkloadRequest:
    """Return the workload that the options describe.

    Args:
        options: texts of the options.
        argv: words of the command.

    Raises:
        InvalidInputError: an invalid option.
    """
    grace_s = _grace_s(options.grace) if options.grace else None
    if options.stop is not None and grace_s == 0.0:
        raise InvalidInputError(
            "--stop would never run: --grace 0s kills the program at once.",
            "Give it time, as --grace 10s, or leave one of the two out.",
        )
    return WorkloadRequest(
        argv=argv,
        metrics=parse_metrics(options),
        reported=reported_metrics(options),
        check=checked_pattern(options.check, "--check") if options.check else None,
        timeout_s=(
            parse_quantity("--timeout", options.timeout, parse_duration_s)
            if options.timeout
            else None
        ),
        grace_s=grace_s,
        outputs_may_differ=options.outputs_may_differ,
        stdin=_input(options.input) if options.input else None,
        limits=_limits(options.limit),
        hooks=_hooks(options),
        build=build_request(
            build_words(options.build, options.shell), options.build_input, options.build_timeout
        ),
    )


def resolve_workload(
    request: WorkloadRequest,
    parameters: tuple[Parameter, ...] = (),
    configurations: Sequence[Configuration] = (),
) -> Workload:
    """Return the workload of a request with the placeholders of a space.

    Args:
        request: requested workload.
        parameters: parameters of the space; ``arg.NAME`` and ``build.NAME`` declare a placeholder,
            ``env.NAME`` a default.
        configurations: named configurations; their values of ``build.NAME`` are declared as well.

    Raises:
        InvalidInputError: a parameter without a placeholder, or an invalid build.
    """
    return Workload(
        argv=request.argv,
        placeholders=_placeholders(parameters, request.argv),
        environment={
            p.name.removeprefix("env."): str(p.default)
            for p in parameters
            if p.name.startswith("env.") and p.default is not None
        },
        metrics=request.metrics,
        requested_metrics=request.reported,
        check=request.check,
        timeout_s=request.timeout_s,
        grace_s=request.grace_s,
        outputs_may_differ=request.outputs_may_differ,
        stdin=request.stdin,
        cwd=request.cwd or os.getcwd(),  # noqa: PTH109 - a path of the launch, not one to work with
        limits=request.limits,
        hooks=request.hooks,
        build=resolve_recipe(request.build, request.argv, parameters, configurations),
    )


def _grace_s(text: str) -> float:
    """Return the grace period, in seconds; ``0s`` kills at once.

    Raises:
        InvalidInputError: an invalid time, or one longer than a day.
    """
    if _ZERO_TIME.fullmatch(text):
        return 0.0
    found = parse_quantity("--grace", text, parse_duration_s)
    if found > MAX_GRACE_S:
        raise InvalidInputError(
            f"--grace {text} is longer than a day.", "Write for example --grace 30s."
        )
    return found


def _hooks(options: WorkloadOptions) -> Hooks:
    """Return the commands around the launches.

    Raises:
        InvalidInputError: a command is invalid, or its program is missing (``--setup`` may create
            it).
    """
    found: dict[str, tuple[str, ...]] = {}
    for name in Hooks.__struct_fields__:
        text = getattr(options, name)
        if text is None:
            continue
        try:
            found[name] = split_command(text, shell=bool(options.shell))
            if name == "setup" or "setup" not in found:
                demand_in_path(found[name][0])
        except InvalidInputError as error:
            raise InvalidInputError(f"--{name}: {error.cause}", error.remedy) from error
    return Hooks(**found)


def _placeholders(parameters: tuple[Parameter, ...], argv: tuple[str, ...]) -> dict[str, str]:
    found = placeholders_in(argv)
    declared = {}
    for parameter in parameters:
        if not parameter.name.startswith("arg."):
            continue
        name = parameter.name.removeprefix("arg.")
        if name not in found:
            near = nearest(name, tuple(found))
            raise InvalidInputError(
                f"arg.{name} has no placeholder: the command does not contain {{{name}}}.",
                f"Did you mean arg.{near}?" if near else f"Write {{{name}}} where it belongs.",
            )
        declared[name] = str(parameter.default)
    return declared


def several_objectives(options: WorkloadOptions) -> tuple[str, ...]:
    """Return the objectives if there are several; empty for a single one.

    Raises:
        InvalidInputError: an objective is given twice, or there are too many.
    """
    names = objectives_of(options)
    return tuple(names) if len(names) > 1 else ()


def demand_one_objective(options: WorkloadOptions, verb: str) -> None:
    """Raise on several objectives of a verb that decides by a single one.

    Raises:
        InvalidInputError: there are several.
    """
    if len(objectives_of(options)) > 1:
        raise InvalidInputError(
            f"`assay {verb}` takes one --objective.",
            "`assay tune` supports several; --metric reads further figures.",
        )


def parse_statistic(objectives: Sequence[str]) -> Statistic:
    """Return the statistic of the objective, as in ``NAME:median``; the mean by default.

    Args:
        objectives: values of ``--objective``.

    Raises:
        InvalidInputError: an unknown statistic, or several objectives with another than the mean.
    """
    several = len(objectives) > 1
    found = Statistic.MEAN
    for objective in objectives:
        _, colon, text = objective.partition(":")
        if not colon:
            continue
        if text not in tuple(Statistic):
            near = nearest(text, tuple(Statistic))
            raise InvalidInputError(
                f"--objective: unknown statistic {text!r}.",
                f"Did you mean {near}?" if near else f"Write one of {', '.join(Statistic)}.",
            )
        found = Statistic(text)
        if several and found is not Statistic.MEAN:
            raise InvalidInputError(
                f"--objective {objective}: several objectives are compared by their means.",
                "Name the metrics alone.",
            )
    return found


def requirements_of(texts: Sequence[str], metrics: Sequence[Metric]) -> tuple[Requirement, ...]:
    """Return the requirements of ``--require``.

    Args:
        texts: values of the option.
        metrics: metrics of the workload.

    Raises:
        InvalidInputError: an invalid requirement, or one that cannot be met.
    """
    return parse_requirements(texts, BUILT_IN | {metric.name: metric for metric in metrics})


def _input(path: str) -> str:
    if not Path(path).is_file():
        raise InvalidInputError(
            f"The input {path} is not a file.", "Name a file that can be read again."
        )
    return str(Path(path).resolve())


_ZERO_TIME = re.compile(r"0+(?:s|ms)?")

MIN_MEMORY_BYTES = 2**20
"""Smallest memory limit: no program starts with less, since the kernel charges a new process."""
MAX_PROCESSES = 2**22
"""Largest number of processes of Linux (``PID_MAX_LIMIT``)."""


def _limits(text: str | None) -> Limits:
    """Return the limits of ``--limit mem=2G,procs=64,cpu=30s,output=1G``.

    Raises:
        InvalidInputError: a limit is unknown, given twice or too small.
    """
    if text is None:
        return Limits()
    found: dict[str, str] = {}
    known = ("mem", "procs", "cpu", "output")
    for part in text.split(","):
        name, value = parse_pair(part, "--limit")
        if name not in known:
            near = nearest(name, known)
            raise InvalidInputError(
                f"Unknown limit: {name!r}.",
                f"Did you mean {near}?"
                if near
                else f"Known limits are {', '.join(known)}; --timeout limits the time.",
            )
        if name in found:
            raise InvalidInputError(f"The limit {name} is given twice.", "Give each limit once.")
        found[name] = value
    return Limits(
        memory_bytes=_memory_bytes(found["mem"]) if "mem" in found else None,
        processes=_processes(found["procs"]) if "procs" in found else None,
        cpu_s=parse_quantity("--limit cpu", found["cpu"], parse_duration_s)
        if "cpu" in found
        else None,
        output_bytes=_output_bytes(found["output"]) if "output" in found else None,
    )


def _memory_bytes(text: str) -> int:
    size = parse_quantity("--limit mem", text, parse_bytes)
    if size < MIN_MEMORY_BYTES:
        raise InvalidInputError(
            f"--limit mem={text} leaves no room for a program to start.",
            "It takes 1M at least, as in --limit mem=2G.",
        )
    return size


def _processes(text: str) -> int:
    return parse_count("--limit procs", text, MAX_PROCESSES, "processes", "--limit procs=64")


def _output_bytes(text: str) -> int:
    size = parse_quantity("--limit output", text, parse_bytes)
    if size < 1:
        raise InvalidInputError(
            f"--limit output={text} is not a size above zero.",
            "Write for example --limit output=1G.",
        )
    return size
