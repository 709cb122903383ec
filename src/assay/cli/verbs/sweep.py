"""``assay sweep``: an experiment that a file describes."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Iterator

import msgspec

from assay.cli.boot_pauses import prepare_boot_settings
from assay.cli.composition import laboratory, store_of
from assay.cli.files.sweep_file import shipped_schema
from assay.cli.parsing.parser import Parsed
from assay.cli.process.long_grace import warn_of_long_grace
from assay.cli.process.parallel_job import warn_of_parallel_job
from assay.cli.process.unused_input import warn_of_unused_input
from assay.cli.requests.built import with_built
from assay.cli.requests.reserving import in_share, reservation_of
from assay.cli.requests.sweep_request import SweepRequest, read_sweep
from assay.cli.show.answer import deliver_answer, export_paths
from assay.cli.show.documents import design_document, print_json
from assay.cli.show.layout import width_of, wrapped
from assay.cli.show.progress import Progress, uses_live_line
from assay.errors import InvalidInputError, NotPossibleError
from assay.records import StudySpec
from assay.search.conclusion.cells import baseline_text
from assay.search.conclusion.notes import too_few_blocks_notes
from assay.search.history.remaining_budget import LAUNCH_OVERHEAD_S
from assay.search.races.sweep import WARMUP, min_blocks, min_launches
from assay.study.instance_numbers import with_instance_numbers
from assay.study.laboratory import Laboratory
from assay.study.session import StudyResult, begin
from assay.study.typical_wall_time import typical_wall_s
from assay.units import show_count, show_duration
from assay.untrusted import clean


def run(parsed: Parsed) -> int:
    """Run the verb."""
    arguments = parsed.arguments
    if arguments.schema:
        print(json.dumps(shipped_schema(), indent=1))
        return 0
    if arguments.file is None:
        raise InvalidInputError("There is no file.", "Name it, as in: assay sweep experiment.toml")
    if parsed.separated:
        raise InvalidInputError(
            "`assay sweep` takes no command on its own line.",
            "Write it into the file: command under [workload].",
        )
    exports = export_paths(arguments)
    request = read_sweep(arguments.file)
    asked, take = reservation_of(arguments), not arguments.dry_run
    lab = laboratory(request.program(), helper=arguments.helper)
    seed = arguments.seed or 0
    with in_share(lab, asked, seed=seed, take=take, quiet=arguments.quiet) as placed:
        result = _swept(arguments, placed, request)
    if result is not None:
        deliver_answer(arguments, result, (), exports)
    return 0


def _swept(
    arguments: argparse.Namespace, lab: Laboratory, request: SweepRequest
) -> StudyResult | None:
    """The result; ``None`` where nothing was to be run."""
    spec = request.specification(arguments, lab.registry, lab.machine, lab.admits)
    spec = msgspec.structs.replace(with_instance_numbers(spec), reserve=reservation_of(arguments))
    lab, spec = prepare_boot_settings(arguments, lab, spec)
    if arguments.dry_run:
        _show(arguments, spec)
        return None
    _demand_room(spec)
    warn_of_unused_input(spec.workload, quiet=arguments.quiet)
    warn_of_long_grace(spec.workload, spec.budget, quiet=arguments.quiet)
    warn_of_parallel_job(os.environ, quiet=arguments.quiet)
    lab = with_built(lab, spec, quiet=arguments.quiet)
    with store_of(arguments) as store:
        if not arguments.quiet:
            lines = announced(spec, width_of(sys.stderr))
            print("\n".join(lines), file=sys.stderr, flush=True)
        with Progress(spec, live=uses_live_line(arguments), quiet=arguments.quiet) as progress:
            return begin(lab, store, spec, progress)


def _demand_room(spec: StudySpec) -> None:
    """Refuse at once what can never fit into the launches that may be spent.

    Raises:
        NotPossibleError: names the number that would do.
    """
    launches = min_launches(spec)
    if spec.budget.launches is not None and launches > spec.budget.launches:
        raise NotPossibleError(
            f"The budget is too small: {show_count(len(spec.arms), 'cell')} take {launches:,} "
            f"launches at least, {_plan(spec)}.",
            f"Give it --runs {launches}, or fewer cells or blocks.",
        )


def announced(spec: StudySpec, width: int | None) -> Iterator[str]:
    """What is about to run, on a terminal of so many columns."""
    told = [f"assay: {show_count(len(spec.arms), 'cell')}: {_plan(spec)}"]
    return wrapped([*told, *(f"assay: {note}" for note in too_few_blocks_notes(spec))], width)


def _plan(spec: StudySpec) -> str:
    """What will be run, in one line."""
    warmups = WARMUP if spec.warmup is None else spec.warmup
    repeats = spec.design.repeats if spec.design else None
    warm = f"{show_count(warmups, 'warm-up')} of each" if warmups else "one look at the baseline"
    blocks = (
        show_count(repeats, "block")
        if repeats
        else f"{min_blocks(spec)} blocks or more, until all is decided"
    )
    return f"{warm}, then {blocks}"


def _show(arguments: argparse.Namespace, spec: StudySpec) -> None:
    """All cells, and what they take."""
    launches = min_launches(spec)
    if arguments.json:
        print_json(design_document(spec, launches))
        return
    width = width_of(sys.stdout)
    print("\n".join(wrapped(_dry_lines(arguments, spec, launches), width)))


def _dry_lines(arguments: argparse.Namespace, spec: StudySpec, launches: int) -> Iterator[str]:
    yield f"{show_count(len(spec.arms), 'cell')}:"
    for number, arm in enumerate(spec.arms):
        yield f"  {clean(arm.name)}{'   (baseline)' if number == 0 else ''}"
    first = spec.arms[0]
    if words := baseline_text(first.name, first.configuration, spec.space):
        yield clean(words)
    for note in (*(spec.design.notes if spec.design else ()), *too_few_blocks_notes(spec)):
        yield f"  note: {clean(note)}"
    yield f"{_plan(spec)}:"
    yield f"at least {show_count(launches, 'launch', 'launches')}{_time(arguments, spec, launches)}"
    budget = spec.budget
    if budget.launches is not None:
        fits = "fits into" if launches <= budget.launches else "does not fit into"
        yield f"which {fits} the {show_count(budget.launches, 'launch', 'launches')} of the budget"
    if budget.time_s is not None:
        each_s = budget.time_s / launches - LAUNCH_OVERHEAD_S
        yield (
            f"which fits into the {show_duration(budget.time_s)} of the budget if a launch takes "
            f"up to {show_duration(max(each_s, 0.0))} on average"
        )


def _time(arguments: argparse.Namespace, spec: StudySpec, launches: int) -> str:
    """How long that takes, where an earlier study tells how long a launch of this command does."""
    try:
        with store_of(arguments, create=False) as store:
            usual_s = typical_wall_s(store, shlex.join(spec.workload.argv))
    except (InvalidInputError, NotPossibleError):  # no store yet
        return ""
    if usual_s is None:
        return ""
    total = show_duration(launches * (usual_s + LAUNCH_OVERHEAD_S))
    return f", about {total} at {show_duration(usual_s)} each, as in the last study of this command"
