"""Kernel settings: NUMA balancing, watchdogs, real-time throttling, timers, perf events.

Interface: ``Documentation/admin-guide/sysctl/kernel.rst``.
"""

from __future__ import annotations

from assay.machine.tunables import KERNEL
from assay.records import Choices, Range
from assay.settings.system.file_setting import FileSetting

RT_THROTTLING = "rt.throttling"

FILE_SETTINGS: tuple[FileSetting, ...] = (
    FileSetting(
        "numa.balancing",
        "automatic NUMA balancing of memory: 0, 1; 2 between memory tiers",
        (f"{KERNEL}/numa_balancing",),
        Choices((0, 1, 2, 3)),
        remedy="The kernel needs CONFIG_NUMA_BALANCING.",
    ),
    FileSetting(
        "watchdog",
        "lockup detection, by a thread and by NMIs: 0, 1",
        (f"{KERNEL}/watchdog",),
        Choices((0, 1)),
        # It switches both parts (sysctl/kernel.rst, "watchdog").
        resets=(f"{KERNEL}/nmi_watchdog", f"{KERNEL}/soft_watchdog"),
        note="CPU lockups are not reported meanwhile",
        remedy="The kernel needs CONFIG_SOFTLOCKUP_DETECTOR or CONFIG_HARDLOCKUP_DETECTOR.",
    ),
    FileSetting(
        "watchdog.nmi",
        "lockup detection by NMIs, which uses a performance counter: 0, 1",
        (f"{KERNEL}/nmi_watchdog",),
        Choices((0, 1)),
        resets=(f"{KERNEL}/watchdog",),
        remedy="The kernel needs CONFIG_HARDLOCKUP_DETECTOR.",
    ),
    FileSetting(
        RT_THROTTLING,
        "microseconds per period for real-time programs; -1: unlimited",
        (f"{KERNEL}/sched_rt_runtime_us",),
        Range(-1, 1 << 31),
        note="with -1 a spinning real-time program blocks all other programs on its CPU",
    ),
    FileSetting(
        "timer.migration",
        "migration of timers from idle to busy CPUs: 0, 1",
        (f"{KERNEL}/timer_migration",),
        Choices((0, 1)),
        remedy="The kernel needs CONFIG_NO_HZ_COMMON.",
    ),
    FileSetting(
        "perf.rate",
        "maximum sampling rate of perf events, in Hz",
        (f"{KERNEL}/perf_event_max_sample_rate",),
        Range(1, 1 << 31),
        note="the kernel lowers it automatically if sampling takes too long",
    ),
    FileSetting(
        "perf.cpu_percent",
        "maximum CPU share of perf sampling, in percent; 0: unlimited",
        (f"{KERNEL}/perf_cpu_time_max_percent",),
        Range(0, 100),
    ),
)
