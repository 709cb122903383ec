"""``cpu.smt``: simultaneous multithreading.

Interface: ``Documentation/ABI/testing/sysfs-devices-system-cpu`` (``smt/control``, Linux 4.19):
``off`` takes all but the first CPU of each core offline, ``on`` brings them back. After a boot with
``nosmt=force`` it cannot be enabled.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from assay.machine.document import Machine
from assay.machine.tunables import SMT_CONTROL
from assay.records import (
    Choices,
    Configuration,
    Domain,
    Grant,
    Plan,
    RunFacts,
    Value,
    WriteFile,
)
from assay.settings.base import Refused, Resolved
from assay.settings.refusals import out_of_domain
from assay.settings.system.common import (
    SystemSetting,
    judge_files,
    missing_privileges,
)

NAME = "cpu.smt"
OFF = "off"
_DOMAIN = Choices(("on", OFF))
_SWITCH_S = 0.5
"""Cost of a switch, in seconds: each CPU takes some milliseconds, and servers have many."""


class SmtControl(SystemSetting, frozen=True):
    """Control for all cores."""

    name: str = NAME
    summary: str = "several threads per core: on, or off (their CPUs go offline)"
    switch_cost_s: ClassVar[float] = _SWITCH_S

    def domain(self, machine: Machine) -> Domain:
        """Return both values."""
        return _DOMAIN

    def default(self, machine: Machine) -> Value | None:
        """Return the content of the file, if it can be changed."""
        text = machine.system_files.get(SMT_CONTROL)
        return text if text in _DOMAIN.options else None

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return one write."""
        value = config[self.name]
        if value not in _DOMAIN:
            return out_of_domain(self.name, value, _DOMAIN)
        text = machine.system_files.get(SMT_CONTROL)
        if text == "forceoff":
            return Refused("SMT is disabled by nosmt=force", "Boot without it, or vary boot.nosmt.")
        if text not in _DOMAIN.options:
            state = "is missing" if text is None else f"reads {text}"
            return Refused(
                f"this machine has no control for SMT: {SMT_CONTROL} {state}",
                "The firmware's menu may have one (firmware.smt).",
            )
        written = WriteFile(path=SMT_CONTROL, value=str(value), form="text")
        note = (
            "with cgroup v1, CPUs that come back online are missing in cpusets"
            if value == OFF
            else None
        )
        return missing_privileges(machine) or Resolved((written,), note=note)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the content of the file before and after the launch."""
        own_actions = [a for a in plan.system if isinstance(a, WriteFile) and a.path == SMT_CONTROL]
        return judge_files(config[self.name], own_actions, facts)


def without_siblings(machine: Machine) -> Machine:
    """Return the machine with the first CPU of each core only, as with SMT off."""
    cpus = tuple(
        msgspec.structs.replace(cpu, siblings=(cpu.id,))
        for cpu in machine.cpus
        if cpu.id == cpu.core
    )
    left = {cpu.id for cpu in cpus}
    return msgspec.structs.replace(
        machine, cpus=cpus, allowed_cpus=tuple(cpu for cpu in machine.allowed_cpus if cpu in left)
    )
