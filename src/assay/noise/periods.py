"""Periods of this kernel: what is known to come again and again, and how often."""

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
"""A period that differs by less than this share from one that is known is taken for it."""


@dataclass(frozen=True, slots=True)
class KnownPeriod:
    """Something that the kernel does every so many seconds, and where that is set."""

    period_s: float
    what: str


def tick_hz(root: Root = LIVE) -> int | None:
    """Timer ticks in a second (``CONFIG_HZ``); ``None`` where the kernel does not say."""
    _, text = config_text(root, read_kernel(root).release)
    found = re.search(r"^CONFIG_HZ=(\d+)$", text or "", re.MULTILINE)
    return int(found[1]) if found and int(found[1]) > 0 else None


def known_periods(root: Root = LIVE) -> tuple[KnownPeriod, ...]:
    """What this kernel is known to do, as far as it says how often.

    Sources: ``Documentation/admin-guide/sysctl/`` (vm.rst, kernel.rst) for those with a file.
    DAMON's are ``assay machine check``'s ``memory.damon``.
    """
    found = []
    if hz := tick_hz(root):
        found.append(KnownPeriod(1 / hz, f"the timer tick (CONFIG_HZ={hz})"))
    for path, unit_s, what, switch in _FILES:
        value = root.read_int(path)
        if value and value > 0 and (switch is None or root.read_int(switch) == 1):
            found.append(KnownPeriod(value * unit_s, what))
    threshold = root.read_int("/proc/sys/kernel/watchdog_thresh")
    if threshold and root.read_int("/proc/sys/kernel/watchdog"):
        # kernel/watchdog.c, set_sample_period(): a fifth of twice the threshold.
        found.append(KnownPeriod(0.4 * threshold, "the soft-lockup watchdog (kernel.watchdog)"))
    periods_us = (us for one in read_damon(root) if one.is_on for us in one.periods_us)
    found.extend(KnownPeriod(us * 1e-6, "DAMON (memory.damon)") for us in periods_us)
    return tuple(found)


def explain_period(period_s: float, known: Sequence[KnownPeriod]) -> str | None:
    """What is known to have this period; ``None`` where nothing is.

    Args:
        period_s: as measured.
        known: of this kernel.
    """
    near = [one for one in known if abs(period_s / one.period_s - 1) <= PERIOD_TOLERANCE]
    if near:
        return " or ".join(dict.fromkeys(one.what for one in near))
    for one in known:
        times = period_s / one.period_s
        whole = round(times)
        if 2 <= whole <= 8 and math.isclose(times, whole, rel_tol=PERIOD_TOLERANCE):
            return f"every {_ordinal(whole)} of {one.what}"
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
"""Path, seconds of its unit, what it is, and a file that holds 1 where it is done at all."""
