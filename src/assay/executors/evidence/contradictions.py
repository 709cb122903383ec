"""Contradictions between the time accounts of one launch.

The record of the launcher has several accounts of the same time: the wall clock, the processor time
of the control group, that of the reaped processes, and the busy time of the CPUs. If two of them
contradict each other, a figure of the launch is wrong, and it is unknown which one. A program that
was stopped worked for less than its wall time.
"""

from __future__ import annotations

import math

from assay.records import RunFacts

TICK_S = 0.01
"""Step in which the kernel counts the busy time of a CPU (/proc/stat, USER_HZ), in seconds."""
MIN_DEVIATIONS = 3.0
"""Number of standard deviations of the kernel's count that a contradiction must exceed."""
MIN_STOP_S = 0.02
"""Shortest reported stop, in seconds."""
ROUNDING = 0.01
"""Relative difference that is tolerated between two clocks."""


def contradictions(facts: RunFacts, foreign_s: float | None) -> tuple[str, ...]:
    """Return the reasons why the figures of a launch are unreliable, one phrase each.

    Args:
        facts: facts of the launch.
        foreign_s: CPU time of other processes on its CPUs, in seconds.
    """
    found = (
        _negative_load(facts, foreign_s),
        _excess_cpu_time(facts),
        _lost_time(facts),
        _stopped(facts),
    )
    return tuple(reason for reason in found if reason is not None)


def _negative_load(facts: RunFacts, foreign_s: float | None) -> str | None:
    """Return the phrase for a negative CPU time of other processes.

    The kernel samples the state of a CPU at each tick (CONFIG_TICK_CPU_ACCOUNTING), so that the
    busy time of ``t`` seconds has a standard deviation of up to ``sqrt(t * tick)``.
    """
    host = facts.host
    if host is None or foreign_s is None or host.process_tree_cpu_s is None or not host.cpus:
        return None
    counted_s = host.process_tree_cpu_s + (host.launcher_cpu_s or 0.0)
    step_s = TICK_S * (host.cpus + 1) + MIN_DEVIATIONS * math.sqrt(counted_s * TICK_S)
    if foreign_s >= -step_s:
        return None
    return (
        f"its CPUs were busy for {-foreign_s:.2f} s less than the program and assay used "
        f"(the kernel's count is exact to {step_s:.2f} s)"
    )


def _excess_cpu_time(facts: RunFacts) -> str | None:
    """Return the phrase for more CPU time than the CPUs of the launch have."""
    if facts.host is None or not facts.host.cpus:
        return None
    if facts.wall_s is None or facts.user_s is None or facts.sys_s is None:
        return None
    used_s = facts.user_s + facts.sys_s
    graceful_stop = facts.graceful_stop
    there_s = (
        facts.wall_s + (graceful_stop.duration_s if graceful_stop else 0.0)
    ) * facts.host.cpus
    if used_s <= there_s * (1.0 + ROUNDING) + TICK_S * facts.host.cpus:
        return None
    return f"it used {used_s:.2f} s of CPU time, but its CPUs provided {there_s:.2f} s"


def _lost_time(facts: RunFacts) -> str | None:
    """Return the phrase for a process tree with less CPU time than a part of it."""
    if facts.cpu_scope != "cgroup" or facts.waited_cpu_s is None:
        return None
    if facts.graceful_stop is not None and facts.graceful_stop.method == "command":
        return None  # the stop command was reaped as well, and ran outside the control group
    if facts.user_s is None or facts.sys_s is None:
        return None
    used_s = facts.user_s + facts.sys_s
    if facts.waited_cpu_s <= used_s * (1.0 + ROUNDING) + TICK_S:
        return None
    return (
        f"its control group counted {used_s:.2f} s of CPU time, and the reaped processes counted "
        f"{facts.waited_cpu_s:.2f} s"
    )


def _stopped(facts: RunFacts) -> str | None:
    """Return the phrase for a program that was stopped within its wall time."""
    if facts.stopped_s is None or facts.wall_s is None:
        return None
    if facts.stopped_s < max(MIN_STOP_S, ROUNDING * facts.wall_s):
        return None
    return (
        f"it was stopped (by SIGSTOP or a similar signal) for {facts.stopped_s:.2f} s of "
        f"{facts.wall_s:.2f} s"
    )
