"""Disturbance: whether others used the machine while a block ran.

Only causes outside the launches count: time that the hypervisor took, work of others on the CPUs
of the launch, and that the partition in which it was to run did not hold. What a configuration
itself can bring about (throttling, swap, switches, pressure) is its result. The rule knows neither
arms nor metrics, is fixed before the study, and speaks of whole blocks, so that leaving one out
favours nobody (docs/statistics.md, rule 13).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

from assay.records import Sample

OUTSIDE = ("steal", "foreign_load")
"""Kinds of evidence, in seconds, that tell of others."""
UNHELD = "partition"
"""Kind of evidence that tells that the partition of a launch did not hold."""
CPUS = "host_cpus"
"""Kind of evidence that tells how many CPUs those seconds were counted on."""
TICK_S = 0.01
"""Step in which the kernel counts the time of a CPU (/proc/stat, USER_HZ)."""
SURE = 1.5
"""Ticks by which the count of one CPU over one launch may be off: three standard deviations of
the difference of two readings that are each rounded to a tick."""
WITHHELD_ABOVE = 1 / 3
"""Share of disturbed blocks from which on no verdict is given."""


@dataclass(frozen=True)
class Conditions:
    """What others took of the CPUs of some launches.

    Attributes:
        outside_s: CPU time of others, in all.
        capacity_s: CPU time that there was: wall time times CPUs.
        readings: CPUs times launches, each of which is off by a tick or so.
        unheld: whether the partition of some launch did not hold.
    """

    outside_s: float = 0.0
    capacity_s: float = 0.0
    readings: float = 0.0
    unheld: bool = False

    def with_one(self, sample: Sample) -> Conditions:
        """Return the same with one more launch.

        Nothing is added where it tells nothing of others, nor where its accounts contradict each
        other: what an impossible one says less would hide what others took in the rest.
        """
        figures = {e.kind: e.value for e in sample.evidence if e.value is not None}
        unheld = self.unheld or any(e.kind == UNHELD for e in sample.evidence)
        cpus = figures.get(CPUS)
        known = sample.wall_s and not sample.suspect
        if not cpus or not known or not any(kind in figures for kind in OUTSIDE):
            return replace(self, unheld=unheld)
        return Conditions(
            self.outside_s + sum(figures.get(kind, 0.0) for kind in OUTSIDE),
            self.capacity_s + (sample.wall_s or 0.0) * cpus,
            self.readings + cpus,
            unheld,
        )

    @cached_property
    def share(self) -> float:
        """Of the CPUs that others surely took; 0 where nothing is known."""
        if self.capacity_s <= 0.0:
            return 0.0
        doubt_s = SURE * TICK_S * math.sqrt(self.readings)
        return max(0.0, self.outside_s - doubt_s) / self.capacity_s

    def disturbed(self, above: float | None) -> bool:
        """Whether others took more than the share ``above``, or a partition did not hold.

        ``None`` never asks.
        """
        return above is not None and (self.unheld or self.share > above)


def withheld(disturbed: int, blocks: int) -> bool:
    """Whether so many blocks were disturbed that the rest are no fair picture."""
    return disturbed > WITHHELD_ABOVE * blocks
