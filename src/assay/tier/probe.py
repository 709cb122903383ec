"""Probe: support of this machine for the memory tier, from the native probe."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from typing import Literal

import msgspec

from assay.errors import InvalidInputError, NotPossibleError
from assay.native_programs import find_native
from assay.records.codec import Record

_TIMEOUT_S = 300.0


class Userfaultfd(Record, frozen=True, kw_only=True):
    """Support for page faults in user space: userfaultfd(2).

    Attributes:
        problem: reason why it is not available.
        in_kernel: true if page faults within system calls are reported too, which requires
            privileges.
        move: true if the kernel has UFFDIO_MOVE (Linux 6.8).
        copy: true if the kernel has MREMAP_DONTUNMAP of mremap(2) (Linux 5.7), for evictions
            without UFFDIO_MOVE.
        poison: true if the kernel has UFFDIO_POISON (Linux 6.6).
    """

    problem: str | None = None
    in_kernel: bool = False
    move: bool = False
    copy: bool = False
    poison: bool = False


class IoUring(Record, frozen=True, kw_only=True):
    """Support for asynchronous transfers.

    Attributes:
        problem: reason why it is not available.
    """

    problem: str | None = None


class AddressSpace(Record, frozen=True, kw_only=True):
    """Address space that exceeds memory.

    Attributes:
        problem: reason why it cannot be reserved.
    """

    problem: str | None = None


class AdvisorSupport(Record, frozen=True, kw_only=True):
    """Support for page-out on request.

    Attributes:
        problem: reason why it is not available, and the next step.
    """

    problem: str | None = None


class PathProbe(Record, frozen=True, kw_only=True):
    """Directory of the backing store; rates are absent if it is unusable.

    Attributes:
        path: path of the directory.
        problem: reason why the directory is unusable.
        free_bytes: free space, in bytes.
        read_bytes_per_s: measured bandwidth of reads, in bytes per second.
        write_bytes_per_s: measured bandwidth of writes, in bytes per second.
        latency_s: measured latency of a small read, in seconds.
    """

    path: str
    problem: str | None = None
    free_bytes: float | None = None
    read_bytes_per_s: float | None = None
    write_bytes_per_s: float | None = None
    latency_s: float | None = None


class Probe(Record, frozen=True, kw_only=True):
    """Results of the native probe.

    Attributes:
        userfaultfd: support for page faults in user space.
        io_uring: support for asynchronous transfers.
        advice: support for page-out on request.
        addresses: address space that exceeds memory.
        paths: directories of the backing store.
    """

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
    """Run the native probe, which writes and reads each path; 256 MiB take about a second.

    Args:
        env: environment, in which ASSAY_TIER_PROBE names another probe.
        paths: directories, separated by commas.
        size_bytes: size of the transfers for each path; reduced if space is short.
        order: order of reading; writing is sequential.

    Raises:
        InvalidInputError: no directory is specified.
        NotPossibleError: missing or failed probe.
    """
    if paths and not paths.strip(","):
        raise InvalidInputError(
            "--path names no directory.", "Specify one for each disk, separated by commas."
        )
    program = find_native(env, "assay-tier-probe", "ASSAY_TIER_PROBE")
    path_arguments = (
        ["--path", paths, "--bytes", str(size_bytes), "--order", order] if paths else []
    )
    words = [str(program), *path_arguments]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise NotPossibleError(
            f"The probe of the tier did not end in {_TIMEOUT_S:g} s: a disk does not respond.",
            "Specify another path, or check the disk (dmesg).",
        ) from error
    if done.returncode != 0:
        raise NotPossibleError(
            f"The probe of the tier failed: {done.stderr.strip()}.", "Check its error message."
        )
    return msgspec.json.decode(done.stdout, type=Probe)
