"""From command-line words to a workload."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from pathlib import Path

from assay.cli.parsing.option_values import parse_count, parse_pair, parse_quantity
from assay.cli.parsing.options import HOOKS
from assay.cli.requests.command_words import build_words, split_command
from assay.cli.requests.metrics import beside_asked, metrics_asked, objectives_of
from assay.cli.requests.missing import demand_in_path
from assay.cli.requests.recipe import recipe_asked
from assay.errors import InvalidInputError, nearest
from assay.executors.metrics.matching import checked_pattern
from assay.launch.command import placeholders_in
from assay.records import (
    Configuration,
    Hooks,
    Limits,
    Parameter,
    Requirement,
    Statistic,
    Workload,
)
from assay.records.workload import BUILT_IN
from assay.search.claims.requirement import parse_requirements
from assay.search.races.single_objective import reject_options
from assay.units import parse_bytes, parse_duration_s


def workload_of(
    arguments: argparse.Namespace,
    argv: tuple[str, ...],
    parameters: tuple[Parameter, ...] = (),
    configurations: Sequence[Configuration] = (),
) -> Workload:
    """The workload that the measuring options describe.

    Args:
        arguments: parsed.
        argv: the command.
        parameters: of the space; ``arg.NAME`` and ``build.NAME`` declare a placeholder,
            ``env.NAME`` a default.
        configurations: that were named: what they say of ``build.NAME`` is declared as well.

    Raises:
        InvalidInputError: an option that cannot be read.
    """
    placeholders = _placeholders(parameters, argv)
    grace_s = _grace_s(arguments.grace) if arguments.grace else None
    if arguments.stop is not None and grace_s == 0.0:
        raise InvalidInputError(
            "--stop would never run: --grace 0s kills the program at once.",
            "Give it time, as --grace 10s, or leave one of the two out.",
        )
    return Workload(
        argv=argv,
        placeholders=placeholders,
        environment={
            p.name.removeprefix("env."): str(p.default)
            for p in parameters
            if p.name.startswith("env.") and p.default is not None
        },
        metrics=metrics_asked(arguments),
        beside=beside_asked(arguments),
        check=checked_pattern(arguments.check, "The check") if arguments.check else None,
        timeout_s=(
            parse_quantity("--timeout", arguments.timeout, parse_duration_s)
            if arguments.timeout
            else None
        ),
        grace_s=grace_s,
        outputs_may_differ=arguments.outputs_may_differ,
        stdin=_input(arguments.input) if arguments.input else None,
        cwd=os.getcwd(),  # noqa: PTH109 - a path of the launch, not one to work with
        limits=_limits(arguments.limit),
        hooks=_hooks(arguments),
        build=recipe_asked(
            build_words(arguments),
            arguments.build_input,
            arguments.build_timeout,
            argv,
            parameters,
            configurations,
        ),
    )


def _grace_s(text: str) -> float:
    """The time between asking a program to end and killing it; ``0s`` kills at once.

    Raises:
        InvalidInputError: it cannot be read, or is longer than a day.
    """
    if _NO_TIME.fullmatch(text):
        return 0.0
    found = parse_quantity("--grace", text, parse_duration_s)
    if found > LONGEST_GRACE_S:
        raise InvalidInputError(
            f"--grace {text} is longer than a day.", "Write for example --grace 30s."
        )
    return found


def _hooks(arguments: argparse.Namespace) -> Hooks:
    """The commands around the launches, as ``--shell`` says how they are read.

    Raises:
        InvalidInputError: a metric is invalid, or the program is missing (``--setup`` may create
            it).
    """
    found: dict[str, tuple[str, ...]] = {}
    for name in HOOKS:
        text = getattr(arguments, name)
        if text is None:
            continue
        try:
            found[name] = split_command(text, shell=arguments.shell)
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
                f"arg.{name} has no place in the command: it holds no {{{name}}}.",
                f"Did you mean arg.{near}?" if near else f"Write {{{name}}} where it belongs.",
            )
        declared[name] = str(parameter.default)
    return declared


def several_objectives(arguments: argparse.Namespace) -> tuple[str, ...]:
    """The objectives where there is more than one; else none.

    Raises:
        InvalidInputError: they cannot be.
    """
    names = objectives_of(arguments)
    return tuple(names) if len(names) > 1 else ()


def demand_alone(arguments: argparse.Namespace) -> None:
    """Refuse what a study with several objectives does not have.

    Raises:
        InvalidInputError: one of it was asked for.
    """
    if not several_objectives(arguments):
        return
    reject_options(
        {
            "--require": arguments.require,
            "--parallel": arguments.parallel,
            "--warm-start": [word for word in arguments.warm_start if word != "none"],
        }
    )


def demand_one_objective(arguments: argparse.Namespace) -> None:
    """Refuse several objectives where the verb weighs nothing against anything.

    Raises:
        InvalidInputError: more than one.
    """
    if len(objectives_of(arguments)) > 1:
        raise InvalidInputError(
            f"`assay {arguments.verb}` takes one --objective.",
            "`assay tune` weighs several against each other; --metric reads further figures.",
        )


def statistic_of(arguments: argparse.Namespace) -> Statistic:
    """What of the objective decides: ``NAME:median`` and ``NAME:spread`` say so.

    Raises:
        InvalidInputError: no such statistic, or another than the mean of several objectives.
    """
    several = len(arguments.objective) > 1
    found = Statistic.MEAN
    for objective in arguments.objective:
        _, colon, text = objective.partition(":")
        if not colon:
            continue
        if text not in tuple(Statistic):
            near = nearest(text, tuple(Statistic))
            raise InvalidInputError(
                f"--objective: there is no statistic {text!r}.",
                f"Did you mean {near}?" if near else f"There are {', '.join(Statistic)}.",
            )
        found = Statistic(text)
        if several and found is not Statistic.MEAN:
            raise InvalidInputError(
                f"--objective {objective}: several objectives are compared by their means.",
                "Name the metrics alone.",
            )
    return found


def requirements_of(arguments: argparse.Namespace, workload: Workload) -> tuple[Requirement, ...]:
    """What the result is to keep beside being good.

    Args:
        arguments: parsed.
        workload: that they gave.

    Raises:
        InvalidInputError: one cannot be read, or can never be kept.
    """
    known = {metric.name: metric for metric in workload.metrics}
    return parse_requirements(arguments.require, BUILT_IN | known)


def _input(path: str) -> str:
    if not Path(path).is_file():
        raise InvalidInputError(
            f"The input {path} is not a file.", "Name a file that can be read again."
        )
    return str(Path(path).resolve())


LONGEST_GRACE_S = 24 * 60 * 60.0
"""As the launcher has it."""
_NO_TIME = re.compile(r"0+(?:s|ms)?")

LEAST_MEMORY_BYTES = 2**20
"""Below it nothing starts: what the kernel charges to a new process takes some of it."""
MOST_PROCESSES = 2**22
"""As many as Linux can number (``PID_MAX_LIMIT``)."""


def _limits(text: str | None) -> Limits:
    """The limits that ``--limit mem=2G,procs=64,cpu=30s,output=1G`` names.

    Raises:
        InvalidInputError: one that is unknown, given twice, or that nothing could keep.
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
                f"There is no limit {name!r}.",
                f"Did you mean {near}?"
                if near
                else f"There are {', '.join(known)}; --timeout limits the time.",
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
    if size < LEAST_MEMORY_BYTES:
        raise InvalidInputError(
            f"--limit mem={text} leaves no room for a program to start.",
            "It takes 1M at least, as in --limit mem=2G.",
        )
    return size


def _processes(text: str) -> int:
    return parse_count("--limit procs", text, MOST_PROCESSES, "processes", "--limit procs=64")


def _output_bytes(text: str) -> int:
    size = parse_quantity("--limit output", text, parse_bytes)
    if size < 1:
        raise InvalidInputError(
            f"--limit output={text} is no size above zero.", "Write for example --limit output=1G."
        )
    return size
