"""``assay study calibrate --overhead``: the cost of each observation on this machine."""

from __future__ import annotations

import argparse
import os
import sys

from assay.cli.composition import laboratory, program_of, store_of
from assay.cli.parsing.parser import Parsed
from assay.cli.requests.missing import demand_found
from assay.cli.requests.request import budget_of
from assay.cli.show.documents import print_json
from assay.cli.show.overhead import overhead_lines
from assay.errors import InvalidInputError, NotPossibleError
from assay.executors.overhead import Program, built_in_programs
from assay.records import to_builtins
from assay.study.overhead import calibrate
from assay.wording.noise_floor import command_words

BUDGET_S = 180.0
"""Default: some 30 pairs of each observation and load on two CPUs."""
UNUSED = {
    "runs": "Its budget is one of time: --budget 3m.",
    "observe": "It measures every observation.",
    "disturbed_above": "Pairs are interleaved, and their median is taken.",
}
"""Options of the other calibration, and the reason why this one takes none of them."""


def run(parsed: Parsed) -> int:
    """Run the action."""
    arguments = parsed.arguments
    programs = _programs(parsed)
    _demand_used(arguments)
    program = program_of(programs[0].argv)
    demand_found(program.path, program.missing or programs[0].argv[0])
    budget_s = budget_of(arguments).time_s if arguments.budget else BUDGET_S
    lab = laboratory(program, helper=arguments.helper)

    def told(rounds: int) -> None:
        if not arguments.quiet and sys.stderr.isatty():
            print(f"\rassay: {rounds} rounds", end="", file=sys.stderr, flush=True)

    with store_of(arguments) as store:
        found = calibrate(
            lab,
            programs,
            budget_s=budget_s or BUDGET_S,
            command=programs[0].name if parsed.separated else None,
            seed=arguments.seed or 0,
            told=told,
        )
        store.add_overhead(found)
    if not arguments.quiet and sys.stderr.isatty():
        print(file=sys.stderr)
    if arguments.json:
        print_json(to_builtins(found))
    else:
        print("\n".join(overhead_lines(found)))
    return 0


def _demand_used(arguments: argparse.Namespace) -> None:
    """Refuse words that would be left unread.

    Raises:
        InvalidInputError: names the first.
    """
    for name, instead in UNUSED.items():
        if getattr(arguments, name):
            option = f"--{name.replace('_', '-')}"
            raise InvalidInputError(
                f"`assay study calibrate --overhead` takes no {option}.", instead
            )


def _programs(parsed: Parsed) -> tuple[Program, ...]:
    """The command after ``--``; without one the loads that assay brings.

    Raises:
        InvalidInputError: nothing stands after ``--``.
        NotPossibleError: the interpreter that would run the loads is unknown.
    """
    if parsed.separated:
        if not parsed.command or not parsed.command[0]:
            raise InvalidInputError(
                "There is no command after --.", "Leave out -- as well to run the built-in loads."
            )
        return (Program(command_words(parsed.command), parsed.command),)
    if not sys.executable:
        raise NotPossibleError(
            "The built-in loads need the Python interpreter that runs assay, which is not known.",
            "Give a command of your own: assay study calibrate --overhead -- ./app",
        )
    return built_in_programs(os.path.abspath(sys.executable))  # noqa: PTH100 - a link names its environment
