"""Prediction of the efficiency of a program from a short observation.

Computation, stalls and transfers are measured. They determine the present efficiency, and the
efficiency with a perfect overlap of computation and transfers. The latter is the model min(1, I /
I*) of assay.tier.efficiency, with seconds of computation instead of operations, so that no hardware
counters are needed. I / I* is the computation time per byte over the transfer time per byte.

Threads and processes run concurrently: the computation takes as long as that of the busiest thread.
"""

from __future__ import annotations

from assay.records.codec import Record
from assay.tier.efficiency import Device

_GIB = 2**30
_GOOD_EFFICIENCY = 0.8
"""Minimum efficiency that is reported as good."""


class ActivitySnapshot(Record, frozen=True, kw_only=True):
    """Activity of a program up to a time, summed over its processes.

    Attributes:
        at_s: monotonic time, in seconds.
        cpu_s: CPU time of its threads without those of the pager, in seconds.
        thread_s: CPU time of each existing thread, by thread id, in seconds.
        stall_s: time waiting for chunks, in seconds.
        zero_fill_faults, demand_faults, in_flight_faults, prefetch_hits: page faults, as in
            assay.tier.meter.
        read_bytes, written_bytes: bytes read from and written to the backing store.
    """

    at_s: float
    cpu_s: float
    thread_s: dict[int, float]
    stall_s: float
    zero_fill_faults: int
    demand_faults: int
    in_flight_faults: int
    prefetch_hits: int
    read_bytes: int
    written_bytes: int


class Prediction(Record, frozen=True, kw_only=True):
    """Prediction for continued execution of the observed phase.

    Attributes:
        wall_s: length of the observation, in seconds.
        cpu_s: CPU time of all threads, in seconds.
        compute_s: computation time on the present threads, in seconds.
        stall_s: time during which threads waited for chunks, in seconds.
        read_bytes: bytes read from the backing store.
        written_bytes: bytes written to the backing store.
        efficiency: computation time over computation and stall time, or over the length of the
            observation, because several threads may stall at the same time.
        max_efficiency: efficiency if stalls were hidden behind computation as far as the device
            allows.
        compute_s_per_gib: computation time for each transferred GiB, in seconds; absent without
            transfers.
        transfer_s_per_gib: transfer time for each GiB, in seconds.
        prefetched_share: share of fetched chunks that were prefetched; absent without fetches.
        mostly_zero_fill: true if most page faults were zero-fill faults.
    """

    wall_s: float
    cpu_s: float
    compute_s: float
    stall_s: float
    read_bytes: int
    written_bytes: int
    efficiency: float
    max_efficiency: float
    compute_s_per_gib: float | None = None
    transfer_s_per_gib: float | None = None
    prefetched_share: float | None = None
    mostly_zero_fill: bool = False


def predict(before: ActivitySnapshot, after: ActivitySnapshot, device: Device) -> Prediction:
    """Return the prediction from two snapshots."""

    def more(name: str) -> float:
        return float(getattr(after, name) - getattr(before, name))

    wall_s, cpu_s, stall_s = more("at_s"), more("cpu_s"), more("stall_s")
    threads = [ran_s - before.thread_s.get(one, 0.0) for one, ran_s in after.thread_s.items()]
    # Only the sum of ended threads is known; they are assumed to have run sequentially.
    ended_s = max(0.0, cpu_s - sum(threads))
    work_s = min(max(threads, default=0.0) + ended_s, wall_s)
    whole_s = min(work_s + stall_s, wall_s)
    read, written = more("read_bytes"), more("written_bytes")
    fetched = more("demand_faults") + more("in_flight_faults") + more("prefetch_hits")
    moved_gib = (read + written) / _GIB
    device_s = read / device.read + written / device.write
    return Prediction(
        wall_s=wall_s,
        cpu_s=cpu_s,
        compute_s=work_s,
        stall_s=stall_s,
        read_bytes=int(read),
        written_bytes=int(written),
        efficiency=work_s / whole_s if whole_s > 0 else 1.0,
        max_efficiency=min(1.0, work_s / device_s) if device_s > 0 else 1.0,
        compute_s_per_gib=work_s / moved_gib if moved_gib else None,
        transfer_s_per_gib=device_s / moved_gib if moved_gib else None,
        prefetched_share=more("prefetch_hits") / fetched if fetched else None,
        mostly_zero_fill=more("zero_fill_faults") > fetched,
    )


def reasons(found: Prediction) -> list[str]:
    """Return the reasons of the prediction and possible improvements, as sentences."""
    if found.mostly_zero_fill:
        return [
            "The program was initialising its memory: observe it longer (--for), until it accesses "
            "initialised data."
        ]
    if (
        found.compute_s_per_gib is None
        or found.transfer_s_per_gib is None
        or found.prefetched_share is None
    ):
        return ["The accessed data fit into DRAM: the backing store was not needed."]
    reasons_shown = [
        f"Each transferred GiB takes {found.compute_s_per_gib:.2g} s of computation and "
        f"{found.transfer_s_per_gib:.2g} s of transfer: I / I* is "
        f"{found.compute_s_per_gib / found.transfer_s_per_gib:.2g}."
    ]
    if found.efficiency > found.max_efficiency:
        reasons_shown.append(
            "Fault handling counts as computation, so the true efficiency is lower."
        )
    if found.efficiency >= _GOOD_EFFICIENCY:
        return [*reasons_shown, "The program is well suited for the memory tier."]
    if found.prefetched_share < 0.5:
        reasons_shown.append(
            f"Only {100 * found.prefetched_share:.0f} % of the fetched chunks were prefetched: the "
            "access order shows no pattern. Use more DRAM, or access the data in the order of "
            "their addresses."
        )
    elif found.max_efficiency < _GOOD_EFFICIENCY:
        reasons_shown.append(
            "The device is the bottleneck: use faster or more paths, more DRAM, or more "
            "computation per fetched chunk (blocking, tiles)."
        )
    return reasons_shown
