"""Causes: what took the time of a detour, as far as the kernel's counts tell.

The kernel says what it counted between two looks, not what happened in between: a cause is likely,
not shown. Only its tracers say more (:mod:`assay.noise.tracers`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from assay.records.noise import CpuNoise, ExplainedDetour

DOMINANT_SHARE = 0.5
"""What fills so much of a detour is its cause."""
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
"""What the tick starts (kernel/time/timer.c, kernel/rcu/tree.c, kernel/sched/fair.c)."""


class CauseKind(StrEnum):
    """What kinds of causes there are."""

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
    """A likely cause: its kind, and words for it."""

    kind: CauseKind
    words: str


def cause_of(told: ExplainedDetour, cpu: CpuNoise, *, guest: bool = False) -> Cause:
    """The likely cause of one detour.

    Args:
        told: the detour, with what was counted.
        cpu: where, with what was counted there in all the time.
        guest: whether a hypervisor is beneath.
    """
    half = DOMINANT_SHARE * told.took_ns
    away_ns = told.since_ns - told.ran_ns - told.waited_ns
    if told.cpu not in (-1, cpu.cpu):
        return Cause(CauseKind.MIGRATION, f"moved to CPU {told.cpu}")
    if told.waited_ns >= half:
        return Cause(CauseKind.THREAD, "another thread")
    if away_ns >= half and told.switches:
        return Cause(CauseKind.STOPPED, "stopped, asleep or over its quota")
    if away_ns >= half:
        # The scheduler's clock leaves out what the hypervisor says that it took
        # (kernel/sched/core.c, update_rq_clock_task, CONFIG_PARAVIRT_TIME_ACCOUNTING).
        return Cause(CauseKind.STOLEN, "the hypervisor (stolen)")
    if told.interrupts:
        return _interrupted(told.interrupts, _rates(cpu))
    if not told.window_ns:
        return Cause(CauseKind.UNKNOWN, "not looked at")
    beneath = "the hypervisor or firmware" if guest else "firmware (SMI) or hardware"
    return Cause(CauseKind.BENEATH, beneath)


def _rates(cpu: CpuNoise) -> dict[str, float]:
    """How often each source interrupted the CPU, in the whole time, per nanosecond."""
    length_ns = max(1, cpu.length_ns)
    return {name: count / length_ns for name, count in cpu.interrupts.items()}


def _interrupted(grown: Mapping[str, int], rates: Mapping[str, float]) -> Cause:
    """The source that is the rarest elsewhere: what always grows tells least.

    Hard interrupts go before what they start.
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
