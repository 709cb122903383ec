"""Identification of the processor, and clock sources of the kernel.

Interfaces: ``proc_cpuinfo(5)``; ``Documentation/ABI/testing/sysfs-devices-system-clocksource``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.machine.inventory.document import Model
from assay.machine.processor import first_processor
from assay.machine.root import Root

_CLOCKS = "/sys/devices/system/clocksource/clocksource0"


def read_model(root: Root) -> Model:
    """Return the identification of the first processor, and clock sources, if known."""
    fields = first_processor(root)
    clocks = (root.read_text(f"{_CLOCKS}/available_clocksource") or "").split()
    return Model(
        vendor=fields.get("vendor_id") or fields.get("CPU implementer") or None,
        family=fields.get("cpu family") or None,
        number=fields.get("model") or fields.get("CPU part") or None,
        stepping=fields.get("stepping") or _arm_stepping(fields),
        mhz=_mhz(fields.get("cpu MHz") or fields.get("CPU MHz") or fields.get("clock")),
        clock_source=root.read_text(f"{_CLOCKS}/current_clocksource") or None,
        clock_sources=tuple(clocks),
    )


def _arm_stepping(fields: Mapping[str, str]) -> str | None:
    variant = re.fullmatch(r"0x[0-9a-f]+", fields.get("CPU variant", ""), re.ASCII)
    revision = fields.get("CPU revision")
    return f"r{int(variant[0], 16)}p{revision}" if variant and revision else None


def _mhz(text: str | None) -> float | None:
    found = re.match(r"\d{1,6}(?:\.\d+)?", text or "", re.ASCII)
    return float(found[0]) if found and float(found[0]) else None
