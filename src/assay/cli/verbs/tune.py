"""``assay tune``: search for the best configuration, its ablation and its confirmation."""

from __future__ import annotations

import contextlib
import os
import random
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace

import msgspec

from assay.cli.arguments.common import CommonOptions, common_options
from assay.cli.arguments.study_groups import export_paths
from assay.cli.arguments.tune import tune_request
from assay.cli.boot_pauses import prepare_boot_settings
from assay.cli.composition import laboratory, opened_store
from assay.cli.parsing.parser import Parsed
from assay.cli.process.long_grace import warn_of_long_grace
from assay.cli.process.parallel_job import warn_of_parallel_job
from assay.cli.process.termination import Terminated
from assay.cli.process.unused_input import warn_of_unused_input
from assay.cli.requests.built import program_before, with_built
from assay.cli.requests.parallel import demand_apart, slots_words
from assay.cli.requests.reserving import in_share
from assay.cli.requests.study_options import resolve_space
from assay.cli.requests.workload import resolve_workload
from assay.cli.show.answer import deliver_answer
from assay.cli.show.documents import print_json, space_document
from assay.cli.show.layout import width_of, wrapped
from assay.cli.show.progress import Progress, termination_notice, uses_live_line
from assay.errors import NotPossibleError
from assay.executors.metrics.direction import demand_directed
from assay.launch.exported_variables import space_notes
from assay.machine.document import Program
from assay.machine.programs.program import with_observations
from assay.machine.reader import fingerprint
from assay.records import Kind, Space, StudySpec
from assay.requests.tune import TuneRequest
from assay.search.space.named_configurations import make_search_space
from assay.search.space.search_space import MAX_DRAWS, SearchSpace
from assay.settings.conditions import with_conditions
from assay.store import Store
from assay.study.instance_numbers import with_instance_numbers
from assay.study.laboratory import Laboratory
from assay.study.named_configurations import describe_named, grantable_named
from assay.study.session import StudyResult, begin
from assay.study.space_choice import choose_space, grantable_space
from assay.study.survey import Survey, survey
from assay.study.warm_start import WarmStartRequest, earlier_studies, parse_warm_start
from assay.untrusted import clean
from assay.wording.warm_start import warm_start_announcement

MAX_NAMED = 8
"""Largest number of left-out settings that are named; of more only the number is printed."""
MAX_ENUMERATED = 200_000
"""Largest number of combinations that are enumerated, as in a study; of more, some are drawn."""


def run(parsed: Parsed) -> int:
    """Run the verb."""
    request, options = tune_request(parsed), common_options(parsed)
    exports = export_paths(parsed)
    workload = request.workload
    before = program_before(workload.argv, builds=workload.build is not None)
    with in_share(
        laboratory(before, helper=options.helper),
        request.reserve,
        seed=request.seed,
        take=not request.dry_run,
        quiet=options.quiet,
    ) as placed:
        result = _tune(request, options, placed.divided(request.parallel))
    if result is not None:
        deliver_answer(result, (), exports, json=options.json)
    return 0


def _tune(request: TuneRequest, options: CommonOptions, lab: Laboratory) -> StudyResult | None:
    """Return the result; ``None`` for a dry run."""
    spec = _specification(request, options, lab)
    lab = with_built(lab, spec, quiet=options.quiet)
    lab, spec = prepare_boot_settings(request.boot, lab, spec, quiet=options.quiet)
    program = lab.program
    assert program is not None
    if request.dry_run:
        space, left_out = _space(lab, spec.space, program)
        spec = _with_space(request, options, lab, spec, space)
        _show_space(request, options, lab, spec, left_out)
        return None
    if spec.space.parameters:  # a space without grantable settings costs no launch
        _with_space(request, options, lab, spec, _space(lab, spec.space, program)[0])
    with opened_store(options.db) as store:
        warm_start = parse_warm_start(store, request.warm_start, spec)
        _report("assay: inspecting the program (one launch, not timed)", quiet=options.quiet)
        with _reporting_interruption():
            seen = survey(
                lab,
                spec.workload,
                spec.budget,
                spec.targets,
                spec.requirements,
                _report_ending,
                lambda text: _report(f"assay: {clean(text)}", quiet=options.quiet),
            )
        space, left_out = _space(lab, spec.space, _observed(program, seen))
        spec = _with_earlier(lab, store, warm_start, spec, space)
        _show_space(request, options, lab, spec, left_out)
        with Progress(
            spec, live=uses_live_line(options.color), quiet=options.quiet, launches=1
        ) as progress:
            return begin(lab, store, spec, progress, survey=seen)


def _report_ending(grace_s: float) -> None:
    print(termination_notice(grace_s), file=sys.stderr)


@contextlib.contextmanager
def _reporting_interruption() -> Iterator[None]:
    """Context that reports an interruption before the study begins."""
    try:
        yield
    except (KeyboardInterrupt, Terminated):
        print(
            "assay: interrupted while inspecting the program; no study was begun, and no data "
            "are kept.",
            file=sys.stderr,
        )
        raise


def _specification(request: TuneRequest, options: CommonOptions, lab: Laboratory) -> StudySpec:
    """Return the specification, checked as far as possible before the first launch."""
    space = resolve_space(
        request.settings, request.space_file, request.constraints, lab.registry, lab.room
    )
    space = with_conditions(space, lab.registry)
    SearchSpace(space)
    workload = resolve_workload(request.workload, space.parameters)
    demand_directed(workload.metrics)
    warn_of_unused_input(workload, quiet=options.quiet)
    warn_of_long_grace(workload, request.budget, quiet=options.quiet)
    warn_of_parallel_job(os.environ, quiet=options.quiet)
    if lab.slots:
        demand_apart(space, lab.registry)
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=workload,
        budget=request.budget,
        space=space,
        margin=request.equivalence_margin,
        seed=request.seed,
        disturbed_above=request.disturbed_above,
        requested_observations=request.observe,
        until=request.until,
        statistic=request.statistic,
        null=request.null,
        requirements=request.require,
        parallel=len(lab.slots) or None,
        objectives=request.objectives,
        reserve=request.reserve,
    )
    return with_instance_numbers(spec)


