"""``threads.per_core``: number of hardware threads per core for the program.

A hardware thread is a CPU of the kernel; the threads of one core share its execution units and
caches (SMT). The setting is part of the affinity mask (``sched_setaffinity(2)``): ``cpus`` and
``placement`` select among the CPUs that it leaves. Evidence: *seen*.
"""

from __future__ import annotations

from assay.machine.document import Machine, Program
from assay.records import (
    Affinity,
    Configuration,
    Domain,
    Grant,
    Plan,
    Range,
    RunFacts,
    Value,
)
from assay.settings.base import BaseSetting, Refused, Resolved, Suggestion
from assay.settings.cpus import judge_mask
from assay.settings.evidence import unverified
from assay.settings.smt import PER_CORE, limit_per_core, max_per_core
from assay.units import show_count


class ThreadsPerCore(BaseSetting, frozen=True):
    """``threads.per_core``: maximum number of CPUs per core."""

    name: str = PER_CORE
    summary: str = "hardware threads per core for the program (SMT): 1, 2"

    def domain(self, machine: Machine) -> Domain:
        """Return the numbers from one to the usable threads of a core."""
        return Range(1, max_per_core(machine.usable), step=1)

    def default(self, machine: Machine) -> Value | None:
        """Return the number of all usable threads."""
        return max_per_core(machine.usable)

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Suggest numbers between; ``placement`` tries one thread per core."""
        most = max_per_core(machine.usable)
        if most < 2:
            return "no core has two usable threads"
        if program.threads_peak == 1:
            return "the program has one thread"
        if most > 2:
            values = Range(2, most - 1, step=1)
            return Suggestion(values, f"cores run up to {most} threads each; placement tries one")
        return "placement=one-per-core tries one thread per core; name it to combine it"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return a mask of the first CPUs of each core, or a note if ``cpus`` makes the mask."""
        value = config[self.name]
        usable = machine.usable
        most = max_per_core(usable)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            has = "no core has a second" if most == 1 else f"cores have up to {most}"
            return Refused(
                f"invalid value: {self.name}={value!r}; {has} usable hardware thread"
                + ("s" if most > 1 else ""),
                f"Use 1 to {most}." if most > 1 else "Remove it, or use 1.",
            )
        count = config.get("cpus")
        if count is not None and not isinstance(count, int):
            return Resolved((), degraded=f"no effect: cpus={count} is a list of CPUs")
        if count is not None or config.get("placement") == "one-per-core":
            return Resolved((), note="sets the CPUs from which cpus and placement select")
        note = None if value < most else f"no core has more than {show_count(most, 'thread')}"
        return Resolved(
            (Affinity(cpus=tuple(c.id for c in limit_per_core(usable, value))),), note=note
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the mask, if the plan has one."""
        value = config[self.name]
        if not plan.cpus:
            return unverified(value, "the plan has no affinity mask as evidence")
        return judge_mask(value, facts, plan.cpus, len(plan.cpus))
