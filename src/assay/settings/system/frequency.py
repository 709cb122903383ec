"""Frequency governor, preference, limits and turbo of the processor.

Interfaces: ``Documentation/admin-guide/pm/{cpufreq,intel_pstate,amd-pstate}.rst``. A new governor
may change turbo and preference, so it is written first and their files are checked.
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
_NEEDS_DRIVER = (
    "A cpufreq driver is required; guests have none, since the host controls the frequency."
)
_BOUNDS = (f"{_POLICY}/cpuinfo_min_freq", f"{_POLICY}/cpuinfo_max_freq")

FILE_SETTINGS: tuple[FileSetting, ...] = (
    FileSetting(
        "cpu.governor",
        "frequency governor: performance, powersave, schedutil, ...",
        (f"{_POLICY}/scaling_governor",),
        Choices(("performance", "powersave", "schedutil", "ondemand", "conservative")),
        offered=f"{_POLICY}/scaling_available_governors",
        resets=(f"{_POLICY}/energy_performance_preference", _NO_TURBO, _BOOST),
        remedy=_NEEDS_DRIVER,
    ),
    FileSetting(
        "cpu.epp",
        "energy or performance preference, as a hint to the processor",
        (f"{_POLICY}/energy_performance_preference",),
        Choices(
            ("default", "performance", "balance_performance", "balance_power", "power"),
        ),
        offered=f"{_POLICY}/energy_performance_available_preferences",
        remedy=f"intel_pstate and amd_pstate support it in active mode. {_NEEDS_DRIVER}",
    ),
    FileSetting(
        "cpu.freq_max",
        "upper limit of the frequency, in kHz",
        (f"{_POLICY}/scaling_max_freq",),
        Range(1, 10**8),
        bounds=_BOUNDS,
        note="the driver rounds it to a supported frequency",
        remedy=_NEEDS_DRIVER,
    ),
    FileSetting(
        "cpu.freq_min",
        "lower limit of the frequency, in kHz",
        (f"{_POLICY}/scaling_min_freq",),
        Range(1, 10**8),
        bounds=_BOUNDS,
        note="the driver rounds it to a supported frequency",
        remedy=_NEEDS_DRIVER,
    ),
)


def _turbo(value: str, machine: Machine) -> Writes | str:
    """Return the write to the driver's own file, or to the common one."""
    if _NO_TURBO in machine.system_files:
        return (WriteFile(path=_NO_TURBO, value="01"[value == "off"], form="number"),)
    if _BOOST in machine.system_files:
        return (WriteFile(path=_BOOST, value="01"[value == "on"], form="number"),)
    return "this machine has no control for turbo"


def _turbo_now(machine: Machine) -> str | None:
    if (text := current_value(machine.system_files, _NO_TURBO)) is not None:
        return "off" if text == "1" else "on"
    if (text := current_value(machine.system_files, _BOOST)) is not None:
        return "on" if text == "1" else "off"
    return None


TURBO = DerivedSetting(
    "cpu.turbo",
    "turbo frequencies, above the nominal one: on, off",
    Choices(("on", "off")),
    (_NO_TURBO, _BOOST),
    _turbo,
    _turbo_now,
    remedy=_NEEDS_DRIVER,
)
