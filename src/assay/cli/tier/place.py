"""Place: the directories that stand behind a program's memory, and how it comes to use them."""

from __future__ import annotations

import os

from assay.errors import NotPossible
from assay.installed import native_folder
from assay.tier.doctor import findings, usable
from assay.tier.efficiency import Device
from assay.tier.probe import probe


def tier_env(path: str, dram_bytes: int) -> dict[str, str]:
    """This process's environment for a program under the tier."""
    return {
        **os.environ,
        "LD_PRELOAD": str(native_folder(os.environ) / "libassay-tier.so"),
        "ASSAY_TIER_PATH": path,
        "ASSAY_TIER_DRAM": str(dram_bytes),
    }


def device_of(paths: str) -> Device:
    """What directories on disks give altogether, measured now.

    Raises:
        NotPossible: the tier cannot be used here.
    """
    found = probe(os.environ, paths)
    if not usable(found):
        grave = next(one for one in findings(found) if one.fatal)
        raise NotPossible(f"There is no tier here: {grave.problem}.", grave.remedy)
    return Device(
        read=sum(one.read_bytes_per_s or 0.0 for one in found.paths),
        write=sum(one.write_bytes_per_s or 0.0 for one in found.paths),
    )
