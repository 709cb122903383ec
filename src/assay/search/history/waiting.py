"""Waiting: programs with little CPU time while they run."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.records import Sample
from assay.search.history.packed_samples import figures_of, select, succeeded, where, with_evidence
from assay.wording.launch_notes import waiting_note

MAX_CPU_SHARE = 0.1
"""Share of the wall time below which the CPU time of a program is low."""
IO_WAIT = "pressure.io_some_s"
"""Kind of evidence: time during which part of the launch waited for a disk, in seconds."""
MIN_WALL_S = 0.1
"""Minimum wall time in seconds: a shorter launch may end before it works."""


def waiting_notes(samples: Sequence[Sample]) -> list[str]:
    """Return a note if launches used little CPU time without known waits for a disk.

    Args:
        samples: samples of the study; those without CPU time are skipped.
    """
    good = succeeded(samples)
    times_s = [
        (s.wall_s, s.user_s + (s.sys_s or 0.0))
        for s in figures_of(good)
        if s.wall_s and s.user_s is not None
    ]
    wall_s = math.fsum(wall_s for wall_s, _ in times_s)
    cpu_s = math.fsum(cpu_s for _, cpu_s in times_s)
    if wall_s < MIN_WALL_S * max(1, len(times_s)) or cpu_s >= MAX_CPU_SHARE * wall_s:
        return []
    timed = where(good, lambda s: bool(s.wall_s) and s.user_s is not None)
    if select(timed, lambda shape: "gpus" in shape.settings):
        return []
    waits = with_evidence(timed, IO_WAIT)
    disks_s = [e.value or 0.0 for s in waits for e in s.evidence if e.kind == IO_WAIT]
    if cpu_s + math.fsum(disks_s) >= MAX_CPU_SHARE * wall_s:
        return []
    return [waiting_note(cpu_s / wall_s, disk_known=bool(disks_s))]
