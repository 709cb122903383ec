"""Meters: counters of the pagers of this host.

Each pager has its counters in an anonymous file (memfd_create(2)). Other processes find it among
the descriptors of the pager's thread, which has its own descriptor table, and may open it if they
may trace the process (proc(5), ``/proc/PID/task/TID/fd``). ``native/tier/base/meter.hpp`` defines
the layout.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from assay.records.codec import Record
from assay.tier.counts import Counts, counts_by_name

Mechanism = Literal["pager", "advisor"]
THREAD_NAME = "assay-tier"
"""Name of pager threads."""
_NAME = "/memfd:assay-tier"
_MARK = b"assay-t3"
_HEAD = struct.Struct("=8s15Q")
_HOWS: tuple[Mechanism, ...] = ("pager", "advisor")
_ENTRY = struct.Struct("=13Q")
_MAX_ENTRIES = 1 << 16
"""Maximum number of entries of a pager: any user may create a file of that name with any
content."""


class Region(Counts, frozen=True, kw_only=True):
    """Memory region of a program, with its counters.

    Attributes:
        address: first address.
        size_bytes: size of the region, in bytes.
        resident_bytes: size of the resident part, in bytes.
    """

    address: int
    size_bytes: int
    resident_bytes: int


class Meter(Record, frozen=True, kw_only=True):
    """Process with a pager.

    Attributes:
        pid: process id on this host.
        command: command line.
        dram_bytes: maximum resident size of all regions, in bytes.
        chunk_bytes: maximum size of a fetch, in bytes.
        mechanism: pager or advisor. Transfers of the advisor are its requests for prefetch and
            page-out, its chunks are pages, and it does not measure stall times.
        regions: regions, largest first.
        counts: counters of all regions, including freed ones.
    """

    pid: int
    command: str
    dram_bytes: int
    chunk_bytes: int
    mechanism: Mechanism
    regions: tuple[Region, ...]
    counts: Counts


def read_meters(proc: Path = Path("/proc")) -> list[Meter]:
    """Return the pagers that this user may inspect, by process id."""
    found = []
    for folder in sorted(
        (one for one in proc.iterdir() if one.name.isdecimal()), key=lambda one: int(one.name)
    ):
        found += _shown_by(folder)
    return found


def _shown_by(process: Path) -> list[Meter]:
    """Return the meters of a process, once each: its threads may share a descriptor table."""
    found: dict[int, Meter] = {}
    with contextlib.suppress(OSError):  # ended meanwhile, or of another user
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
        # A forked child inherits the descriptor without using it.
        if mark != _MARK or pid != _own_pid(process) or entries > _MAX_ENTRIES or how >= len(_HOWS):
            return
        raw = stream.read(entries * _ENTRY.size)
    rows = list(_ENTRY.iter_unpack(raw))
    regions = [_region(values) for values in rows]
    # A freed region has no bytes, but may still have transfers.
    sums = map(sum, zip(ended, *(values[3:] for values in rows), strict=True))
    yield Meter(
        pid=int(process.name),
        command=_command(process),
        dram_bytes=dram_bytes,
        chunk_bytes=chunk_bytes,
        mechanism=_HOWS[how],
        regions=tuple(
            sorted(
                (region for region in regions if region.size_bytes),
                key=lambda region: -region.size_bytes,
            )
        ),
        counts=Counts(**counts_by_name(tuple(sums))),
    )


def _region(values: tuple[int, ...]) -> Region:
    base, size_bytes, held_bytes, *counts = values
    return Region(
        address=base, size_bytes=size_bytes, resident_bytes=held_bytes, **counts_by_name(counts)
    )


def _own_pid(process: Path) -> int:
    """Return the process id in the namespace of the process, such as a container."""
    for line in (process / "status").read_text().splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-1])
    return int(process.name)


def _command(process: Path) -> str:
    words = (process / "cmdline").read_bytes().rstrip(b"\0")
    return words.replace(b"\0", b" ").decode(errors="replace")
