"""``io.class``: I/O scheduling class and priority.

Interface: ``ioprio_set(2)``, inherited by threads and children
(``Documentation/block/ioprio.rst``). Only the I/O schedulers ``bfq`` and ``mq-deadline`` use it.
Evidence: *set*: no file of ``/proc`` shows it.
"""

from __future__ import annotations

from typing import ClassVar

from assay.machine.document import Machine
from assay.records import (
    Choices,
    Configuration,
    Domain,
    Grant,
    IoPriority,
    Level,
    Plan,
    RunFacts,
)
from assay.settings.base import BaseSetting, Refused, Resolved
from assay.settings.evidence import granted, refused, step_accepted, unverified
from assay.settings.refusals import out_of_domain

_DOMAIN = Choices(
    (
        "idle",
        *(f"best-effort:{level}" for level in range(8)),
        *(f"realtime:{level}" for level in range(8)),
    )
)


class IoPriorityClass(BaseSetting, frozen=True):
    """``io.class``: class and level; 0 is the highest priority, 7 the lowest."""

    name: str = "io.class"
    summary: str = "I/O scheduling class of the program: idle, best-effort:0-7, realtime:0-7"
    evidence: ClassVar[Level] = Level.SET
    not_suggested: ClassVar[str] = (
        "it changes the priority relative to other programs, without effect on an idle machine"
    )

    def domain(self, machine: Machine) -> Domain:
        """Return all classes and levels of the kernel."""
        return _DOMAIN

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return the class, if the process has the required capabilities."""
        value = config[self.name]
        if value not in _DOMAIN:
            return out_of_domain(self.name, value, _DOMAIN)
        io_class, _, level = str(value).partition(":")
        match io_class:
            case "best-effort":
                return Resolved((IoPriority(io_class=io_class, level=int(level)),))
            case "realtime" if not _may(machine):
                return Refused(
                    f"io.class={value} needs CAP_SYS_NICE (CAP_SYS_ADMIN before Linux 5.14)",
                    "Run as root, or use best-effort:0.",
                )
            case "realtime":
                return Resolved((IoPriority(io_class=io_class, level=int(level)),))
            case _:
                return Resolved((IoPriority(io_class="idle"),))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Check that the kernel accepted the class."""
        value = config[self.name]
        match step_accepted(facts, "io_priority"):
            case None:
                return unverified(value, "the launch ended before this step")
            case False:
                return refused(value, Level.SET, "the kernel rejected it")
            case True:
                return granted(value, Level.SET)


def _may(machine: Machine) -> bool:
    rights = machine.rights
    wanted = {"CAP_SYS_ADMIN"} | ({"CAP_SYS_NICE"} if machine.kernel_version >= (5, 14) else set())
    return bool(wanted & rights.capabilities) and not rights.user_namespace
