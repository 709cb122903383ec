"""``assay study calibrate``: identical arms, to know the machine and assay's own errors on it."""

from __future__ import annotations

import os
import sys

from assay.cli.composition import laboratory, program_of, store_of
from assay.cli.parsing.parser import Parsed
from assay.cli.requests.missing import demand_found
from assay.cli.requests.observe import observed_of
from assay.cli.requests.request import budget_of, disturbed_above_of
from assay.cli.show.answer import deliver_answer
from assay.cli.show.progress import Progress, uses_live_line
from assay.errors import InvalidInputError, NotPossibleError
from assay.records import Budget, Kind, StudySpec, Workload
from assay.records.calibration import BUILT_IN_LOAD
from assay.search.history.history import DEFAULT_ARM
from assay.study.session import begin

BUDGET_S = 180.0
"""Unless told otherwise: some 1,700 blocks of the built-in load."""


def run(parsed: Parsed) -> int:
    """Run the action."""
    arguments = parsed.arguments
    if arguments.study:
        raise InvalidInputError(
            f"`assay study calibrate` takes no study: {arguments.study!r}.",
            "A command stands after --: assay study calibrate -- ./app",
        )
    if arguments.overhead:
        from assay.cli.verbs import overhead

        return overhead.run(parsed)
    argv = _command(parsed)
    program = program_of(argv)
    demand_found(program.path, program.missing or argv[0])
    asked = arguments.budget or arguments.runs
    spec = StudySpec(
        kind=Kind.CALIBRATE,
        workload=Workload(argv=argv, cwd=os.getcwd()),  # noqa: PTH109 - of the launch
        budget=budget_of(arguments) if asked else Budget(time_s=BUDGET_S),
        arms=(DEFAULT_ARM,),
        seed=arguments.seed or 0,
        disturbed_above=disturbed_above_of(arguments, os.environ),
        observe=observed_of(arguments.observe),
    )
    lab = laboratory(program, helper=arguments.helper)
    with (
        store_of(arguments) as store,
        Progress(spec, live=uses_live_line(arguments), quiet=arguments.quiet) as progress,
    ):
        result = begin(lab, store, spec, progress)
    deliver_answer(arguments, result, (), ())
    return 0


def _command(parsed: Parsed) -> tuple[str, ...]:
    """The words after ``--``; without them the load that assay brings.

    Raises:
        InvalidInputError: nothing stands after ``--``.
        NotPossibleError: there is no interpreter to run the load with.
    """
    if parsed.separated:
        if not parsed.command or not parsed.command[0]:
            raise InvalidInputError(
                "There is no command after --.", "Leave out -- as well to run the built-in load."
            )
        return parsed.command
    if not sys.executable:
        raise NotPossibleError(
            "The built-in load needs the Python interpreter that runs assay, which is not known.",
            "Give a command of your own: assay study calibrate -- ./app",
        )
    return (sys.executable, *BUILT_IN_LOAD)
