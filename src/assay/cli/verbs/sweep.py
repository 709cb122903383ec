"""``assay sweep``: a designed experiment that a file describes."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator

import msgspec

from assay.cli.arguments.common import CommonOptions, common_options
from assay.cli.arguments.study_groups import export_paths
from assay.cli.arguments.sweep import is_schema_request, sweep_request
from assay.cli.boot_pauses import prepare_boot_settings
from assay.cli.composition import laboratory, opened_store
from assay.cli.files.sweep_file import shipped_schema
from assay.cli.parsing.parser import Parsed
from assay.cli.process.long_grace import warn_of_long_grace
from assay.cli.process.parallel_job import warn_of_parallel_job
from assay.cli.process.unused_input import warn_of_unused_input
from assay.cli.requests.built import with_built
from assay.cli.requests.reserving import in_share
from assay.cli.requests.sweep_specification import SweepFile, read_sweep
from assay.cli.show.answer import deliver_answer
from assay.cli.show.documents import design_document, print_json
from assay.cli.show.layout import width_of, wrapped
from assay.cli.show.progress import Progress, uses_live_line
from assay.errors import InvalidInputError, NotPossibleError
from assay.records import StudySpec
from assay.requests.sweep import SweepRequest
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
    if is_schema_request(parsed):
        print(json.dumps(shipped_schema(), indent=1))
        return 0
    request, options = sweep_request(parsed), common_options(parsed)
    exports = export_paths(parsed)
    file = read_sweep(request.file)
    lab = laboratory(file.program(), helper=options.helper)
    with in_share(
        lab,
        request.reserve,
        seed=request.seed or 0,
        take=not request.dry_run,
        quiet=options.quiet,
    ) as placed:
        result = _sweep(request, options, placed, file)
    if result is not None:
        deliver_answer(result, (), exports, json=options.json)
    return 0


def _sweep(
    request: SweepRequest, options: CommonOptions, lab: Laboratory, file: SweepFile
) -> StudyResult | None:
    """Return the result; ``None`` for a dry run."""
    spec = file.specification(request, lab.registry, lab.machine, lab.admits)
    spec = msgspec.structs.replace(with_instance_numbers(spec), reserve=request.reserve)
    lab, spec = prepare_boot_settings(request.boot, lab, spec, quiet=options.quiet)
    if request.dry_run:
        _show(options, spec)
        return None
    _demand_room(spec)
    warn_of_unused_input(spec.workload, quiet=options.quiet)
    warn_of_long_grace(spec.workload, spec.budget, quiet=options.quiet)
    warn_of_parallel_job(os.environ, quiet=options.quiet)
    lab = with_built(lab, spec, quiet=options.quiet)
    with opened_store(options.db) as store:
        if not options.quiet:
            lines = announced(spec, width_of(sys.stderr))
            print("\n".join(lines), file=sys.stderr, flush=True)
        with Progress(spec, live=uses_live_line(options.color), quiet=options.quiet) as progress:
            return begin(lab, store, spec, progress)


def _demand_room(spec: StudySpec) -> None:
    """Raise on a budget with too few launches for all cells.

    Raises:
        NotPossibleError: the budget is too small; names a sufficient number.
    """
    launches = min_launches(spec)
    if spec.budget.launches is not None and launches > spec.budget.launches:
        raise NotPossibleError(
            f"The budget is too small: {show_count(len(spec.arms), 'cell')} take {launches:,} "
            f"launches at least, {_plan(spec)}.",
            f"Give it --runs {launches}, or fewer cells or blocks.",
        )


def announced(spec: StudySpec, width: int | None) -> Iterator[str]:
    """Return the lines before a sweep: the number of cells, the plan and its limits.

    Args:
        spec: specification of the sweep.
        width: width of the terminal, in columns; ``None`` for none.
    """
    plan = f"assay: {show_count(len(spec.arms), 'cell')}: {_plan(spec)}"
    return wrapped([plan, *(f"assay: {note}" for note in too_few_blocks_notes(spec))], width)


def _plan(spec: StudySpec) -> str:
    """Return the numbers of warm-up launches and blocks, as text."""
    warmups = WARMUP if spec.warmup is None else spec.warmup
    repeats = spec.design.repeats if spec.design else None
    warm = f"{show_count(warmups, 'warm-up')} of each" if warmups else "one launch of the baseline"
    blocks = (
        show_count(repeats, "block")
        if repeats
        else f"{min_blocks(spec)} blocks or more, until all is decided"
    )
    return f"{warm}, then {blocks}"


def _show(options: CommonOptions, spec: StudySpec) -> None:
    """Print all cells, and the launches and the time that they need."""
    launches = min_launches(spec)
    if options.json:
        print_json(design_document(spec, launches))
        return
    width = width_of(sys.stdout)
    print("\n".join(wrapped(_dry_lines(options, spec, launches), width)))


def _dry_lines(options: CommonOptions, spec: StudySpec, launches: int) -> Iterator[str]:
    yield f"{show_count(len(spec.arms), 'cell')}:"
    for number, arm in enumerate(spec.arms):
        yield f"  {clean(arm.name)}{'   (baseline)' if number == 0 else ''}"
    first = spec.arms[0]
    if words := baseline_text(first.name, first.configuration, spec.space):
        yield clean(words)
    for note in (*(spec.design.notes if spec.design else ()), *too_few_blocks_notes(spec)):
        yield f"  note: {clean(note)}"
    yield f"{_plan(spec)}:"
    yield f"at least {show_count(launches, 'launch', 'launches')}{_time(options, spec, launches)}"
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


def _time(options: CommonOptions, spec: StudySpec, launches: int) -> str:
    """Return the estimated time, if an earlier study has measured this command; else nothing."""
    try:
        with opened_store(options.db, create=False) as store:
            usual_s = typical_wall_s(store, shlex.join(spec.workload.argv))
    except (InvalidInputError, NotPossibleError):  # no store yet
        return ""
    if usual_s is None:
        return ""
    total = show_duration(launches * (usual_s + LAUNCH_OVERHEAD_S))
    return f", about {total} at {show_duration(usual_s)} each, as in the last study of this command"
