"""Known periodic activities of this kernel, with their periods."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from assay.machine.damon import read_damon
from assay.machine.kernel_config import config_text
from assay.machine.processor import read_kernel
from assay.machine.root import LIVE, Root

PERIOD_TOLERANCE = 0.02
"""Relative difference up to which a measured period matches a known one."""


@dataclass(frozen=True, slots=True)
class KnownPeriod:
    """Periodic activity of the kernel, and the setting of its period."""

    period_s: float
    activity: str


def tick_hz(root: Root = LIVE) -> int | None:
    """Return the timer ticks per second (``CONFIG_HZ``); ``None`` if unknown."""
    _, text = config_text(root, read_kernel(root).release)
    found = re.search(r"^CONFIG_HZ=(\d+)$", text or "", re.MULTILINE)
    return int(found[1]) if found and int(found[1]) > 0 else None


def known_periods(root: Root = LIVE) -> tuple[KnownPeriod, ...]:
    """Return the periodic activities whose period the kernel reports.

    Sources: ``Documentation/admin-guide/sysctl/`` (vm.rst, kernel.rst) for those with a file. The
    periods of DAMON are those of ``memory.damon`` in ``assay machine check``.
    """
    found = []
    if hz := tick_hz(root):
        found.append(KnownPeriod(1 / hz, f"the timer tick (CONFIG_HZ={hz})"))
    for path, unit_s, activity, switch in _FILES:
        value = root.read_int(path)
        if value and value > 0 and (switch is None or root.read_int(switch) == 1):
            found.append(KnownPeriod(value * unit_s, activity))
    threshold = root.read_int("/proc/sys/kernel/watchdog_thresh")
    if threshold and root.read_int("/proc/sys/kernel/watchdog"):
        # kernel/watchdog.c, set_sample_period(): a fifth of twice the threshold.
        found.append(KnownPeriod(0.4 * threshold, "the soft-lockup watchdog (kernel.watchdog)"))
    periods_us = (us for source in read_damon(root) if source.is_on for us in source.periods_us)
    found.extend(KnownPeriod(us * 1e-6, "DAMON (memory.damon)") for us in periods_us)
    return tuple(found)


def explain_period(period_s: float, known: Sequence[KnownPeriod]) -> str | None:
    """Return the known activity with this period; ``None`` without a match.

    Args:
        period_s: measured period, in seconds.
        known: known periods of this kernel.
    """
    near = [source for source in known if abs(period_s / source.period_s - 1) <= PERIOD_TOLERANCE]
    if near:
        return " or ".join(dict.fromkeys(source.activity for source in near))
    for source in known:
        ratio = period_s / source.period_s
        whole = round(ratio)
        if 2 <= whole <= 8 and math.isclose(ratio, whole, rel_tol=PERIOD_TOLERANCE):
            return f"every {_ordinal(whole)} of {source.activity}"
    return None


def _ordinal(number: int) -> str:
    return {2: "2nd", 3: "3rd"}.get(number, f"{number}th")


_FILES = (
    ("/sys/kernel/debug/sched/base_slice_ns", 1e-9, "a slice of the scheduler", None),
    ("/proc/sys/kernel/sched_min_granularity_ns", 1e-9, "a slice of the scheduler", None),
    ("/proc/sys/vm/stat_interval", 1.0, "counters of memory (vm.stat_interval)", None),
    (
        "/proc/sys/vm/dirty_writeback_centisecs",
        0.01,
        "write-back (vm.dirty_writeback_centisecs)",
        None,
    ),
    (
        "/sys/kernel/mm/ksm/sleep_millisecs",
        1e-3,
        "KSM (ksm/sleep_millisecs)",
        "/sys/kernel/mm/ksm/run",
    ),
)
"""Path, unit in seconds, description, and a file that contains 1 if the activity is enabled."""
