"""What this machine gives to the tier, as the native probe tells it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from typing import Literal

import msgspec

from assay.errors import InvalidInputError, NotPossibleError
from assay.native_programs import find_native
from assay.records.codec import Record

_PATIENCE_S = 300.0


class Userfaultfd(Record, frozen=True, kw_only=True):
    """Page faults of a program, answered by itself: userfaultfd(2).

    Attributes:
        problem: why there is none at all.
        in_kernel: whether faults within system calls are told as well, which takes rights.
        move: UFFDIO_MOVE, from Linux 6.8 on.
        copy: mremap(2) with MREMAP_DONTUNMAP, from Linux 5.7 on, which pages leave by where they do
            not move.
        poison: UFFDIO_POISON, from Linux 6.6 on.
    """

    problem: str | None = None
    in_kernel: bool = False
    move: bool = False
    copy: bool = False
    poison: bool = False


class IoUring(Record, frozen=True, kw_only=True):
    """Transfers without a thread for each; ``problem`` says why there is none."""

    problem: str | None = None


class AddressSpace(Record, frozen=True, kw_only=True):
    """Of which many more are reserved than there is memory; ``problem`` says why they cannot be."""

    problem: str | None = None


class AdvisorSupport(Record, frozen=True, kw_only=True):
    """Swap that takes memory on request; ``problem`` says why none does, and the next step."""

    problem: str | None = None


class PathProbe(Record, frozen=True, kw_only=True):
    """A directory that memory is to go to; rates are absent where it cannot be used."""

    path: str
    problem: str | None = None
    free_bytes: float | None = None
    read_bytes_per_s: float | None = None
    write_bytes_per_s: float | None = None
    latency_s: float | None = None


class Probe(Record, frozen=True, kw_only=True):
    """All of it."""

    userfaultfd: Userfaultfd
    io_uring: IoUring
    advice: AdvisorSupport
    addresses: AddressSpace = AddressSpace()
    paths: tuple[PathProbe, ...] = ()


def probe(
    env: Mapping[str, str],
    paths: str = "",
    *,
    size_bytes: int = 256 << 20,
    order: Literal["forward", "backward"] = "forward",
) -> Probe:
    """Ask the native probe; of each path it writes and reads; 256 MiB take a second or so.

    Args:
        env: names another probe by ASSAY_TIER_PROBE.
        paths: directories, with commas between them.
        size_bytes: to write and to read of each; less where there is little room.
        order: of reading; what is written goes forward.

    Raises:
        InvalidInputError: commas alone are no directories.
        NotPossibleError: this assay has no probe, or it failed.
    """
    if paths and not paths.strip(","):
        raise InvalidInputError(
            "--path names no directory.", "Name one of each disk, with commas between them."
        )
    program = find_native(env, "assay-tier-probe", "ASSAY_TIER_PROBE")
    where = ["--path", paths, "--bytes", str(size_bytes), "--order", order] if paths else []
    words = [str(program), *where]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise NotPossibleError(
            f"The probe of the tier did not end in {_PATIENCE_S:g} s: a disk does not answer.",
            "Name another path, or look at the disk (dmesg).",
        ) from error
    if done.returncode != 0:
        raise NotPossibleError(
            f"The probe of the tier failed: {done.stderr.strip()}.", "Look at what it says."
        )
    return msgspec.json.decode(done.stdout, type=Probe)
