"""``threads.per_core``: how many hardware threads of each core the program may use.

A hardware thread is a CPU of the kernel; those of one core share its units and caches (SMT). Part
of the affinity mask (``sched_setaffinity(2)``), so that it goes with ``cpus`` and ``placement``:
they choose among what it leaves. Evidence: *seen*.
"""

from __future__ import annotations

import msgspec

from assay.machine.document import Machine, Program
from assay.records import (
    Affinity,
    Configuration,
    Domain,
    Grant,
    Level,
    Plan,
    Range,
    RunFacts,
    Scope,
    Value,
)
from assay.settings.base import Refused, Resolved, Suggestion
from assay.settings.cpus import judge_mask
from assay.settings.evidence import unverified
from assay.settings.smt import PER_CORE, limit_per_core, max_per_core
from assay.units import show_count


class ThreadsPerCore(msgspec.Struct, frozen=True):
    """``threads.per_core``: at most so many CPUs of each core."""

    name: str = PER_CORE
    summary: str = "hardware threads of each core that the program may use (SMT): 1, 2"
    scope: Scope = Scope.PROCESS
    switch_cost_s: float = 0.0
    evidence: Level = Level.SEEN

    def domain(self, machine: Machine) -> Domain:
        """From one to as many as a core has that assay may use."""
        return Range(1, max_per_core(machine.usable), step=1)

    def default(self, machine: Machine) -> Value | None:
        """All of them."""
        return max_per_core(machine.usable)

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """``placement`` tries one for each core; this is for combinations, and for wider cores."""
        most = max_per_core(machine.usable)
        if most < 2:
            return "no core has two usable threads"
        if program.threads_peak == 1:
            return "the program has one thread"
        if most > 2:
            values = Range(2, most - 1, step=1)
            return Suggestion(values, f"cores run up to {most} threads each; placement tries one")
        return "placement=one-per-core tries one thread of each core; name it to combine it"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """A mask of the first usable CPUs of each core; ``cpus`` makes it where it is a count."""
        value = config[self.name]
        usable = machine.usable
        most = max_per_core(usable)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            has = "no core has a second" if most == 1 else f"cores have up to {most}"
            return Refused(
                f"{self.name} cannot be {value!r} here: {has} usable hardware thread"
                + ("s" if most > 1 else ""),
                f"Give 1 to {most}." if most > 1 else "Leave it out, or give 1.",
            )
        count = config.get("cpus")
        if count is not None and not isinstance(count, int):
            return Resolved((), degraded=f"without effect: cpus={count} names the CPUs itself")
        if count is not None or config.get("placement") == "one-per-core":
            return Resolved((), note="sets which CPUs cpus and placement choose from")
        note = None if value < most else f"no core has more than {show_count(most, 'thread')}"
        return Resolved(
            (Affinity(cpus=tuple(c.id for c in limit_per_core(usable, value))),), note=note
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """By the mask, where the plan has one."""
        value = config[self.name]
        if not plan.cpus:
            return unverified(value, "the plan sets no mask that would show it")
        return judge_mask(value, facts, plan.cpus, len(plan.cpus))
