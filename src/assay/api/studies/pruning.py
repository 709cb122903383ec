"""Pruning of a store: old studies, or parts of them, are deleted by a policy."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from assay.bundle.thinning import VerdictData, thinned
from assay.errors import AssayError, NotPossibleError
from assay.records import Conclusion, Sample, Status, Stratum
from assay.store import DamagedStudyError, Store, StoreUnusableError, StudyHead, StudyRecord
from assay.study.recorded_samples import stored_samples

_ACTIVE = {Status.RUNNING: "it is running", Status.PAUSED: "it waits for another boot"}


class Extent(enum.StrEnum):
    """Part of a study that is deleted."""

    STUDY = "study"
    THIN = "thin"
    """Outputs, and parts of samples that no verdict needs."""
    REMOVE = "remove"
    """The same, and all samples without a verdict."""


@dataclass(frozen=True)
class PrunePolicy:
    """Studies to prune, and the extent.

    Attributes:
        begun_before: studies begun earlier, in seconds since 1970 (UTC); ``None`` for all.
        keep_last: number of the newest studies that are kept.
        extent: deleted part.
    """

    begun_before: float | None = None
    keep_last: int = 0
    extent: Extent = Extent.STUDY


@dataclass(frozen=True)
class Pruned:
    """Study of a policy.

    Attributes:
        head: the study before.
        freed_bytes: approximate size of the deleted part, in bytes.
        kept_because: reason why the study is left whole; ``None`` if it is pruned.
        damaged: the reason is that the study is damaged.
    """

    head: StudyHead
    freed_bytes: int = 0
    kept_because: str | None = None
    damaged: bool = False


def prune(
    store: Store,
    policy: PrunePolicy,
    *,
    apply: bool,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[Pruned]:
    """Prune the studies of a policy; yield those that lose data or are left whole.

    Args:
        store: store of the studies.
        policy: studies and extent.
        apply: delete the data; otherwise nothing is changed.
        progress: called with the number of examined studies, and of all of the policy.

    Raises:
        StoreUnusableError: the database is unusable; pruned studies remain pruned.
    """
    heads = chosen(store, policy)
    for number, head in enumerate(heads):
        progress(number, len(heads))
        found = _pruned(store, policy.extent, head, apply)
        if found is not None:
            yield found
    progress(len(heads), len(heads))


def chosen(store: Store, policy: PrunePolicy) -> list[StudyHead]:
    """Return the studies of a policy, the oldest first."""
    heads = store.studies()
    if policy.keep_last:
        heads = heads[: -policy.keep_last]
    if policy.begun_before is None:
        return heads
    return [head for head in heads if head.created_at < policy.begun_before]


def _pruned(store: Store, extent: Extent, head: StudyHead, apply: bool) -> Pruned | None:
    """Prune a study; return ``None`` if it has nothing to lose."""
    if head.status in _ACTIVE:
        return Pruned(head, kept_because=_ACTIVE[head.status])
    try:
        if extent is Extent.STUDY:
            return _deleted(store, head, apply)
        return _reduced(store, extent, head, apply)
    except StoreUnusableError:
        raise
    except AssayError as error:
        damaged = isinstance(error, DamagedStudyError)
        return Pruned(head, kept_because=error.cause.rstrip("."), damaged=damaged)


def _deleted(store: Store, head: StudyHead, apply: bool) -> Pruned:
    size = store.study_bytes(head.id)
    if apply:
        with _held(store, head.id):
            store.delete(head.id)
    return Pruned(head, freed_bytes=size)


@contextmanager
def _held(store: Store, study_id: str) -> Iterator[None]:
    """Hold a study for the time of a block.

    Raises:
        NotPossibleError: it runs, or it was resumed since the list was read, and paused.
    """
    store.acquire(study_id)
    try:
        if store.study(study_id).status is Status.PAUSED:
            raise NotPossibleError(_ACTIVE[Status.PAUSED])
        yield
    finally:
        store.release(study_id)


def _reduced(store: Store, extent: Extent, head: StudyHead, apply: bool) -> Pruned | None:
    """Thin a study; all of its strata are examined before the first is changed.

    Returns ``None`` if no stratum loses data.
    """
    with _held(store, head.id) if apply else nullcontext():
        record, verdicts = store.study(head.id), store.conclusions(head.id)
        if record.conclusion is not None and not verdicts:
            return Pruned(head, kept_because="the stratum of its verdict is unknown")
        changes: dict[int, Sequence[Sample]] = {}
        freed = 0
        for stratum in record.strata:
            conclusion = verdicts.get(stratum.number)
            samples = _kept_samples(store, extent, record, stratum, conclusion)
            if samples is not None:
                freed += store.freed_bytes(head.id, stratum.number, samples)
                changes[stratum.number] = samples
        if apply:
            for number, samples in changes.items():
                store.replace_samples(head.id, number, samples)
        # The estimate of a few small samples may be negative.
        return Pruned(head, freed_bytes=max(freed, 0)) if changes else None


def _kept_samples(
    store: Store,
    extent: Extent,
    record: StudyRecord,
    stratum: Stratum,
    conclusion: Conclusion | None,
) -> Sequence[Sample] | None:
    """Return the thinned samples of a stratum; ``None`` if it loses nothing."""
    whole = stored_samples(store, record.id, stratum.number)
    kept: Sequence[Sample] = whole
    if conclusion is not None:
        plans = store.plans(record.id, stratum.number)
        kept = thinned(VerdictData(record.spec, stratum, conclusion, plans, whole))
    if extent is Extent.REMOVE:
        count = conclusion.launches if conclusion is not None else 0
        kept = kept[:count] if count < len(kept) else kept
    has_outputs = any(store.outputs(record.id, stratum.number))
    return kept if kept is not whole or has_outputs else None
