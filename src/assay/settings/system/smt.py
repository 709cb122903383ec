"""``cpu.smt``: whether cores run several threads.

Interface: ``Documentation/ABI/testing/sysfs-devices-system-cpu`` (``smt/control``, Linux 4.19):
``off`` takes all but the first CPU of each core out of use, ``on`` puts them back. What was booted
with ``nosmt=force`` cannot be switched on.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from assay.machine.document import Machine, Program
from assay.machine.tunables import SMT_CONTROL
from assay.records import (
    Choices,
    Configuration,
    Domain,
    Grant,
    Level,
    Plan,
    RunFacts,
    Scope,
    Value,
    WriteFile,
)
from assay.settings.base import Refused, Resolved, Suggestion
from assay.settings.refusals import out_of_domain
from assay.settings.system.common import ONLY_ON_REQUEST, judge_files, missing_privileges

NAME = "cpu.smt"
OFF = "off"
_DOMAIN = Choices(("on", OFF))
_SWITCH_S = 0.5
"""Each CPU that goes or comes takes some milliseconds; a server has many."""


@dataclass(frozen=True)
class SmtControl:
    """One switch for all cores."""

    name: str = NAME
    summary: str = "several threads on each core: on, off (their CPUs are out of use then)"
    scope: Scope = Scope.SYSTEM
    switch_cost_s: float = _SWITCH_S
    evidence: Level = Level.SEEN

    def domain(self, machine: Machine) -> Domain:
        """On or off."""
        return _DOMAIN

    def default(self, machine: Machine) -> Value | None:
        """What the file holds, where there is a choice."""
        text = machine.system.get(SMT_CONTROL)
        return text if text in _DOMAIN.options else None

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Never unasked."""
        return ONLY_ON_REQUEST

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """One write."""
        value = config[self.name]
        if value not in _DOMAIN:
            return out_of_domain(self.name, value, _DOMAIN)
        text = machine.system.get(SMT_CONTROL)
        if text == "forceoff":
            return Refused("SMT is off by nosmt=force", "Boot without it, or vary boot.nosmt.")
        if text not in _DOMAIN.options:
            told = "is not there" if text is None else f"says {text}"
            return Refused(
                f"this machine has no switch for SMT: {SMT_CONTROL} {told}",
                "The menu of the firmware may have one (firmware.smt).",
            )
        written = WriteFile(path=SMT_CONTROL, value=str(value), form="text")
        note = "below cgroup v1 CPUs that come back stay out of cpusets" if value == OFF else None
        return missing_privileges(machine) or Resolved((written,), note=note)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """By what the file held before the launch, and after it."""
        mine = [a for a in plan.system if isinstance(a, WriteFile) and a.path == SMT_CONTROL]
        return judge_files(config[self.name], mine, facts)


def without_siblings(machine: Machine) -> Machine:
    """The machine with the first CPU of each core alone, as it is with SMT off."""
    cpus = tuple(
        msgspec.structs.replace(cpu, siblings=(cpu.id,))
        for cpu in machine.cpus
        if cpu.id == cpu.core
    )
    left = {cpu.id for cpu in cpus}
    return msgspec.structs.replace(
        machine, cpus=cpus, allowed=tuple(cpu for cpu in machine.allowed if cpu in left)
    )
