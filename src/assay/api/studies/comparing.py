"""Execution of ``CompareRequest``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from assay.api.composition import laboratory, opened_store, program_of
from assay.api.context import Context
from assay.api.options.arm_words import arm_of, named_in_file
from assay.api.options.unfilled import demand_filled
from assay.api.options.workload import resolve_workload
from assay.api.studies.boot_settings import prepare_boot_settings
from assay.api.studies.built import program_before, with_built
from assay.api.studies.reserving import in_share
from assay.errors import InvalidInputError
from assay.executors.metrics.direction import demand_directed
from assay.records import Arm, Configuration, Kind, StudySpec
from assay.requests.compare import CompareRequest
from assay.search.history.history import DEFAULT_ARM
from assay.study.laboratory import Laboratory
from assay.study.result import StudyResult
from assay.study.session import begin
from assay.units import show_count
from assay.untrusted import clean


def compare(request: CompareRequest, context: Context) -> StudyResult:
    """Compare commands or configurations in interleaved blocks.

    Raises:
        AssayError: the request is invalid, or the study fails.
    """
    lab = _laboratory(request, context)
    with in_share(lab, request.reserve, context.observer, seed=request.seed) as placed:
        return _compare(request, context, placed)


def _laboratory(request: CompareRequest, context: Context) -> Laboratory:
    """Return the laboratory with the compared programs; without them if they are built later.

    Raises:
        InvalidInputError: a program is missing.
    """
    builds = request.workload.build is not None
    argv, *others = [one.argv for one in request.commands] or [request.workload.argv]
    for words in (argv, *others):
        program_before(words, builds=builds)
    if builds:
        return laboratory(context)
    return laboratory(context, program_of(argv), tuple(program_of(other) for other in others))


def _compare(request: CompareRequest, context: Context, lab: Laboratory) -> StudyResult:
    observer = context.observer
    arms = _arms(request, lab)
    workload = resolve_workload(request.workload, configurations=[a.configuration for a in arms])
    demand_filled(arms, workload)
    demand_directed(workload.metrics)
    observer.workload_known(workload, request.budget)
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
    lab = with_built(lab, spec, observer.building)
    lab, spec = prepare_boot_settings(request.boot, lab, spec, observer)
    with opened_store(context.db) as store, observer.listening(spec) as listener:
        return begin(lab, store, spec, listener, stop=context.stop)


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
