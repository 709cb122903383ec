"""``vm.swap``: use of swap areas.

Interfaces: ``swapon(2)``, ``swapoff(2)``, ``/proc/swaps`` (proc_swaps(5)).
"""

from __future__ import annotations

from typing import ClassVar

from assay.machine.document import Machine
from assay.machine.swaps import SWAPS, swap_areas
from assay.records import (
    Choices,
    Configuration,
    Domain,
    Grant,
    Level,
    Plan,
    RunFacts,
    Swap,
    Value,
)
from assay.settings.base import Refused, Resolved
from assay.settings.evidence import granted, refused, unverified
from assay.settings.refusals import out_of_domain
from assay.settings.system.common import SystemSetting, missing_privileges

_DOMAIN = Choices(("on", "off"))
_SWITCH_S = 1.0
"""Cost of a switch, in seconds: swapped pages are read back first, which may take longer."""


class SwapUse(SystemSetting, frozen=True):
    """``vm.swap``: all swap areas, enabled or disabled."""

    name: str = "vm.swap"
    summary: str = "swap areas: on (unchanged) or off (all disabled)"
    switch_cost_s: ClassVar[float] = _SWITCH_S

    def domain(self, machine: Machine) -> Domain:
        """Return both values."""
        return _DOMAIN

    def default(self, machine: Machine) -> Value | None:
        """Return ``on`` if any area is in use."""
        return "on" if _areas(machine) else "off"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return one action per area."""
        value = config[self.name]
        if value not in _DOMAIN:
            return out_of_domain(self.name, value, _DOMAIN)
        areas = _areas(machine)
        if value == "on":
            if areas:
                return Resolved((), note="swap areas are in use already")
            return Refused("no swap area is in use", "Enable one as root: swapon -a.")
        if not areas:
            return Resolved((), note="no swap area is in use")
        off = tuple(Swap(path=path, on=False) for path in areas)
        note = "swapped pages must fit into memory"
        return missing_privileges(machine) or Resolved(off, note=note)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the areas in use before the launch."""
        value = config[self.name]
        own_paths = [action.path for action in plan.system if isinstance(action, Swap)]
        if not own_paths:
            return granted(value, Level.SET, "nothing to change")
        for path in own_paths:
            if path not in facts.system_files:
                return unverified(value, f"{SWAPS} was not read before the launch")
            if facts.system_files[path] != "off":
                return refused(value, Level.SEEN, f"{path} is in use", facts.system_files[path])
        return granted(value, Level.SEEN, f"{SWAPS} lists none of them")


def _areas(machine: Machine) -> tuple[str, ...]:
    return tuple(swap_areas(machine.system_files.get(SWAPS, "")))
