"""What pagers of this host show of themselves.

Each pager keeps its counters in an anonymous file (memfd_create(2)). Other processes find it among the
descriptors of the pager's thread, which has a descriptor table of its own, and may open it if they
may trace the process (proc(5), ``/proc/PID/task/TID/fd``). ``native/tier/base/meter.hpp`` defines
the layout.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from assay.records.codec import Record

Mechanism = Literal["pager", "advisor"]
THREAD_NAME = "assay-tier"
"""Name of threads that pagers work in."""
_NAME = "/memfd:assay-tier"
_MARK = b"assay-t3"
_HEAD = struct.Struct("=8s15Q")
_HOWS: tuple[Mechanism, ...] = ("pager", "advisor")
_ENTRY = struct.Struct("=13Q")
_MOST_ENTRIES = 1 << 16
"""Of a pager; any user may give memory its name, and anything for content."""


class Counts(Record, frozen=True, kw_only=True):
    """What became of touches, and what was transferred.

    Attributes:
        first: touches of what was never written.
        demand: chunks that a thread waited for from the beginning of their transfer on.
        late: chunks that a thread waited for, which were on their way.
        staged: chunks that were read ahead, and there when they were touched.
        again: chunks that had been unmapped only, and were there.
        wasted: chunks that were read ahead, and given up without a touch.
        unchanged: chunks taken away without being written.
        read_bytes, written_bytes: from and to storage.
        stall_s: that chunks were waited for, altogether.
    """

    first: int
    demand: int
    late: int
    staged: int
    again: int
    wasted: int
    unchanged: int
    read_bytes: int
    written_bytes: int
    stall_s: float


class Region(Counts, frozen=True, kw_only=True):
    """Large memory of a program, and what became of its touches.

    Attributes:
        base: its first address.
        size_bytes: of all of it.
        held_bytes: of it, in memory.
    """

    base: int
    size_bytes: int
    held_bytes: int


class Meter(Record, frozen=True, kw_only=True):
    """A process with a pager.

    Attributes:
        pid: as it is known here.
        command: its command line.
        dram_bytes: what its regions may hold together.
        chunk_bytes: what is brought at once, where that pays.
        how: who brings it. Of what the advisor does, transfers are what it asked for and had paged
            out, and chunks are pages; what threads waited for it does not know.
        regions: the largest first.
        counts: of all regions, those that are no more too.
    """

    pid: int
    command: str
    dram_bytes: int
    chunk_bytes: int
    how: Mechanism
    regions: tuple[Region, ...]
    counts: Counts


def read_meters(proc: Path = Path("/proc")) -> list[Meter]:
    """Those that this user may see, by process id."""
    found = []
    for folder in sorted(
        (one for one in proc.iterdir() if one.name.isdecimal()), key=lambda one: int(one.name)
    ):
        found += _shown_by(folder)
    return found


def _shown_by(process: Path) -> list[Meter]:
    """Return the meters of a process, once each: its threads may share a descriptor table."""
    found: dict[int, Meter] = {}
    with contextlib.suppress(OSError):  # it has ended meanwhile, or is another user's
        for thread in list((process / "task").iterdir()):
            if _name(thread) != THREAD_NAME:
                continue
            for descriptor in list((thread / "fd").iterdir()):
                for meter in _shown_at(process, descriptor):
                    found.setdefault(descriptor.stat().st_ino, meter)
    return list(found.values())


def _name(thread: Path) -> str | None:
    try:
        return (thread / "comm").read_text().strip()
    except OSError:  # it has ended meanwhile
        return None


def _shown_at(process: Path, descriptor: Path) -> list[Meter]:
    try:
        is_meter = str(descriptor.readlink()).startswith(_NAME)
        return list(_read(process, descriptor)) if is_meter else []
    except (OSError, struct.error):  # closed meanwhile, or not a meter yet
        return []


def _read(process: Path, descriptor: Path) -> Iterator[Meter]:
    with descriptor.open("rb") as stream:
        mark, pid, dram_bytes, chunk_bytes, how, entries, *ended = _HEAD.unpack(
            stream.read(_HEAD.size)
        )
        # A child of a fork has its parent's descriptor, and does nothing with it.
        if (
            mark != _MARK
            or pid != _own_pid(process)
            or entries > _MOST_ENTRIES
            or how >= len(_HOWS)
        ):
            return
        raw = stream.read(entries * _ENTRY.size)
    rows = list(_ENTRY.iter_unpack(raw))
    regions = [_region(values) for values in rows]
    # A region that is given up has no bytes, and may still have transfers.
    sums = map(sum, zip(ended, *(values[3:] for values in rows), strict=True))
    yield Meter(
        pid=int(process.name),
        command=_command(process),
        dram_bytes=dram_bytes,
        chunk_bytes=chunk_bytes,
        how=_HOWS[how],
        regions=tuple(
            sorted((one for one in regions if one.size_bytes), key=lambda one: -one.size_bytes)
        ),
        counts=Counts(**_named(tuple(sums))),
    )


def _region(values: tuple[int, ...]) -> Region:
    base, size_bytes, held_bytes, *counts = values
    return Region(base=base, size_bytes=size_bytes, held_bytes=held_bytes, **_named(tuple(counts)))


def _named(counts: tuple[int, ...]) -> dict[str, Any]:
    """Numbers in the order of the layout."""
    *numbers, stall_ns = counts
    names = [name for name in Counts.__struct_fields__ if name != "stall_s"]
    return {**dict(zip(names, numbers, strict=True)), "stall_s": stall_ns / 1e9}


def _own_pid(process: Path) -> int:
    """As the process knows itself, perhaps within a container."""
    for line in (process / "status").read_text().splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-1])
    return int(process.name)


def _command(process: Path) -> str:
    words = (process / "cmdline").read_bytes().rstrip(b"\0")
    return words.replace(b"\0", b" ").decode(errors="replace")
