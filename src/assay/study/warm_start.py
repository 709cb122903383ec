"""Warm start: earlier studies of a store that guide a new one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import msgspec

from assay.errors import InvalidInputError
from assay.records import (
    BuildRecipe,
    EarlierStudy,
    ImportedTrials,
    Kind,
    Metric,
    Statistic,
    Status,
    StudySpec,
)
from assay.records.shell import command_text
from assay.search.history.packed_samples import PackedSamples
from assay.search.model.warm_start import (
    MAX_CONFIGURATIONS,
    MIN_CONFIGURATIONS,
    imported_study,
    is_informative,
    limit_results,
    transferable_results,
)
from assay.search.space.search_space import SearchSpace
from assay.store import Store, StudyRecord, StudySelection
from assay.study.recorded_samples import stored_samples
from assay.units import show_count

KINDS = (Kind.TUNE, Kind.SWEEP)
"""Commands whose studies launch many configurations."""
MAX_FOUND_STUDIES = 3
"""Maximum number of studies found by ``auto``, newest first."""
MAX_NAMED_STUDIES = 8
"""Maximum number of named studies; each adds a fitted correlation to the model."""


@dataclass(frozen=True)
class WarmStartRequest:
    """Requested earlier studies.

    Attributes:
        studies: complete ids named by the user.
        automatic: select suitable studies of the store instead.
    """

    studies: tuple[str, ...] = ()
    automatic: bool = False


def parse_warm_start(store: Store, texts: Sequence[str], spec: StudySpec) -> WarmStartRequest:
    """Parse the values of ``--warm-start``, with all checks that are possible before a launch.

    Args:
        store: store of the studies.
        texts: ids or prefixes of ids, ``auto``, or ``none``.
        spec: specification of the new study.

    Raises:
        InvalidInputError: an unknown study, one of another command or with another objective; or
            conflicting values.
    """
    words = list(dict.fromkeys(texts))
    for alone in ("auto", "none"):
        if alone in words and len(words) > 1:
            raise InvalidInputError(
                f"--warm-start {alone} excludes other values.", "Name studies, or use it alone."
            )
    if words in ([], ["none"]):
        return WarmStartRequest()
    if words == ["auto"]:
        return WarmStartRequest(automatic=True)
    ids = tuple(dict.fromkeys(store.find(text) for text in words))
    if len(ids) > MAX_NAMED_STUDIES:
        raise InvalidInputError(
            f"--warm-start accepts at most {MAX_NAMED_STUDIES} studies, but {len(ids)} are named.",
            "Name the most similar ones.",
        )
    for study_id in ids:
        reason = _unsuitable_reason(store.study(study_id).spec, spec)
        if reason is not None:
            raise InvalidInputError(
                f"Study {study_id} cannot guide this one: {reason}.", _LIST_REMEDY
            )
    return WarmStartRequest(ids)


_LIST_REMEDY = "`assay study list` lists all studies; --warm-start auto selects suitable ones."


def earlier_studies(
    store: Store, wanted: WarmStartRequest, spec: StudySpec, space: SearchSpace, machine: str
) -> tuple[EarlierStudy, ...]:
    """Return the results of earlier studies for configurations of a new one.

    ``auto`` selects the newest studies of the same workload, or otherwise of the same machine.

    Args:
        store: store of the studies.
        wanted: requested studies.
        spec: specification of the new study.
        space: space of the new study.
        machine: fingerprint of the present machine.

    Returns:
        Studies with results; empty if none was requested or found.

    Raises:
        InvalidInputError: a named study has no results for this space.
    """
    if wanted.automatic:
        return _limited_to_capacity(_suitable_studies(store, spec, space, machine))
    studies = []
    for study_id in wanted.studies:
        one = _earlier_study(store, store.study(study_id), spec, space)
        if not is_informative(one):
            raise InvalidInputError(
                f"Study {study_id} has no results for the present space: {_why(one)}.", _LIST_REMEDY
            )
        studies.append(one)
    return _limited_to_capacity(studies)


def with_history(
    spec: StudySpec, history: Sequence[ImportedTrials], space: SearchSpace
) -> StudySpec:
    """Return the specification with trials of other tools as further earlier studies.

    Args:
        spec: specification of the new study.
        history: trials of other tools.
        space: space of the new study.

    Raises:
        InvalidInputError: trials have no results for this space, or another direction.
    """
    if not history:
        return spec
    goal = spec.workload.objective.goal
    imported = (imported_study(trials, goal, space) for trials in history)
    return msgspec.structs.replace(
        spec, earlier_studies=_limited_to_capacity((*spec.earlier_studies, *imported))
    )


def _why(earlier: EarlierStudy) -> str:
    if not earlier.launches:
        return "it has no launches"
    if earlier.unused_configurations:
        held = (
            show_count(len(earlier.known_configurations), "is", "are")
            if earlier.known_configurations
            else "none is"
        )
        return f"of its configurations {held} in this space"
    return "its settings are not varied here"


def _unsuitable_reason(earlier: StudySpec, spec: StudySpec) -> str | None:
    """Return the reason why a study cannot guide another; ``None`` if it can."""
    if earlier.kind not in KINDS:
        return f"it is a {earlier.kind} study; only tune and sweep try many configurations"
    earlier_names, own_names = _decided_by(earlier), _decided_by(spec)
    if earlier_names != own_names:
        return f"its objective is {earlier_names}, and that of this study is {own_names}"
    return None


def _decided_by(spec: StudySpec) -> str:
    """Return the statistic and the metric; mean and median are interchangeable."""
    metric: Metric = spec.workload.objective
    spread = "the spread of " if spec.statistic is Statistic.SPREAD else ""
    return f"{spread}{metric.name} ({metric.goal} is better)"


def _suitable_studies(
    store: Store, spec: StudySpec, space: SearchSpace, machine: str
) -> list[EarlierStudy]:
    """Return studies of the same workload, or otherwise of the same machine."""
    command = StudySelection(kinds=KINDS, command=command_text(spec.workload.argv))
    same = (one for one in _candidates(store, command, spec) if _is_same(one.spec, spec))
    here = (
        one
        for one in _candidates(store, StudySelection(kinds=KINDS, machine=machine), spec)
        if one.strata[-1].machine == machine
    )
    for group in (same, here):
        found = (_earlier_study(store, record, spec, space) for record in group)
        if studies := list(islice(filter(is_informative, found), MAX_FOUND_STUDIES)):
            return studies
    return []


def _is_same(earlier: StudySpec, spec: StudySpec) -> bool:
    """Return whether two studies run the same command, built by the same command.

    The command line of a built program does not identify it, but its build command and directory
    do.
    """
    earlier_workload, own_workload = earlier.workload, spec.workload
    return earlier_workload.argv == own_workload.argv and _build_of(
        earlier_workload.build
    ) == _build_of(own_workload.build)


def _build_of(recipe: BuildRecipe | None) -> tuple[tuple[str, ...], str | None] | None:
    return None if recipe is None else (recipe.argv, recipe.cwd)


def _candidates(store: Store, selection: StudySelection, spec: StudySpec) -> Iterator[StudyRecord]:
    """Yield selected studies with a compatible objective, newest first; each is read when due."""
    for head in reversed(store.studies(selection)):
        if head.status in (Status.DONE, Status.INTERRUPTED):
            record = store.study(head.id)
            if _unsuitable_reason(record.spec, spec) is None:
                yield record


def _earlier_study(
    store: Store, record: StudyRecord, spec: StudySpec, space: SearchSpace
) -> EarlierStudy:
    """Return the results of the newest stratum with samples."""
    strata = reversed(record.strata)
    stored = (stored_samples(store, record.id, s.number) for s in strata)
    samples = next(filter(None, stored), PackedSamples())
    known, left_out = transferable_results(record.spec, samples, space)
    return EarlierStudy(
        study=record.id,
        command=record.spec.command_line,
        same_workload=_is_same(record.spec, spec),
        launches=len(samples),
        known_configurations=tuple(known),
        unused_configurations=left_out,
    )


def _limited_to_capacity(studies: Sequence[EarlierStudy]) -> tuple[EarlierStudy, ...]:
    """Limit the total number of configurations to the capacity of the model."""
    most = max(MIN_CONFIGURATIONS, MAX_CONFIGURATIONS // max(1, len(studies)))
    return tuple(
        msgspec.structs.replace(
            one, known_configurations=limit_results(one.known_configurations, most)
        )
        for one in studies
    )
