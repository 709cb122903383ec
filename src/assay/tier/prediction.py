"""Prediction: from a short look, how fast a program will be with storage behind its memory.

What it computes, what it waits for and what is brought for it are counted; from these follow its
efficiency as it is, and the one that a perfect overlap of work and transfers would give: the model
min(1, I / I*) of assay.tier.efficiency, with seconds of work in place of operations, so that no
counters of the processor are needed. I / I* is the work for a byte over the time that the device
takes for it.

Threads work at the same time, and so do processes: work takes as long as that of the thread which
has most of it.
"""

from __future__ import annotations

from assay.records.codec import Record
from assay.tier.efficiency import Device

_GIB = 2**30
_ENOUGH = 0.8
"""Efficiency from which on storage is said to serve."""


class ActivitySnapshot(Record, frozen=True, kw_only=True):
    """What a program had done by a moment, all its processes together.

    Attributes:
        at_s: of a clock that only goes forward.
        cpu_s: of its own threads, those of the pager left out.
        thread_s: of each of them that there is, by its number.
        stall_s: that chunks were waited for.
        first, demand, late, staged: touches (assay.tier.meter).
        read_bytes, written_bytes: from and to storage.
    """

    at_s: float
    cpu_s: float
    thread_s: dict[int, float]
    stall_s: float
    first: int
    demand: int
    late: int
    staged: int
    read_bytes: int
    written_bytes: int


class Prediction(Record, frozen=True, kw_only=True):
    """What is to be expected while it goes on like this.

    Attributes:
        wall_s: that it was looked at.
        cpu_s, stall_s: that all its threads computed, and that chunks were waited for.
        work_s: that its work took, on as many threads as it has.
        read_bytes, written_bytes: meanwhile, from and to storage.
        efficiency: work over work and waiting, or over the time that there was: several threads
            may wait at the same time.
        overlap: the same, if all waiting hid behind work as far as the device allows.
        work_s_per_gib: work for each GiB that was brought or taken away; absent where none was.
        device_s_per_gib: that the device takes for as much.
        foreseen: of the chunks that came from storage, those that were read before they were
            touched; absent where none came.
        filling: whether most touches were of what was never written before.
    """

    wall_s: float
    cpu_s: float
    work_s: float
    stall_s: float
    read_bytes: int
    written_bytes: int
    efficiency: float
    overlap: float
    work_s_per_gib: float | None = None
    device_s_per_gib: float | None = None
    foreseen: float | None = None
    filling: bool = False


def predict(before: ActivitySnapshot, after: ActivitySnapshot, device: Device) -> Prediction:
    """From what lies between two looks."""

    def more(name: str) -> float:
        return float(getattr(after, name) - getattr(before, name))

    wall_s, cpu_s, stall_s = more("at_s"), more("cpu_s"), more("stall_s")
    threads = [ran_s - before.thread_s.get(one, 0.0) for one, ran_s in after.thread_s.items()]
    # Of threads that have ended only the sum is known; they are taken to have come one by one.
    ended_s = max(0.0, cpu_s - sum(threads))
    work_s = min(max(threads, default=0.0) + ended_s, wall_s)
    whole_s = min(work_s + stall_s, wall_s)
    read, written = more("read_bytes"), more("written_bytes")
    came = more("demand") + more("late") + more("staged")
    moved_gib = (read + written) / _GIB
    device_s = read / device.read + written / device.write
    return Prediction(
        wall_s=wall_s,
        cpu_s=cpu_s,
        work_s=work_s,
        stall_s=stall_s,
        read_bytes=int(read),
        written_bytes=int(written),
        efficiency=work_s / whole_s if whole_s > 0 else 1.0,
        overlap=min(1.0, work_s / device_s) if device_s > 0 else 1.0,
        work_s_per_gib=work_s / moved_gib if moved_gib else None,
        device_s_per_gib=device_s / moved_gib if moved_gib else None,
        foreseen=more("staged") / came if came else None,
        filling=more("first") > came,
    )


def reasons(found: Prediction) -> list[str]:
    """Why it is so, and what may help; sentences."""
    if found.filling:
        return [
            "It was writing its memory for the first time: look longer (--for), until it works "
            "with what it has."
        ]
    if found.work_s_per_gib is None or found.device_s_per_gib is None or found.foreseen is None:
        return ["What it touched fits into the DRAM: storage was not needed."]
    told = [
        f"For each GiB that is moved it works {found.work_s_per_gib:.2g} s, and storage takes "
        f"{found.device_s_per_gib:.2g} s: I / I* is "
        f"{found.work_s_per_gib / found.device_s_per_gib:.2g}."
    ]
    if found.efficiency > found.overlap:
        told.append("What faults cost counts as work, so its efficiency is lower than it looks.")
    if found.efficiency >= _ENOUGH:
        return [*told, "Storage serves it well."]
    if found.foreseen < 0.5:
        told.append(
            f"Only {100 * found.foreseen:.0f} % of what came was foreseen: it goes through its "
            "data in no order that shows. More DRAM helps, or an order of touches that follows "
            "the data."
        )
    elif found.overlap < _ENOUGH:
        told.append(
            "The device is the limit: faster or more paths help, more DRAM, or more work on what "
            "is there (blocks, tiles)."
        )
    return told
