"""Execution of ``TuneRequest``."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import msgspec

from assay.api.composition import laboratory, opened_store
from assay.api.context import Context
from assay.api.options.fidelity import demand_comparable, fidelity_parameters, parse_fidelity
from assay.api.options.study_options import resolve_space
from assay.api.options.workload import resolve_workload
from assay.api.studies.boot_settings import prepare_boot_settings
from assay.api.studies.built import program_before, with_built
from assay.api.studies.parallel import demand_apart
from assay.api.studies.reserving import in_share
from assay.errors import NotPossibleError
from assay.executors.metrics.direction import demand_directed
from assay.machine.document import Program
from assay.machine.programs.program import with_observations
from assay.machine.reader import fingerprint
from assay.records import Kind, Space, StudySpec
from assay.requests.tune import TuneRequest
from assay.search.space.named_configurations import make_search_space
from assay.search.space.search_space import MAX_DRAWS, SearchSpace
from assay.search.space.setting_count import demand_searchable
from assay.settings.conditions import with_conditions
from assay.store import Store
from assay.study.instance_numbers import with_instance_numbers
from assay.study.laboratory import Laboratory
from assay.study.named_configurations import grantable_named
from assay.study.result import StudyResult
from assay.study.session import begin
from assay.study.space_choice import choose_space, grantable_space
from assay.study.survey import Survey, survey
from assay.study.warm_start import (
    WarmStartRequest,
    earlier_studies,
    parse_warm_start,
    with_history,
)

MAX_ENUMERATED = 200_000
"""Largest number of combinations that are enumerated, as in a study; of more, some are drawn."""


class SpaceChoice(NamedTuple):
    """Search space of a study, as it is known before the search.

    Attributes:
        request: request of the study.
        lab: the host.
        spec: specification with the search space and the earlier studies that guide the search.
        left_out: reason for each setting that is left out.
        notes: notes on an empty space.
    """

    request: TuneRequest
    lab: Laboratory
    spec: StudySpec
    left_out: Mapping[str, str]
    notes: tuple[str, ...]


def tune(request: TuneRequest, context: Context) -> StudyResult | SpaceChoice:
    """Search for the best configuration; return the result, or the space of a dry run.

    Raises:
        AssayError: the request is invalid, or the study fails.
    """
    workload = request.workload
    program = program_before(workload.argv, builds=workload.build is not None)
    with in_share(
        laboratory(context, program),
        request.reserve,
        context.observer,
        seed=request.seed,
        take=not request.dry_run,
    ) as placed:
        return _tune(request, context, placed.divided(request.parallel))


def _tune(request: TuneRequest, context: Context, lab: Laboratory) -> StudyResult | SpaceChoice:
    observer = context.observer
    spec = _specification(request, context, lab)
    lab = with_built(lab, spec, observer.building)
    lab, spec = prepare_boot_settings(request.boot, lab, spec, observer)
    program = lab.program
    assert program is not None
    if request.dry_run:
        space, left_out = _space(lab, spec.space, program)
        return _choice(request, lab, _with_space(request, context, lab, spec, space), left_out)
    if spec.space.parameters:  # a space without grantable settings costs no launch
        _with_space(request, context, lab, spec, _space(lab, spec.space, program)[0])
    with opened_store(context.db) as store:
        warm_start = parse_warm_start(store, request.warm_start, spec)
        with observer.inspecting():
            seen = survey(
                lab,
                spec.workload,
                spec.budget,
                spec.targets,
                spec.requirements,
                observer.ending,
                observer.noted,
                context.stop,
            )
        space, left_out = _space(lab, spec.space, _observed(program, seen))
        spec = _with_earlier(request, lab, store, warm_start, spec, space)
        observer.space_known(_choice(request, lab, spec, left_out))
        with observer.listening(spec, launches=1) as listener:
            return begin(lab, store, spec, listener, survey=seen, stop=context.stop)


def _choice(
    request: TuneRequest, lab: Laboratory, spec: StudySpec, left_out: Mapping[str, str]
) -> SpaceChoice:
    return SpaceChoice(request, lab, spec, left_out, tuple(_emptiness(lab, spec.space)))


def _specification(request: TuneRequest, context: Context, lab: Laboratory) -> StudySpec:
    """Return the specification, checked as far as possible before the first launch."""
    space = resolve_space(
        request.settings, request.space_file, request.constraints, lab.registry, lab.room
    )
    space = with_conditions(space, lab.registry)
    demand_searchable(space)
    SearchSpace(space)
    varied = {parameter.name for parameter in space.parameters}
    fidelity = parse_fidelity(request.fidelity, lab.registry, lab.room, varied)
    demand_comparable(fidelity, request.objectives, request.statistic)
    parameters = (*space.parameters, *fidelity_parameters(fidelity))
    workload = resolve_workload(request.workload, parameters)
    demand_directed(workload.metrics)
    context.observer.workload_known(workload, request.budget)
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
        fidelity=fidelity,
        statistic=request.statistic,
        null=request.null,
        requirements=request.require,
        parallel=len(lab.slots) or None,
        objectives=request.objectives,
        reserve=request.reserve,
    )
    return with_instance_numbers(spec)


def _with_space(
    request: TuneRequest, context: Context, lab: Laboratory, spec: StudySpec, space: Space
) -> StudySpec:
    """Return the specification with a space, and with the earlier studies that guide the search."""
    if not request.warm_start:
        spec = msgspec.structs.replace(spec, space=space)
        return with_history(spec, request.history, lab.space(spec))
    with opened_store(context.db) as store:
        warm_start = parse_warm_start(store, request.warm_start, spec)
        return _with_earlier(request, lab, store, warm_start, spec, space)


def _with_earlier(
    request: TuneRequest,
    lab: Laboratory,
    store: Store,
    warm_start: WarmStartRequest,
    spec: StudySpec,
    space: Space,
) -> StudySpec:
    """Return the specification with a space, and with results of earlier studies."""
    spec = msgspec.structs.replace(spec, space=space)
    here = fingerprint(lab.machine)
    spec = msgspec.structs.replace(
        spec, earlier_studies=earlier_studies(store, warm_start, spec, lab.space(spec), here)
    )
    return with_history(spec, request.history, lab.space(spec))


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
