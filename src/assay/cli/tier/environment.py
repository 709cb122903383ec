"""Place: the directories that stand behind a program's memory, and how it comes to use them."""

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
    """This process's environment for a program under the tier.

    Raises:
        InvalidInputError: less DRAM than the pager can work with, or more than there is.
        NotPossibleError: the loader cannot read the library's path.
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
            f"{library!r} cannot be preloaded: its path holds a space or a colon.",
            "Install assay elsewhere.",
        )
    others = os.environ.get("LD_PRELOAD", "")
    told = (*storage(path), budget(dram_bytes), *([placement(numa)] if numa else []))
    return {
        **os.environ,
        "LD_PRELOAD": f"{library}:{others}" if others else library,
        **{one.name: one.value for one in told},
    }


def _memory_bytes() -> int:
    """Of this host, or of the control group where that has less."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(whole, read_cgroups(LIVE).memory_limit_bytes or whole)


def device_of(paths: str) -> Device:
    """What directories on disks give altogether, measured now.

    Raises:
        InvalidInputError: they name nothing.
        NotPossibleError: the tier cannot be used here.
    """
    found = probe(os.environ, paths)
    if not usable(found):
        grave = next(one for one in findings(found) if one.fatal)
        raise NotPossibleError(f"There is no tier here: {grave.problem}.", grave.remedy)
    return Device(
        read=sum(one.read_bytes_per_s or 0.0 for one in found.paths),
        write=sum(one.write_bytes_per_s or 0.0 for one in found.paths),
    )
