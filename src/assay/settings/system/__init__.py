"""System settings: they change the machine for all programs, and need root.

Each change is undone after its use: see ``assay.host``.
"""

from __future__ import annotations

from assay.settings.base import Setting
from assay.settings.system import frequency, kernel, memory
from assay.settings.system.affinity import PLACEMENT_SETTINGS
from assay.settings.system.idle import IdleLatencyLimit
from assay.settings.system.smt import SmtControl
from assay.settings.system.swap import SwapUse

SYSTEM: tuple[Setting, ...] = (
    *memory.FILE_SETTINGS,
    SwapUse(),
    *kernel.FILE_SETTINGS,
    *frequency.FILE_SETTINGS,
    frequency.TURBO,
    IdleLatencyLimit(),
    SmtControl(),
    *PLACEMENT_SETTINGS,
)
"""All system settings, in the order in which they are listed."""

on_demand = memory.setting_of_size
"""Setting for a page size in its name; ``None`` for other names."""
