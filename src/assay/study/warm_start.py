"""Earlier studies of a store that can guide a new one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from assay.errors import InvalidInputError
from assay.records import BuildRecipe, EarlierStudy, Kind, Metric, Statistic, Status, StudySpec
from assay.search.model.warm_start import (
    MAX_CONFIGURATIONS,
    MIN_CONFIGURATIONS,
    is_informative,
    limit_results,
    transferable_results,
)
from assay.search.space.search_space import SearchSpace
from assay.store import Store, StudyRecord
from assay.units import show_count

KINDS = (Kind.TUNE, Kind.SWEEP)
"""Verbs whose studies launch many configurations."""
MAX_FOUND_STUDIES = 3
"""Studies that are taken where they are looked for; of more the newest."""
MAX_NAMED_STUDIES = 8
"""Each has a correlation of its own that is fitted."""


@dataclass(frozen=True)
class WarmStartRequest:
    """Which earlier studies are to guide a new one.

    Attributes:
        studies: whole ids, named by the user.
        looked_for: whether they are to be looked for in the store instead.
    """

    studies: tuple[str, ...] = ()
    looked_for: bool = False


def parse_warm_start(store: Store, texts: Sequence[str], spec: StudySpec) -> WarmStartRequest:
    """Read the words of ``--warm-start``; all that can be wrong before anything is launched.

    Args:
        store: where studies are.
        texts: ids or beginnings of them, ``auto``, or ``none``.
        spec: of the new study.

    Raises:
        InvalidInputError: an unknown study, one of another kind, one that decides by something else; or
            words that do not go together.
    """
    words = list(dict.fromkeys(texts))
    for alone in ("auto", "none"):
        if alone in words and len(words) > 1:
            raise InvalidInputError(
                f"--warm-start {alone} goes with no other.", "Name studies, or give it alone."
            )
    if words in ([], ["none"]):
        return WarmStartRequest()
    if words == ["auto"]:
        return WarmStartRequest(looked_for=True)
    ids = tuple(dict.fromkeys(store.find(text) for text in words))
    if len(ids) > MAX_NAMED_STUDIES:
        raise InvalidInputError(
            f"--warm-start takes {MAX_NAMED_STUDIES} studies at most, and {len(ids)} are named.",
            "Name those that are most alike.",
        )
    for study_id in ids:
        reason = _of_no_use(store.study(study_id).spec, spec)
        if reason is not None:
            raise InvalidInputError(f"Study {study_id} cannot be started from: {reason}.", _OTHERS)
    return WarmStartRequest(ids)


_OTHERS = "`assay study list` shows the others; --warm-start auto takes what fits."


def earlier_studies(
    store: Store, wanted: WarmStartRequest, spec: StudySpec, space: SearchSpace, machine: str
) -> tuple[EarlierStudy, ...]:
    """What earlier studies knew of the configurations of a new one.

    Those that are looked for are the newest of the same workload, else of the same machine.

    Args:
        store: where studies are.
        wanted: which of them.
        spec: of the new study.
        space: of the new study.
        machine: fingerprint of the machine at hand.

    Returns:
        Each knows something; empty where none was wanted, or none was found.

    Raises:
        InvalidInputError: a study that was named tells nothing of this space.
    """
    if wanted.looked_for:
        return _shared_out(_found(store, spec, space, machine))
    told = []
    for study_id in wanted.studies:
        one = _told(store, store.study(study_id), spec, space)
        if not is_informative(one):
            raise InvalidInputError(
                f"Study {study_id} tells nothing of what is tried here: {_why(one)}.", _OTHERS
            )
        told.append(one)
    return _shared_out(told)


def _why(one: EarlierStudy) -> str:
    if not one.launches:
        return "it has made no launch"
    if one.left_out:
        held = show_count(len(one.known), "is", "are") if one.known else "none is"
        return f"of its configurations {held} in this space"
    return "the settings of its configurations are not varied here"


def _of_no_use(earlier: StudySpec, spec: StudySpec) -> str | None:
    """Why a study can guide no study of this kind; ``None`` where it can."""
    if earlier.kind not in KINDS:
        return f"it is of the kind {earlier.kind}, and only tune and sweep try many configurations"
    theirs, ours = _decided_by(earlier), _decided_by(spec)
    if theirs != ours:
        return f"it decides by {theirs}, and this one by {ours}"
    return None


def _decided_by(spec: StudySpec) -> str:
    """What of which metric; means and medians guide alike."""
    metric: Metric = spec.workload.objective
    spread = "the spread of " if spec.statistic is Statistic.SPREAD else ""
    return f"{spread}{metric.name} ({metric.goal} is better)"


def _found(store: Store, spec: StudySpec, space: SearchSpace, machine: str) -> list[EarlierStudy]:
    """Of the same workload, else of the same machine."""
    records = list(_candidates(store, spec))
    same = [r for r in records if _is_same(r.spec, spec)]
    here = [r for r in records if r.strata[-1].machine == machine]
    for group in (same, here):
        told = []
        for record in group:
            one = _told(store, record, spec, space)
            if is_informative(one):
                told.append(one)
            if len(told) == MAX_FOUND_STUDIES:
                break
        if told:
            return told
    return []


def _is_same(earlier: StudySpec, spec: StudySpec) -> bool:
    """Whether two studies are of the same workload: the same command, built alike.

    Where it is built, the command names no program: what builds it, and where, tells it apart.
    """
    theirs, ours = earlier.workload, spec.workload
    return theirs.argv == ours.argv and _made_by(theirs.build) == _made_by(ours.build)


def _made_by(recipe: BuildRecipe | None) -> tuple[tuple[str, ...], str | None] | None:
    return None if recipe is None else (recipe.argv, recipe.cwd)


def _candidates(store: Store, spec: StudySpec) -> Iterator[StudyRecord]:
    """Studies that may be of use, the newest first."""
    for head in reversed(store.studies()):
        if head.kind in KINDS and head.status in (Status.DONE, Status.INTERRUPTED):
            record = store.study(head.id)
            if _of_no_use(record.spec, spec) is None:
                yield record


def _told(store: Store, record: StudyRecord, spec: StudySpec, space: SearchSpace) -> EarlierStudy:
    """What a study knew; of the newest stratum that has samples."""
    strata = reversed(record.strata)
    samples = next(filter(None, (store.samples(record.id, s.number) for s in strata)), [])
    known, left_out = transferable_results(record.spec, samples, space)
    return EarlierStudy(
        study=record.id,
        command=record.spec.command_line,
        same_workload=_is_same(record.spec, spec),
        launches=len(samples),
        known=tuple(known),
        left_out=left_out,
    )


def _shared_out(told: Sequence[EarlierStudy]) -> tuple[EarlierStudy, ...]:
    """No more altogether than a model is told."""
    most = max(MIN_CONFIGURATIONS, MAX_CONFIGURATIONS // max(1, len(told)))
    return tuple(msgspec.structs.replace(one, known=limit_results(one.known, most)) for one in told)
