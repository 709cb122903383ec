"""Disturbance: whether others used the machine while a block ran.

Only causes outside the launches count: time that the hypervisor took, work of others on the CPUs
of the launch, and that the partition in which it was to run did not hold. What a configuration
itself can bring about (throttling, swap, switches, pressure) is its result. The rule knows neither
arms nor metrics, is fixed before the study, and speaks of whole blocks, so that telling disturbed
blocks from others favours no arm (docs/explanation/statistics.md, rule 13).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

from assay.records import Sample

FOREIGN_LOAD = "foreign_load"
"""Kind of evidence that tells, in seconds, of the CPU time of other processes."""
OUTSIDE_LOADS = ("steal", FOREIGN_LOAD)
"""Kinds of evidence, in seconds, that tell of others."""
PARTITION_VIOLATION = "partition"
"""Kind of evidence that tells that the partition of a launch did not hold."""
HOST_CPUS = "host_cpus"
"""Kind of evidence that tells how many CPUs those seconds were counted on."""
TICK_S = 0.01
"""Step in which the kernel counts the time of a CPU (/proc/stat, USER_HZ)."""
MAX_ERROR_TICKS = 1.5
"""Ticks by which the count of one CPU over one launch may be off. Two readings that are each
rounded to a tick differ by 0.41 ticks (one standard deviation, the root of 1/6): three are 1.2."""
MAX_DISTURBED_SHARE = 1 / 3
"""Share of disturbed blocks above which the undisturbed ones alone are no fair picture."""


@dataclass(frozen=True)
class OutsideLoad:
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
    violations: bool = False

    def with_one(self, sample: Sample) -> OutsideLoad:
        """Return the same with one more launch.

        Nothing is added where it tells nothing of others, nor where its accounts contradict each
        other: what an impossible one says less would hide what others took in the rest.
        """
        figures = {e.kind: e.value for e in sample.evidence if e.value is not None}
        violations = self.violations or any(e.kind == PARTITION_VIOLATION for e in sample.evidence)
        cpus = figures.get(HOST_CPUS)
        known = sample.wall_s and not sample.suspect
        if not cpus or not known or not any(kind in figures for kind in OUTSIDE_LOADS):
            return replace(self, violations=violations)
        return OutsideLoad(
            self.outside_s + sum(figures.get(kind, 0.0) for kind in OUTSIDE_LOADS),
            self.capacity_s + sample.took_s * cpus,
            self.readings + cpus,
            violations,
        )

    @cached_property
    def share(self) -> float:
        """Of the CPUs that others surely took; 0 where nothing is known."""
        if self.capacity_s <= 0.0:
            return 0.0
        doubt_s = MAX_ERROR_TICKS * TICK_S * math.sqrt(self.readings)
        return max(0.0, self.outside_s - doubt_s) / self.capacity_s

    def disturbed(self, above: float | None) -> bool:
        """Whether others took more than the share ``above``, or a partition did not hold.

        ``None`` never asks.
        """
        return above is not None and (self.violations or self.share > above)


@dataclass(frozen=True)
class ForeignLoad:
    """CPU time of other processes during some launches, and of the launches themselves.

    Attributes:
        foreign_s: of other processes.
        own_s: of the launches.
        capacity_s: CPU time that there was: wall time times CPUs.
        cpus: CPUs times launches.
    """

    foreign_s: float = 0.0
    own_s: float = 0.0
    capacity_s: float = 0.0
    cpus: float = 0.0

    def with_one(self, sample: Sample) -> ForeignLoad:
        """Return the same with one more launch.

        Nothing is added where it tells nothing of others, nor where its accounts contradict each
        other (``suspect``).
        """
        figures = {e.kind: e.value for e in sample.evidence if e.kind in (FOREIGN_LOAD, HOST_CPUS)}
        foreign_s, cpus = figures.get(FOREIGN_LOAD), figures.get(HOST_CPUS)
        if foreign_s is None or not cpus or not sample.wall_s or sample.suspect:
            return self
        return ForeignLoad(
            self.foreign_s + foreign_s,
            self.own_s + (sample.user_s or 0.0) + (sample.sys_s or 0.0),
            self.capacity_s + sample.wall_s * cpus,
            self.cpus + cpus,
        )

    def plus(self, other: ForeignLoad) -> ForeignLoad:
        """Both together."""
        return ForeignLoad(
            self.foreign_s + other.foreign_s,
            self.own_s + other.own_s,
            self.capacity_s + other.capacity_s,
            self.cpus + other.cpus,
        )

    @property
    def known(self) -> bool:
        """Whether any launch tells of others."""
        return self.capacity_s > 0.0

    @property
    def share(self) -> float:
        """Of the CPUs, as counted; below 0 by chance where a count falls short."""
        return self.foreign_s / self.capacity_s if self.known else 0.0

    @property
    def share_of_remainder(self) -> float:
        """Of what the launches left of the CPUs; 1 where they left nothing to count."""
        rest_s = self.capacity_s - self.own_s
        if rest_s <= MAX_ERROR_TICKS * TICK_S * math.sqrt(self.cpus):
            return 1.0
        return min(1.0, self.foreign_s / rest_s)


def is_mostly_disturbed(disturbed: int, blocks: int) -> bool:
    """Whether so many blocks were disturbed that the rest are no fair picture."""
    return disturbed > MAX_DISTURBED_SHARE * blocks
