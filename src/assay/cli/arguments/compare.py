"""Command line of ``assay compare`` as a request."""

from __future__ import annotations

from assay.api.options.command_words import command_of, split_command
from assay.api.options.study_options import parse_gate, parse_warmup
from assay.api.options.workload import demand_one_objective
from assay.cli.arguments.new_study import decision_fields, study_fields
from assay.cli.arguments.workload import workload_options
from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError
from assay.requests.compare import ComparedCommand, CompareRequest
from assay.search.claims.gate import GATE_CONDITIONS


def compare_request(parsed: Parsed) -> CompareRequest:
    """Return the request of a command line.

    Raises:
        InvalidInputError: the arms are missing or ambiguous, or an option is invalid.
    """
    arguments = parsed.arguments
    options = workload_options(arguments)
    gate = parse_gate(arguments.fail_if, GATE_CONDITIONS)
    demand_one_objective(options, parsed.verb)
    commands = _commands(parsed)
    argv = (
        commands[0].argv
        if commands
        else command_of(parsed.command, separated=parsed.separated, shell=arguments.shell)
    )
    return CompareRequest(
        **study_fields(arguments, options, argv),
        **decision_fields(arguments, options),
        commands=commands,
        arms=tuple(arguments.arm),
        names=tuple(arguments.name),
        space_file=arguments.space,
        warmup=parse_warmup(arguments.warmup),
        gate=gate,
    )


def _commands(parsed: Parsed) -> tuple[ComparedCommand, ...]:
    """Return the compared commands; empty if the arms share the command after ``--``.

    Raises:
        InvalidInputError: neither two commands nor two arms, a mixture of both, or an invalid
            command.
    """
    arguments = parsed.arguments
    if arguments.commands and (arguments.arm or arguments.space or parsed.separated):
        raise InvalidInputError(
            "Commands and --arm cannot be mixed.",
            "Write: assay compare 'A' 'B', or assay compare --arm 'x=1' --arm 'x=2' -- COMMAND",
        )
    if arguments.arm or arguments.space:
        return ()
    if parsed.separated:
        raise InvalidInputError(
            "The words after -- are one command; a comparison needs two commands, or an "
            "--arm for each configuration.",
            "Leave -- out: assay compare 'xz -T1 -k f' 'xz -T2 -k f'",
        )
    if len(arguments.commands) < 2:
        raise InvalidInputError(
            "A comparison needs at least two commands.",
            "Quote each: assay compare 'xz -T1 -k f' 'xz -T2 -k f'",
        )
    return tuple(
        ComparedCommand(name=text, argv=split_command(text, shell=arguments.shell))
        for text in arguments.commands
    )
