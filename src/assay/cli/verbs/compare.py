"""``assay compare``: commands or configurations in interleaved blocks."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from assay.cli.arguments.common import CommonOptions, common_options
from assay.cli.arguments.compare import compare_request
from assay.cli.arguments.study_groups import export_paths
from assay.cli.boot_pauses import prepare_boot_settings
from assay.cli.composition import laboratory, opened_store, program_of
from assay.cli.parsing.parser import Parsed
from assay.cli.process.long_grace import warn_of_long_grace
from assay.cli.process.parallel_job import warn_of_parallel_job
from assay.cli.process.unused_input import warn_of_unused_input
from assay.cli.requests.arm_words import arm_of, named_in_file
from assay.cli.requests.built import program_before, with_built
from assay.cli.requests.reserving import in_share
from assay.cli.requests.workload import resolve_workload
from assay.cli.show.answer import deliver_answer
from assay.cli.show.gate import gate_status
from assay.cli.show.progress import Progress, uses_live_line
from assay.errors import InvalidInputError
from assay.executors.metrics.direction import demand_directed
from assay.records import Arm, Configuration, Kind, StudySpec
from assay.requests.compare import CompareRequest
from assay.search.history.history import DEFAULT_ARM
from assay.study.laboratory import Laboratory
from assay.study.session import StudyResult, begin
from assay.units import show_count
from assay.untrusted import clean


def run(parsed: Parsed) -> int:
    """Run the verb."""
    request, options = compare_request(parsed), common_options(parsed)
    exports = export_paths(parsed)
    lab = _laboratory(request, options)
    with in_share(lab, request.reserve, seed=request.seed, quiet=options.quiet) as placed:
        result = _compare(request, options, placed)
    deliver_answer(result, (), exports, json=options.json)
    return gate_status(request.gate, result)


def _laboratory(request: CompareRequest, options: CommonOptions) -> Laboratory:
    """Return the laboratory with the compared programs; without them if they are built later.

    Raises:
        InvalidInputError: a program is missing.
    """
    builds = request.workload.build is not None
    argv, *others = [one.argv for one in request.commands] or [request.workload.argv]
    for words in (argv, *others):
        program_before(words, builds=builds)
    if builds:
        return laboratory(helper=options.helper)
    return laboratory(
        program_of(argv), tuple(program_of(other) for other in others), helper=options.helper
    )


def _compare(request: CompareRequest, options: CommonOptions, lab: Laboratory) -> StudyResult:
    arms = _arms(request, lab)
    workload = resolve_workload(request.workload, configurations=[a.configuration for a in arms])
    demand_directed(workload.metrics)
    warn_of_unused_input(workload, quiet=options.quiet)
    warn_of_long_grace(workload, request.budget, quiet=options.quiet)
    warn_of_parallel_job(os.environ, quiet=options.quiet)
    spec = StudySpec(
        kind=Kind.COMPARE,
        workload=workload,
        budget=request.budget,
        arms=_named(arms, request.names),
        margin=request.equivalence_margin,
        seed=request.seed,
        disturbed_above=request.disturbed_above,
        requested_observations=request.observe,
        until=request.until,
        statistic=request.statistic,
        warmup=request.warmup,
        requirements=request.require,
        null=request.null,
        reserve=request.reserve,
        exit_conditions=request.gate,
    )
    lab = with_built(lab, spec, quiet=options.quiet)
    lab, spec = prepare_boot_settings(request.boot, lab, spec, quiet=options.quiet)
    with (
        opened_store(options.db) as store,
        Progress(spec, live=uses_live_line(options.color), quiet=options.quiet) as progress,
    ):
        return begin(lab, store, spec, progress)


def _arms(request: CompareRequest, lab: Laboratory) -> list[Arm]:
    """Return one arm for each command, or for each configuration."""
    if request.commands:
        return [
            Arm(name=one.name, configuration=Configuration({"command": shlex.join(one.argv)}))
            for one in request.commands
        ]
    named = named_in_file(request.space_file, lab.registry, lab.machine)
    arms = [arm_of(text, named, lab.registry, lab.machine) for text in request.arms]
    arms = arms or [Arm(name=one.name, configuration=one.configuration) for one in named]
    return [DEFAULT_ARM, *arms] if len(arms) == 1 else arms


def _named(arms: Sequence[Arm], names: Sequence[str]) -> tuple[Arm, ...]:
    """Return the arms with the names of ``--name``.

    Raises:
        InvalidInputError: more names than arms, a name used twice, or an unprintable name.
    """
    for name in names:
        if clean(name) != name or not name.strip():
            raise InvalidInputError(
                f"--name {name!r} is blank, or contains characters that cannot be printed.",
                "Give a name of printable characters.",
            )
    if len(names) > len(arms):
        raise InvalidInputError(
            f"There are {show_count(len(names), 'name')} for {len(arms)} arms.",
            "Give at most one name for each arm.",
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
