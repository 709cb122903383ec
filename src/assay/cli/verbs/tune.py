"""``assay tune``: search, reduce, confirm, recommend."""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace

import msgspec

from assay.cli.boot_pauses import prepare_boot_settings
from assay.cli.composition import laboratory, store_of
from assay.cli.parsing.parser import Parsed
from assay.cli.process.long_grace import warn_of_long_grace
from assay.cli.process.parallel_job import warn_of_parallel_job
from assay.cli.process.termination import Terminated
from assay.cli.process.unused_input import warn_of_unused_input
from assay.cli.requests.built import program_before, with_built
from assay.cli.requests.command_words import command_of
from assay.cli.requests.observe import observed_of
from assay.cli.requests.parallel import demand_apart, parallel_of, slots_words
from assay.cli.requests.request import budget_of, disturbed_above_of, margin_of, space_of
from assay.cli.requests.reserving import in_share, reservation_of
from assay.cli.requests.workload import (
    demand_alone,
    requirements_of,
    several_objectives,
    statistic_of,
    workload_of,
)
from assay.cli.show.answer import deliver_answer, export_paths
from assay.cli.show.documents import print_json, space_document
from assay.cli.show.layout import width_of, wrapped
from assay.cli.show.progress import Progress, termination_notice, uses_live_line
from assay.errors import InvalidInputError, NotPossibleError
from assay.executors.metrics.direction import demand_directed
from assay.launch.exported_variables import space_notes
from assay.machine.document import Program
from assay.machine.program import with_observations
from assay.machine.reader import fingerprint
from assay.records import Kind, Space, StudySpec
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

FEW = 8
"""So many settings that are left out are named; of more their number is told."""
MOST_COUNTED = 200_000
"""Combinations of values that are gone through, as a study does; of more, some are drawn."""


def run(parsed: Parsed) -> int:
    """Run the verb."""
    arguments = parsed.arguments
    if arguments.settings and not parsed.separated and "=" not in arguments.settings[0]:
        words = shlex.join(arguments.settings)
        raise InvalidInputError(
            "There is no command.", f"Write it after --, as in: assay tune -- {words}"
        )
    exports = export_paths(arguments)
    argv = command_of(parsed.command, separated=parsed.separated, shell=arguments.shell)
    before = program_before(argv, builds=arguments.build is not None)
    parallel = parallel_of(arguments)
    asked = reservation_of(arguments)
    take = not arguments.dry_run
    with in_share(
        laboratory(before, helper=arguments.helper),
        asked,
        seed=arguments.seed,
        take=take,
        quiet=arguments.quiet,
    ) as placed:
        result = _tuned(arguments, placed.divided(parallel), argv)
    if result is not None:
        deliver_answer(arguments, result, (), exports)
    return 0


def _tuned(
    arguments: argparse.Namespace, lab: Laboratory, argv: tuple[str, ...]
) -> StudyResult | None:
    """The result; ``None`` where nothing was to be run."""
    spec = _specification(arguments, lab, argv)
    lab, spec = prepare_boot_settings(arguments, with_built(lab, spec, quiet=arguments.quiet), spec)
    program = lab.program
    assert program is not None
    if arguments.dry_run:
        space, left_out = _space(lab, spec.space, program)
        _say(arguments, lab, _guided(arguments, lab, spec, space), left_out)
        return None
    if spec.space.parameters:  # what can never be granted costs no launch
        _guided(arguments, lab, spec, _space(lab, spec.space, program)[0])
    with store_of(arguments) as store:
        wanted = parse_warm_start(store, arguments.warm_start, spec)
        _tell(arguments, "assay: looking at the program (one launch, not timed)")
        with _told_when_stopped():
            seen = survey(lab, spec.workload, spec.budget, spec.targets, spec.require, _tell_ending)
        space, left_out = _space(lab, spec.space, _observed(program, seen))
        spec = _with_earlier(lab, store, wanted, spec, space)
        _say(arguments, lab, spec, left_out)
        with Progress(
            spec, live=uses_live_line(arguments), quiet=arguments.quiet, launches=1
        ) as progress:
            return begin(lab, store, spec, progress, seen=seen)


def _tell_ending(grace_s: float) -> None:
    print(termination_notice(grace_s), file=sys.stderr)


@contextlib.contextmanager
def _told_when_stopped() -> Iterator[None]:
    """Says what an interrupt stopped, and what is kept, where no study is there that would."""
    try:
        yield
    except (KeyboardInterrupt, Terminated):
        print(
            "assay: interrupted while looking at the program; no study was begun, and nothing is "
            "kept.",
            file=sys.stderr,
        )
        raise


def _specification(
    arguments: argparse.Namespace, lab: Laboratory, argv: tuple[str, ...]
) -> StudySpec:
    """What was asked, checked as far as it can be before anything is launched."""
    demand_alone(arguments)
    asked = with_conditions(space_of(arguments, lab.registry, lab.room), lab.registry)
    SearchSpace(asked)
    workload = workload_of(arguments, argv, asked.parameters)
    demand_directed(workload.metrics)
    warn_of_unused_input(workload, quiet=arguments.quiet)
    warn_of_long_grace(workload, budget_of(arguments), quiet=arguments.quiet)
    warn_of_parallel_job(os.environ, quiet=arguments.quiet)
    if lab.slots:
        demand_apart(asked, lab.registry)
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=workload,
        budget=budget_of(arguments),
        space=asked,
        margin=margin_of(arguments, statistic_of(arguments)),
        seed=arguments.seed,
        disturbed_above=disturbed_above_of(arguments, os.environ),
        observe=observed_of(arguments.observe),
        statistic=statistic_of(arguments),
        null=arguments.null,
        require=requirements_of(arguments, workload),
        parallel=len(lab.slots) or None,
        objectives=several_objectives(arguments),
        reserve=reservation_of(arguments),
    )
    return with_instance_numbers(spec)