def _with_space(
    request: TuneRequest, options: CommonOptions, lab: Laboratory, spec: StudySpec, space: Space
) -> StudySpec:
    """Return the specification with a space, and with the earlier studies that guide the search."""
    if not request.warm_start:
        return msgspec.structs.replace(spec, space=space)
    with opened_store(options.db) as store:
        warm_start = parse_warm_start(store, request.warm_start, spec)
        return _with_earlier(lab, store, warm_start, spec, space)


def _with_earlier(
    lab: Laboratory, store: Store, warm_start: WarmStartRequest, spec: StudySpec, space: Space
) -> StudySpec:
    """Return the specification with a space, and with results of earlier studies."""
    spec = msgspec.structs.replace(spec, space=space)
    here = fingerprint(lab.machine)
    return msgspec.structs.replace(
        spec, earlier_studies=earlier_studies(store, warm_start, spec, lab.space(spec), here)
    )


def _observed(program: Program, seen: Survey) -> Program:
    """Return the program with the observations of its first launch."""
    facts = seen.facts
    if facts is None or facts.readback is None:
        return program
    return with_observations(
        program, facts.readback.maps or (), facts.readback.threads_peak, facts.peak_anon_bytes
    )


def _space(lab: Laboratory, requested: Space, program: Program) -> tuple[Space, dict[str, str]]:
    """Return the space to search, and the reason for each setting that is left out.

    Raises:
        NotPossibleError: no setting is grantable, or none may matter.
    """
    if requested.parameters:
        # Plans of later commands know the files alone, so only this observation is used.
        known = lab.program or program
        seen = msgspec.structs.replace(known, sanitizers_seen=program.sanitizers_seen)
        space, refused = grantable_named(requested, replace(lab, program=seen).foreseen)
        if not space.parameters:
            reasons = "".join(f"\n    {name}: {reason}" for name, reason in refused.items())
            raise NotPossibleError(
                f"No requested setting can be granted:{reasons}",
                "`assay doctor` shows what this host grants.",
            )
        return space, refused
    chosen = choose_space(lab.registry, program, lab.room, lab.driver.env)
    space, refused = grantable_space(chosen.space, lab.foreseen)
    if not space.parameters:
        raise NotPossibleError(
            "No setting that assay knows may matter for this program on this machine.",
            "Name settings yourself: `assay settings list` shows them.",
        )
    return space, chosen.left_out | refused


def _show_space(
    request: TuneRequest,
    options: CommonOptions,
    lab: Laboratory,
    spec: StudySpec,
    left_out: Mapping[str, str],
) -> None:
    """Print the search space; on request the settings that are left out, with their reasons."""
    if options.quiet and not request.dry_run:
        return
    space = spec.space
    notes = _emptiness(lab, space)
    if request.dry_run and options.json:
        print_json(space_document(spec, left_out, notes))
        return
    # The space is the result of a dry run; during a study standard output is for its result.
    stream = sys.stdout if request.dry_run else sys.stderr
    lines = [f"in a share of {lab.share}"] if lab.share and request.dry_run else []
    lines += [slots_words(lab)] if lab.slots else []
    lines += ["assay will try:"]
    lines += [f"  {clean(line)}" for line in describe_named(space)]
    lines += [f"  where {clean(constraint)}" for constraint in space.constraints]
    lines += [f"  {note}" for note in space_notes(space, lab.plan, lab.driver.env)]
    lines += [f"  {clean(line)}" for line in _warm_start_lines(request, spec)]
    lines += [f"  note: {note}" for note in notes]
    if left_out and (options.verbose or request.dry_run):
        lines += ["and leaves out:"]
        lines += [f"  {name}   {clean(reason)}" for name, reason in left_out.items()]
    elif left_out:
        lines += [f"  and leaves out {_left_out_words(list(left_out))}"]
    print("\n".join(wrapped(lines, width_of(stream))), file=stream, flush=True)


def _left_out_words(names: list[str]) -> str:
    if len(names) > MAX_NAMED:
        return f"{len(names)} other settings (-v lists them and the reasons)"
    return f"{', '.join(names)} (-v shows the reasons)"


def _warm_start_lines(request: TuneRequest, spec: StudySpec) -> list[str]:
    """Return the line on earlier studies that guide the search, or on their absence."""
    if spec.earlier_studies:
        return [warm_start_announcement(spec.earlier_studies)]
    if "auto" in request.warm_start:
        return ["no warm start: no earlier study in this store measured these settings"]
    return []


def _emptiness(lab: Laboratory, space: Space) -> list[str]:
    """Return a note if nothing is left to try, as far as known before a study."""
    searched = make_search_space(space, lab.admits)
    few = searched.enumerate(1)
    if few is not None:
        rest = ": the constraints exclude the rest" if space.constraints else ""
        return [f"nothing but the default is left to try{rest}"]
    if searched.raw_size() > MAX_ENUMERATED and searched.draw(random.Random(0)) is None:
        return [f"of {MAX_DRAWS:,} configurations drawn at random none satisfies the constraints"]
    return []


def _report(text: str, *, quiet: bool) -> None:
    if not quiet:
        print("\n".join(wrapped([text], width_of(sys.stderr))), file=sys.stderr, flush=True)
