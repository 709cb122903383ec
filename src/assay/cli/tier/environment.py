"""Environment of a program with a tier, and the speed of its backing store."""

from __future__ import annotations

import os

from assay.errors import InvalidInputError, NotPossibleError
from assay.machine.cgroup import read_cgroups
from assay.machine.root import LIVE
from assay.native_programs import native_folder
from assay.settings.refusals import is_preloadable
from assay.settings.tier import (
    MIN_DRAM_BYTES,
    TOO_LITTLE_DRAM_REMEDY,
    TOO_MUCH_DRAM_REMEDY,
    budget,
    excess_reason,
    placement,
    storage,
)
from assay.tier.doctor import findings, usable
from assay.tier.efficiency import Device
from assay.tier.probe import probe
from assay.units import show_bytes


def tier_env(path: str, dram_bytes: int, numa: str | None = None) -> dict[str, str]:
    """Return the environment of a program with a tier.

    Args:
        path: directories of the backing store, separated by commas.
        dram_bytes: size of DRAM for the program, in bytes.
        numa: placement of DRAM on NUMA nodes; the default of the library if absent.

    Raises:
        InvalidInputError: the size is below the minimum of the pager, or above the memory here.
        NotPossibleError: the loader cannot preload the library from its path.
    """
    if dram_bytes < MIN_DRAM_BYTES:
        raise InvalidInputError(
            f"--dram {show_bytes(dram_bytes)} is too little.", TOO_LITTLE_DRAM_REMEDY
        )
    memory_bytes = _memory_bytes()
    if dram_bytes > memory_bytes:
        raise InvalidInputError(
            f"--dram {show_bytes(dram_bytes)} is {excess_reason(memory_bytes)}.",
            TOO_MUCH_DRAM_REMEDY,
        )
    library = str(native_folder(os.environ) / "libassay-tier.so")
    if not is_preloadable(library):
        raise NotPossibleError(
            f"{library!r} cannot be preloaded: its path contains a space or a colon.",
            "Install assay elsewhere.",
        )
    others = os.environ.get("LD_PRELOAD", "")
    variables = (*storage(path), budget(dram_bytes), *([placement(numa)] if numa else []))
    return {
        **os.environ,
        "LD_PRELOAD": f"{library}:{others}" if others else library,
        **{one.name: one.value for one in variables},
    }


def _memory_bytes() -> int:
    """Return the memory of this host, or of the control group if that is smaller, in bytes."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(whole, read_cgroups(LIVE).memory_limit_bytes or whole)


def device_of(paths: str) -> Device:
    """Measure the total bandwidth of directories on disks.

    Raises:
        InvalidInputError: a directory is missing.
        NotPossibleError: the tier is not available here.
    """
    found = probe(os.environ, paths)
    if not usable(found):
        grave = next(one for one in findings(found) if one.fatal)
        raise NotPossibleError(f"The pager is not available: {grave.problem}.", grave.remedy)
    return Device(
        read=sum(one.read_bytes_per_s or 0.0 for one in found.paths),
        write=sum(one.write_bytes_per_s or 0.0 for one in found.paths),
    )
