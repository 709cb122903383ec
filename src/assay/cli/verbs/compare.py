"""``assay compare``: commands or configurations, interleaved."""

from __future__ import annotations

import argparse
import os
import shlex

from assay.cli.boot_pauses import prepare_boot_settings
from assay.cli.composition import laboratory, program_of, store_of
from assay.cli.parsing.parser import Parsed
from assay.cli.process.long_grace import warn_of_long_grace
from assay.cli.process.parallel_job import warn_of_parallel_job
from assay.cli.process.unused_input import warn_of_unused_input
from assay.cli.requests.arm_words import arm_of, named_in_file
from assay.cli.requests.built import program_before, with_built
from assay.cli.requests.command_words import command_of, split_command
from assay.cli.requests.observe import observed_of
from assay.cli.requests.request import (
    budget_of,
    disturbed_above_of,
    gate_of,
    margin_of,
    warmup_of,
)
from assay.cli.requests.reserving import in_share, reservation_of
from assay.cli.requests.workload import (
    demand_one_objective,
    requirements_of,
    statistic_of,
    workload_of,
)
from assay.cli.show.answer import deliver_answer, export_paths
from assay.cli.show.gate import gate_status
from assay.cli.show.progress import Progress, uses_live_line
from assay.errors import InvalidInputError
from assay.executors.metrics.direction import demand_directed
from assay.records import Arm, Configuration, Kind, StudySpec
from assay.search.claims.gate import GATE_CONDITIONS
from assay.search.history.history import DEFAULT_ARM
from assay.study.laboratory import Laboratory
from assay.study.session import StudyResult, begin
from assay.units import show_count
from assay.untrusted import clean


def run(parsed: Parsed) -> int:
    """Run the verb."""
    arguments = parsed.arguments
    gate = gate_of(arguments.fail_if, GATE_CONDITIONS)
    demand_one_objective(arguments)
    exports = export_paths(arguments)
    argv, *others = _commands(parsed)
    if arguments.build is not None:  # nobody knows the programs before they are built
        lab = laboratory(helper=arguments.helper)
    else:
        lab = laboratory(
            program_of(argv),
            tuple(program_of(other) for other in others),
            helper=arguments.helper,
        )
    asked = reservation_of(arguments)
    with in_share(lab, asked, seed=arguments.seed, quiet=arguments.quiet) as placed:
        result = _compared(arguments, placed, argv, gate)
    deliver_answer(arguments, result, (), exports)
    return gate_status(gate, result)


def _compared(
    arguments: argparse.Namespace, lab: Laboratory, argv: tuple[str, ...], gate: tuple[str, ...]
) -> StudyResult:
    arms = _arms(arguments, lab)
    workload = workload_of(arguments, argv, configurations=[a.configuration for a in arms])
    demand_directed(workload.metrics)
    warn_of_unused_input(workload, quiet=arguments.quiet)
    warn_of_long_grace(workload, budget_of(arguments), quiet=arguments.quiet)
    warn_of_parallel_job(os.environ, quiet=arguments.quiet)
    spec = StudySpec(
        kind=Kind.COMPARE,
        workload=workload,
        budget=budget_of(arguments),
        arms=_named(arms, arguments.name),
        margin=margin_of(arguments, statistic_of(arguments)),
        seed=arguments.seed,
        disturbed_above=disturbed_above_of(arguments, os.environ),
        observe=observed_of(arguments.observe),
        statistic=statistic_of(arguments),
        warmup=warmup_of(arguments),
        require=requirements_of(arguments, workload),
        null=arguments.null,
        reserve=reservation_of(arguments),
        gate=gate,
    )
    lab, spec = prepare_boot_settings(arguments, with_built(lab, spec, quiet=arguments.quiet), spec)
    with (
        store_of(arguments) as store,
        Progress(spec, live=uses_live_line(arguments), quiet=arguments.quiet) as progress,
    ):
        return begin(lab, store, spec, progress)


def _commands(parsed: Parsed) -> list[tuple[str, ...]]:
    """The commands that are compared, or the one that all arms share.

    Raises:
        InvalidInputError: neither two commands nor two arms, a mixture of both, or a missing
            command.
    """
    arguments = parsed.arguments
    if arguments.commands and (arguments.arm or arguments.space or parsed.separated):
        raise InvalidInputError(
            "Commands and --arm cannot be mixed.",
            "Write: assay compare 'A' 'B', or assay compare --arm 'x=1' --arm 'x=2' -- COMMAND",
        )
    if arguments.arm or arguments.space:
        argv = command_of(parsed.command, separated=parsed.separated, shell=arguments.shell)
        program_before(argv, builds=arguments.build is not None)
        return [argv]
    if parsed.separated:
        raise InvalidInputError(
            "What stands after -- is one command, and a comparison takes two or an --arm for each "
            "way to run it.",
            "Leave -- out: assay compare 'xz -T1 -k f' 'xz -T2 -k f'",
        )
    if len(arguments.commands) < 2:
        raise InvalidInputError(
            "A comparison needs at least two commands.",
            "Quote each: assay compare 'xz -T1 -k f' 'xz -T2 -k f'",
        )
    commands = [split_command(text, shell=arguments.shell) for text in arguments.commands]
    for argv in commands:
        program_before(argv, builds=arguments.build is not None)
    return commands


def _arms(arguments: argparse.Namespace, lab: Laboratory) -> list[Arm]:
    """One arm for each command, or for each ``--arm``."""
    if arguments.arm or arguments.space:
        named = named_in_file(arguments.space, lab.registry, lab.machine)
        arms = [arm_of(text, named, lab.registry, lab.machine) for text in arguments.arm]
        arms = arms or [Arm(name=one.name, configuration=one.configuration) for one in named]
        return [DEFAULT_ARM, *arms] if len(arms) == 1 else arms
    return [
        Arm(name=text, configuration=Configuration({"command": _words(text, arguments.shell)}))
        for text in arguments.commands
    ]


def _words(text: str, shell: bool) -> str:
    """A command as the setting ``command`` holds it: words, quoted where they need it."""
    return shlex.join(split_command(text, shell=shell))


def _named(arms: list[Arm], names: list[str]) -> tuple[Arm, ...]:
    """Arms under the names that were given for them.

    Raises:
        InvalidInputError: more names than arms, a name used twice, or an unprintable name.
    """
    for name in names:
        if clean(name) != name or not name.strip():
            raise InvalidInputError(
                f"--name {name!r} cannot be shown as it is.",
                "Give a name of letters that can be seen.",
            )
    if len(names) > len(arms):
        raise InvalidInputError(
            f"There are {show_count(len(names), 'name')} for {len(arms)} arms.", "Name each once."
        )
    full = [*names, *(arm.name for arm in arms[len(names) :])]
    if len(set(full)) < len(full):
        raise InvalidInputError(
            "Two arms have the same name.",
            "Tell them apart with --name; `assay study calibrate` compares identical arms.",
        )
    return tuple(
        Arm(name=name, configuration=arm.configuration)
        for name, arm in zip(full, arms, strict=True)
    )
