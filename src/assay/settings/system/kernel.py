"""Kernel: NUMA balancing, watchdogs, real-time throttling, timers, perf events.

Interface: ``Documentation/admin-guide/sysctl/kernel.rst``.
"""

from __future__ import annotations

from assay.machine.tunables import KERNEL
from assay.records import Choices, Range
from assay.settings.system.file_setting import FileSetting

RT_THROTTLING = "rt.throttling"

KNOBS: tuple[FileSetting, ...] = (
    FileSetting(
        "numa.balancing",
        "whether the kernel moves memory after its users: 0, 1; 2 tiers",
        (f"{KERNEL}/numa_balancing",),
        Choices((0, 1, 2, 3)),
        absent="The kernel needs CONFIG_NUMA_BALANCING.",
    ),
    FileSetting(
        "watchdog",
        "watching for CPUs that hang, by a thread and by NMIs: 0, 1",
        (f"{KERNEL}/watchdog",),
        Choices((0, 1)),
        # It switches both of its parts (sysctl/kernel.rst, "watchdog").
        resets=(f"{KERNEL}/nmi_watchdog", f"{KERNEL}/soft_watchdog"),
        note="a CPU that hangs is not told of meanwhile",
        absent="The kernel needs CONFIG_SOFTLOCKUP_DETECTOR or a counterpart.",
    ),
    FileSetting(
        "watchdog.nmi",
        "watching for CPUs that hang by NMIs, which takes a perf counter: 0, 1",
        (f"{KERNEL}/nmi_watchdog",),
        Choices((0, 1)),
        resets=(f"{KERNEL}/watchdog",),
        absent="The kernel needs CONFIG_HARDLOCKUP_DETECTOR.",
    ),
    FileSetting(
        RT_THROTTLING,
        "microseconds of a period that real-time programs may have; -1: all",
        (f"{KERNEL}/sched_rt_runtime_us",),
        Range(-1, 1 << 31),
        note="with -1 a real-time program that spins takes a CPU away from all others",
    ),
    FileSetting(
        "timer.migration",
        "whether timers of idle CPUs move to busy ones: 0, 1",
        (f"{KERNEL}/timer_migration",),
        Choices((0, 1)),
        absent="The kernel needs CONFIG_NO_HZ_COMMON.",
    ),
    FileSetting(
        "perf.rate",
        "highest sampling rate of perf events, in Hz",
        (f"{KERNEL}/perf_event_max_sample_rate",),
        Range(1, 1 << 31),
        note="the kernel lowers it by itself where sampling takes too long",
    ),
    FileSetting(
        "perf.cpu_percent",
        "share of a CPU that sampling may take before it is slowed down; 0: any",
        (f"{KERNEL}/perf_cpu_time_max_percent",),
        Range(0, 100),
    ),
)