def _guided(
    arguments: argparse.Namespace, lab: Laboratory, spec: StudySpec, space: Space
) -> StudySpec:
    """The specification of a space, with what is found of earlier studies before any launch."""
    if not arguments.warm_start:
        return msgspec.structs.replace(spec, space=space)
    with store_of(arguments) as store:
        wanted = parse_warm_start(store, arguments.warm_start, spec)
        return _with_earlier(lab, store, wanted, spec, space)


def _with_earlier(
    lab: Laboratory, store: Store, wanted: WarmStartRequest, spec: StudySpec, space: Space
) -> StudySpec:
    """The specification of a space, with what earlier studies knew of it."""
    spec = msgspec.structs.replace(spec, space=space)
    here = fingerprint(lab.machine)
    earlier = earlier_studies(store, wanted, spec, lab.space(spec), here)
    return msgspec.structs.replace(spec, earlier=earlier)


def _observed(program: Program, seen: Survey) -> Program:
    """The program with what its first launch showed."""
    facts = seen.facts
    if facts is None or facts.seen is None:
        return program
    return with_observations(
        program, facts.seen.maps or (), facts.seen.threads_peak, facts.peak_anon_bytes
    )


def _space(lab: Laboratory, asked: Space, program: Program) -> tuple[Space, dict[str, str]]:
    """What will be tried, and what is left out and why.

    Raises:
        NotPossibleError: nothing can be granted, or nothing could matter.
    """
    if asked.parameters:
        # Of what a launch showed only this: plans of later commands know the files alone.
        known = lab.program or program
        seen = msgspec.structs.replace(known, sanitizers_seen=program.sanitizers_seen)
        space, refused = grantable_named(asked, replace(lab, program=seen).foreseen)
        if not space.parameters:
            reasons = "".join(f"\n    {name}: {reason}" for name, reason in refused.items())
            raise NotPossibleError(
                f"Nothing that was asked for can be granted:{reasons}",
                "`assay doctor` shows what this host grants.",
            )
        return space, refused
    chosen = choose_space(lab.registry, program, lab.room, lab.driver.env)
    space, refused = grantable_space(chosen.space, lab.foreseen)
    if not space.parameters:
        raise NotPossibleError(
            "Nothing that assay knows can matter for this program on this machine.",
            "Name settings yourself: `assay settings list` shows them.",
        )
    return space, chosen.left_out | refused


def _say(
    arguments: argparse.Namespace, lab: Laboratory, spec: StudySpec, left_out: Mapping[str, str]
) -> None:
    """What will be tried and why, and on request what will not."""
    if arguments.quiet and not arguments.dry_run:
        return
    space = spec.space
    notes = _emptiness(lab, space)
    if arguments.dry_run and arguments.json:
        print_json(space_document(spec, left_out, notes))
        return
    # A dry run is asked for its answer; during a study standard output is for the result.
    stream = sys.stdout if arguments.dry_run else sys.stderr
    lines = [f"in a share of {lab.share}"] if lab.share and arguments.dry_run else []
    lines += [slots_words(lab)] if lab.slots else []
    lines += ["assay will try:"]
    lines += [f"  {clean(line)}" for line in describe_named(space)]
    lines += [f"  where {clean(constraint)}" for constraint in space.constraints]
    lines += [f"  {note}" for note in space_notes(space, lab.plan, lab.driver.env)]
    lines += [f"  {clean(line)}" for line in _beginning(arguments, spec)]
    lines += [f"  note: {note}" for note in notes]
    if left_out and (arguments.verbose or arguments.dry_run):
        lines += ["and leaves out:"]
        lines += [f"  {name}   {clean(reason)}" for name, reason in left_out.items()]
    elif left_out:
        lines += [f"  and leaves out {_left_out_words(list(left_out))}"]
    print("\n".join(wrapped(lines, width_of(stream))), file=stream, flush=True)


def _left_out_words(names: list[str]) -> str:
    if len(names) > FEW:
        return f"{len(names)} other settings (-v names them, and says why)"
    return f"{', '.join(names)} (-v says why)"


def _beginning(arguments: argparse.Namespace, spec: StudySpec) -> list[str]:
    """What the search takes from where; that nothing was found, where it was looked for."""
    if spec.earlier:
        return [warm_start_announcement(spec.earlier)]
    if "auto" in arguments.warm_start:
        return ["begins anew: no earlier study here knows of what is tried"]
    return []


def _emptiness(lab: Laboratory, space: Space) -> list[str]:
    """What is to be said where nothing is left to try, as far as can be seen before a study."""
    searched = make_search_space(space, lab.admits)
    few = searched.enumerate(1)
    if few is not None:
        rest = ": the constraints exclude the rest" if space.constraints else ""
        return [f"nothing but the default is left to try{rest}"]
    if searched.raw_size() > MOST_COUNTED and searched.draw(random.Random(0)) is None:
        return [f"of {MAX_DRAWS:,} configurations drawn at random none satisfies the constraints"]
    return []


def _tell(arguments: argparse.Namespace, text: str) -> None:
    if not arguments.quiet:
        print("\n".join(wrapped([text], width_of(sys.stderr))), file=sys.stderr, flush=True)
