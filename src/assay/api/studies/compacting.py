"""Compaction of a store: documents of an older assay are packed, free space is returned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from assay.errors import AssayError
from assay.records import Status
from assay.store import DamagedStudyError, Store, StoreUnusableError

RUNNING = "it is running"
"""Reason to leave out a study."""
_WORTH_SHARE = 0.01
"""Share of free space of which the return is worth a copy of the store."""


@dataclass(frozen=True)
class Compacted:
    """Result of a compaction.

    Attributes:
        packed_samples: number of packed samples.
        before_bytes: size of the store before, in bytes.
        after_bytes: size of the store after, in bytes.
        free_bytes: free space within the store, in bytes.
        left_out: reasons by study that was left as it is.
        damaged: those of them that are damaged.
        vacuumed: free space was returned.
    """

    packed_samples: int
    before_bytes: int
    after_bytes: int
    free_bytes: int
    left_out: dict[str, str]
    damaged: frozenset[str]
    vacuumed: bool


def compact(
    store: Store,
    *,
    vacuum: bool = True,
    progress: Callable[[int, int, int], None] = lambda done, total, samples: None,
    announce_vacuum: Callable[[], None] = lambda: None,
) -> Compacted:
    """Pack the documents of every study that does not run, and return free space.

    Args:
        store: the store.
        vacuum: return free space to the file system, unless a study is running.
        progress: called with the number of examined studies, of all studies, and of packed samples.
        announce_vacuum: called before free space is returned, which may take minutes.

    Raises:
        NotPossibleError: too little free space for the return; nothing was changed, unless the disk
            was filled during the compaction.
        StoreUnusableError: the database is unusable; packed studies remain packed.
    """
    before = store.file_use()
    if vacuum:
        store.demand_space_for_vacuum()
    heads = store.studies()
    left_out: dict[str, str] = {}
    damaged: set[str] = set()
    packed = 0
    for number, head in enumerate(heads):
        progress(number, len(heads), packed)
        if head.status is Status.RUNNING:
            left_out[head.id] = RUNNING
            continue
        try:
            for count in store.compact(head.id):
                packed += count
                progress(number, len(heads), packed)
        except StoreUnusableError:
            raise
        except AssayError as error:  # also a study that was deleted meanwhile
            left_out[head.id] = error.cause.rstrip(".")
            if isinstance(error, DamagedStudyError):
                damaged.add(head.id)
    progress(len(heads), len(heads), packed)
    running = any(head.status is Status.RUNNING for head in store.studies())
    worth = packed > 0 or store.file_use().free_bytes > _WORTH_SHARE * before.size_bytes
    vacuumed = vacuum and worth and not running
    if vacuumed:
        announce_vacuum()
        store.vacuum()
    after = store.file_use()
    return Compacted(
        packed_samples=packed,
        before_bytes=before.size_bytes,
        after_bytes=after.size_bytes,
        free_bytes=after.free_bytes,
        left_out=left_out,
        damaged=frozenset(damaged),
        vacuumed=vacuumed,
    )
