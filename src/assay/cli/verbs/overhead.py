"""``assay study calibrate --overhead``: cost of each observation on this machine."""

from __future__ import annotations

import os
import sys

from assay.api.composition import laboratory, opened_store, program_of
from assay.api.options.missing import demand_found
from assay.cli.arguments.common import CommonOptions
from assay.cli.show.json_output import print_json
from assay.cli.show.overhead import overhead_lines
from assay.cli.startup import context_with
from assay.errors import NotPossibleError
from assay.executors.overhead import Program, built_in_programs
from assay.records import to_builtins
from assay.requests.calibrate import OverheadRequest
from assay.study.overhead import calibrate
from assay.wording.noise_floor import command_words


def measure_overhead(request: OverheadRequest, options: CommonOptions) -> int:
    """Measure the cost of each observation, and store and print it."""
    programs = _programs(request.argv)
    program = program_of(programs[0].argv)
    demand_found(program.path, program.missing or programs[0].argv[0])
    lab = laboratory(context_with(options), program)

    def show_rounds(rounds: int) -> None:
        if not options.quiet and sys.stderr.isatty():
            print(f"\rassay: {rounds} rounds", end="", file=sys.stderr, flush=True)

    with opened_store(options.db) as store:
        found = calibrate(
            lab,
            programs,
            budget_s=request.budget_s,
            command=programs[0].name if request.argv is not None else None,
            seed=request.seed,
            report=show_rounds,
        )
        store.add_overhead(found)
    if not options.quiet and sys.stderr.isatty():
        print(file=sys.stderr)
    if options.json:
        print_json(to_builtins(found))
    else:
        print("\n".join(overhead_lines(found)))
    return 0


def _programs(argv: tuple[str, ...] | None) -> tuple[Program, ...]:
    """Return the program of a command; without one the built-in loads.

    Raises:
        NotPossibleError: the interpreter that would run the loads is unknown.
    """
    if argv is not None:
        return (Program(command_words(argv), argv),)
    if not sys.executable:
        raise NotPossibleError(
            "The built-in loads need the Python interpreter that runs assay, which is not known.",
            "Give a command of your own: assay study calibrate --overhead -- ./app",
        )
    return built_in_programs(os.path.abspath(sys.executable))  # noqa: PTH100 - a link names its environment
