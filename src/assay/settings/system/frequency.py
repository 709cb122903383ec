"""Frequency: governor, preference, limits and turbo of the processor.

Interfaces: ``Documentation/admin-guide/pm/{cpufreq,intel_pstate,amd-pstate}.rst``. A new governor
may set turbo and preference anew, so that it is written first and they are watched.
"""

from __future__ import annotations

from assay.machine.document import Machine
from assay.machine.tunables import CPUFREQ, CPUS, current_value
from assay.records import Choices, Range, WriteFile
from assay.settings.system.derived_setting import DerivedSetting, Writes
from assay.settings.system.file_setting import FileSetting

_POLICY = f"{CPUFREQ}/policy#"
_NO_TURBO = f"{CPUS}/intel_pstate/no_turbo"
_BOOST = f"{CPUFREQ}/boost"
_NONE = "Guests have none: the host decides; elsewhere the kernel needs a cpufreq driver."
_BOUNDS = (f"{_POLICY}/cpuinfo_min_freq", f"{_POLICY}/cpuinfo_max_freq")

KNOBS: tuple[FileSetting, ...] = (
    FileSetting(
        "cpu.governor",
        "how the frequency follows the load: performance, powersave ...",
        (f"{_POLICY}/scaling_governor",),
        Choices(("performance", "powersave", "schedutil", "ondemand", "conservative")),
        offered=f"{_POLICY}/scaling_available_governors",
        resets=(f"{_POLICY}/energy_performance_preference", _NO_TURBO, _BOOST),
        absent=_NONE,
    ),
    FileSetting(
        "cpu.epp",
        "energy or performance, as a hint to the processor",
        (f"{_POLICY}/energy_performance_preference",),
        Choices(
            ("default", "performance", "balance_performance", "balance_power", "power"),
        ),
        offered=f"{_POLICY}/energy_performance_available_preferences",
        absent=f"intel_pstate and amd_pstate have it in their active mode. {_NONE}",
    ),
    FileSetting(
        "cpu.freq_max",
        "highest frequency that may be chosen, in kHz",
        (f"{_POLICY}/scaling_max_freq",),
        Range(1, 10**8),
        bounds=_BOUNDS,
        note="a driver rounds it to a frequency that it has",
        absent=_NONE,
    ),
    FileSetting(
        "cpu.freq_min",
        "lowest frequency that may be chosen, in kHz",
        (f"{_POLICY}/scaling_min_freq",),
        Range(1, 10**8),
        bounds=_BOUNDS,
        note="a driver rounds it to a frequency that it has",
        absent=_NONE,
    ),
)


def _turbo(value: str, machine: Machine) -> Writes | str:
    """The driver's own file, or that of all drivers."""
    if _NO_TURBO in machine.system:
        return (WriteFile(path=_NO_TURBO, value="01"[value == "off"], form="number"),)
    if _BOOST in machine.system:
        return (WriteFile(path=_BOOST, value="01"[value == "on"], form="number"),)
    return "this machine has no switch for turbo"


def _turbo_now(machine: Machine) -> str | None:
    if (text := current_value(machine.system, _NO_TURBO)) is not None:
        return "off" if text == "1" else "on"
    if (text := current_value(machine.system, _BOOST)) is not None:
        return "on" if text == "1" else "off"
    return None


TURBO = DerivedSetting(
    "cpu.turbo",
    "frequencies above the nominal one, while heat and power allow: on, off",
    Choices(("on", "off")),
    (_NO_TURBO, _BOOST),
    _turbo,
    _turbo_now,
    absent=_NONE,
)
