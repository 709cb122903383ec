"""Comparison of a recommendation with the default, on the current system."""

from __future__ import annotations

import os

import msgspec

from assay.api.composition import laboratory_of
from assay.api.context import Context
from assay.api.launches.recommended import chosen_of
from assay.api.studies.built import with_built
from assay.errors import InvalidInputError, NotPossibleError
from assay.partition.registry import active_partitions
from assay.records import StudySpec
from assay.requests.stored_study import ConfirmRequest
from assay.search.history.cross_environment import confirmation_of
from assay.store import Store
from assay.study.in_process import demand_launchable
from assay.study.laboratory import Laboratory
from assay.study.result import StudyResult
from assay.study.session import begin


def confirm(request: ConfirmRequest, context: Context, store: Store, study_id: str) -> StudyResult:
    """Compare the recommendation of a study with the default, without a share of a partition.

    Args:
        request: request with budget and point.
        context: context of the request.
        store: store of the study and of the comparison.
        study_id: id of the study.

    Raises:
        InvalidInputError: the study has no recommendation, or recommends the default.
        NotPossibleError: its program is missing, or its partition still exists.
    """
    record = store.study(study_id)
    demand_launchable(record)
    chosen = chosen_of(record, request.point)
    assert record.conclusion is not None
    if not chosen:
        raise InvalidInputError(
            f"Study {study_id} recommends the default: there is nothing to confirm.",
            f"`assay study show {study_id}` shows the reason.",
        )
    _demand_fair(study_id, record.spec)
    spec = confirmation_of(study_id, record.spec, record.conclusion, chosen, request.budget)
    if request.changes_disturbed_above:
        spec = msgspec.structs.replace(spec, disturbed_above=request.disturbed_above)
    lab = with_built(laboratory_of(spec, context), spec, context.observer.building)
    demand_programs(lab, study_id)
    with context.observer.listening(spec) as listener:
        return begin(lab, store, spec, listener, stop=context.stop)


def _demand_fair(study_id: str, spec: StudySpec) -> None:
    """Raise if the default cannot run under the conditions of the recommendation.

    Raises:
        InvalidInputError: the study varied boot settings, or ran in slots.
        NotPossibleError: its partition still exists.
    """
    if spec.reboot_settings or spec.parallel:
        why = "varied boot settings" if spec.reboot_settings else "ran in slots (--parallel)"
        raise InvalidInputError(
            f"Study {study_id} {why}, which a confirmation does not support.",
            "Compare them yourself: assay compare --arm 'SETTING=VALUE' --arm 'SETTING=VALUE' "
            "-- COMMAND",
        )
    if spec.reserve is None:
        return
    active = [partition.name for partition in active_partitions(os.environ)]
    own = [name for name in active if spec.reserve.partition in ("", name)]
    if own:
        raise NotPossibleError(
            f"The partition {own[0]} exists: the default would run on fewer resources.",
            f"Root deletes it first: `assay partition delete {own[0]}`.",
        )


def demand_programs(lab: Laboratory, study_id: str) -> None:
    """Raise if a program of a study is missing.

    Raises:
        NotPossibleError: a program is missing; names the first.
    """
    for program in filter(None, (lab.program, *lab.others)):
        if program.path is None:
            raise NotPossibleError(
                f"The program {program.argv0!r} of study {study_id} no longer exists.",
                "Restore it at its path, or begin a new study with its new path.",
            )
