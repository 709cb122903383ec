"""Counters of the memory tier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.records.codec import Record


class Counts(Record, frozen=True, kw_only=True):
    """Counters of page faults, by the state of the faulting chunk, and of transfers.

    Attributes:
        zero_fill_faults: zero-fill faults: the chunk was never written.
        demand_faults: demand faults: the thread waited for a complete read.
        in_flight_faults: faults on a chunk whose transfer was already in flight.
        prefetch_hits: faults on a prefetched chunk.
        second_chance_hits: second-chance hits: the chunk was unmapped and still in memory.
        unused_prefetches: prefetched chunks that were evicted before their first use.
        clean_evictions: evictions without write-back, because the backing store was up to date.
        read_bytes: bytes read from the backing store.
        written_bytes: bytes written to the backing store.
        stall_s: time during which threads waited for chunks, summed over chunks, in seconds.
    """

    zero_fill_faults: int
    demand_faults: int
    in_flight_faults: int
    prefetch_hits: int
    second_chance_hits: int
    unused_prefetches: int
    clean_evictions: int
    read_bytes: int
    written_bytes: int
    stall_s: float


def counts_by_name(numbers: Sequence[int]) -> dict[str, Any]:
    """Return the fields of ``Counts`` from native counters.

    Args:
        numbers: members of ``Counts`` in ``native/tier/base/meter.hpp``, in their order. The last
            one is the stall time in ns.
    """
    *counters, stall_ns = numbers
    names = [name for name in Counts.__struct_fields__ if name != "stall_s"]
    return {**dict(zip(names, counters, strict=True)), "stall_s": stall_ns / 1e9}
