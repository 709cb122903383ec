"""Execution of ``SweepRequest``."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from assay.api.composition import laboratory, opened_store
from assay.api.context import Context
from assay.api.studies.boot_settings import prepare_boot_settings
from assay.api.studies.built import with_built
from assay.api.studies.reserving import in_share
from assay.api.studies.sweep_specification import SweepFile, read_sweep
from assay.errors import NotPossibleError
from assay.records import StudySpec
from assay.requests.sweep import SweepRequest
from assay.search.races.sweep import WARMUP, min_blocks, min_launches
from assay.study.instance_numbers import with_instance_numbers
from assay.study.laboratory import Laboratory
from assay.study.result import StudyResult
from assay.study.session import begin
from assay.units import show_count


class DesignChoice(NamedTuple):
    """Cells of a sweep, as they are known before the first launch.

    Attributes:
        spec: specification of the sweep.
        launches: smallest number of launches of all cells.
    """

    spec: StudySpec
    launches: int


def sweep(request: SweepRequest, context: Context) -> StudyResult | DesignChoice:
    """Run a designed experiment; return the result, or the cells of a dry run.

    Raises:
        AssayError: the file or the request is invalid, or the study fails.
    """
    file = read_sweep(request.file)
    lab = laboratory(context, file.program())
    with in_share(
        lab,
        request.reserve,
        context.observer,
        seed=request.seed or 0,
        take=not request.dry_run,
    ) as placed:
        return _sweep(request, context, placed, file)


def _sweep(
    request: SweepRequest, context: Context, lab: Laboratory, file: SweepFile
) -> StudyResult | DesignChoice:
    observer = context.observer
    spec = file.specification(request, lab.registry, lab.machine, lab.admits)
    spec = msgspec.structs.replace(with_instance_numbers(spec), reserve=request.reserve)
    lab, spec = prepare_boot_settings(request.boot, lab, spec, observer)
    if request.dry_run:
        return DesignChoice(spec, min_launches(spec))
    _demand_room(spec)
    observer.workload_known(spec.workload, spec.budget)
    lab = with_built(lab, spec, observer.building)
    with opened_store(context.db) as store:
        observer.design_known(spec)
        with observer.listening(spec) as listener:
            return begin(lab, store, spec, listener, stop=context.stop)


def _demand_room(spec: StudySpec) -> None:
    """Raise on a budget with too few launches for all cells.

    Raises:
        NotPossibleError: the budget is too small; names a sufficient number.
    """
    launches = min_launches(spec)
    if spec.budget.launches is not None and launches > spec.budget.launches:
        raise NotPossibleError(
            f"The budget is too small: {show_count(len(spec.arms), 'cell')} take {launches:,} "
            f"launches at least, {plan_words(spec)}.",
            f"Give it --runs {launches}, or fewer cells or blocks.",
        )


def plan_words(spec: StudySpec) -> str:
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
