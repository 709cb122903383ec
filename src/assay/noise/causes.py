"""Likely causes of detours, from counts of the kernel.

The kernel counts events between two readings, but not their times: a cause is likely, not proven.
Only the kernel's tracers are more precise (:mod:`assay.noise.tracers`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from assay.records.noise import CpuNoise, ExplainedDetour

DOMINANT_SHARE = 0.5
"""Share of a detour that its cause must fill."""
SOFTIRQ_PREFIX = "softirq "
TICK = "LOC"
"""Local timer interrupts: the tick, and timers of high resolution (arch/x86/kernel/irq.c)."""
TIMERS = (TICK, "arch_timer")
FOLLOWERS = (
    f"{SOFTIRQ_PREFIX}TIMER",
    f"{SOFTIRQ_PREFIX}RCU",
    f"{SOFTIRQ_PREFIX}SCHED",
    f"{SOFTIRQ_PREFIX}HRTIMER",
)
"""Softirqs that the tick raises (kernel/time/timer.c, kernel/rcu/tree.c, kernel/sched/fair.c)."""


class CauseKind(StrEnum):
    """Kinds of causes."""

    THREAD = "thread"
    STOPPED = "stopped"
    MIGRATION = "migration"
    STOLEN = "stolen"
    TICK = "tick"
    INTERRUPT = "interrupt"
    SOFTIRQ = "softirq"
    BENEATH = "beneath"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Cause:
    """Likely cause: its kind and description."""

    kind: CauseKind
    description: str


def cause_of(detour: ExplainedDetour, cpu: CpuNoise, *, guest: bool = False) -> Cause:
    """Return the likely cause of one detour.

    Args:
        detour: detour with its counts.
        cpu: CPU of the detour, with the counts of the whole run.
        guest: whether the machine is a guest of a hypervisor.
    """
    half = DOMINANT_SHARE * detour.duration_ns
    away_ns = detour.counter_window_ns - detour.on_cpu_ns - detour.run_queue_wait_ns
    if detour.cpu not in (-1, cpu.cpu):
        return Cause(CauseKind.MIGRATION, f"moved to CPU {detour.cpu}")
    if detour.run_queue_wait_ns >= half:
        return Cause(CauseKind.THREAD, "another thread")
    if away_ns >= half and detour.switches:
        return Cause(CauseKind.STOPPED, "stopped, asleep or over its quota")
    if away_ns >= half:
        # The scheduler's clock excludes the steal time that the hypervisor reports
        # (kernel/sched/core.c, update_rq_clock_task, CONFIG_PARAVIRT_TIME_ACCOUNTING).
        return Cause(CauseKind.STOLEN, "the hypervisor (stolen)")
    if detour.interrupts:
        return _interrupted(detour.interrupts, _rates(cpu))
    if not detour.interrupt_window_ns:
        return Cause(CauseKind.UNKNOWN, "not examined")
    beneath = "the hypervisor or firmware" if guest else "firmware (SMI) or hardware"
    return Cause(CauseKind.BENEATH, beneath)


def _rates(cpu: CpuNoise) -> dict[str, float]:
    """Return the interrupts per nanosecond of each source on the CPU, over the whole run."""
    length_ns = max(1, cpu.length_ns)
    return {name: count / length_ns for name, count in cpu.interrupts.items()}


def _interrupted(grown: Mapping[str, int], rates: Mapping[str, float]) -> Cause:
    """Return the interrupt source that is rarest outside the detour: frequent ones tell least.

    Hard interrupts precede the softirqs that they raise.
    """
    ranked = sorted(
        grown, key=lambda name: (rates.get(name, 0.0), name.startswith(SOFTIRQ_PREFIX), name)
    )
    first = ranked[0]
    started = [name for name in grown if name.startswith(SOFTIRQ_PREFIX)]
    hard = [name for name in ranked if not name.startswith(SOFTIRQ_PREFIX)]
    if first in FOLLOWERS and any(name.startswith(TIMERS) for name in hard):
        return Cause(CauseKind.TICK, f"the timer tick, {first}")
    if first.startswith(SOFTIRQ_PREFIX):
        partner = next((n for n in hard if not n.startswith(TIMERS)), None)
        words = f"interrupt {partner}, {first}" if partner else first
        return Cause(CauseKind.SOFTIRQ, words)
    if first.startswith(TIMERS):
        tail = f", {started[0]}" if len(started) == 1 else ""
        return Cause(CauseKind.TICK, f"the timer tick{tail}")
    tail = next((f", {s}" for s in started if s not in FOLLOWERS), "")
    return Cause(CauseKind.INTERRUPT, f"interrupt {first}{tail}")
