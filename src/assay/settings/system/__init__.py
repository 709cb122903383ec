"""Settings of the system: they change the machine for all that runs on it, and need root.

Each is put back when what needed it has ended: see ``assay.host``.
"""

from __future__ import annotations

from assay.settings.base import Setting
from assay.settings.system import frequency, kernel, memory
from assay.settings.system.affinity import PLACEMENT_SETTINGS
from assay.settings.system.idle import IdleLatencyLimit
from assay.settings.system.smt import SmtControl
from assay.settings.system.swap import SwapUse

SYSTEM: tuple[Setting, ...] = (
    *memory.KNOBS,
    SwapUse(),
    *kernel.KNOBS,
    *frequency.KNOBS,
    frequency.TURBO,
    IdleLatencyLimit(),
    SmtControl(),
    *PLACEMENT_SETTINGS,
)
"""In the order in which they are listed."""

on_demand = memory.setting_of_size
"""A setting whose name holds a size of pages; ``None`` where it is none."""
