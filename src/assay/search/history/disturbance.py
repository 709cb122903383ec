"""Disturbance: use of the machine by other processes while a block ran.

Only causes outside the launches count: steal time, load of other processes on the CPUs of the
launch, and a violated partition. Effects that a configuration itself can cause (throttling, swap,
context switches, pressure) are part of its result. The rule is independent of arms and metrics, is
fixed before the study, and applies to whole blocks, so that it favours no arm
(docs/explanation/statistics.md, rule 13).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from assay.records import Evidence, Sample

FOREIGN_LOAD = "foreign_load"
"""Kind of evidence: CPU time of other processes, in seconds."""
STEAL = "steal"
"""Kind of evidence: CPU time that the hypervisor used otherwise, in seconds."""
OUTSIDE_LOADS = (STEAL, FOREIGN_LOAD)
"""Kinds of evidence on CPU time outside the launches, in seconds."""
PARTITION_VIOLATION = "partition"
"""Kind of evidence: the partition of a launch was violated."""
HOST_CPUS = "host_cpus"
"""Kind of evidence: number of CPUs over which these times were counted."""
TICK_S = 0.01
"""Resolution of the kernel's CPU time, in seconds (/proc/stat, USER_HZ)."""
MAX_ERROR_TICKS = 1.5
"""Maximum error of the time of one CPU over one launch, in ticks. The difference of two
readings, each rounded to a tick, has a standard deviation of 0.41 ticks (the root of 1/6): three
are 1.2."""
MAX_DISTURBED_SHARE = 1 / 3
"""Share of disturbed blocks above which the undisturbed ones alone are not representative."""


class OutsideLoad(NamedTuple):
    """CPU time of other processes and of the hypervisor during some launches.

    Attributes:
        outside_s: total CPU time outside the launches.
        capacity_s: available CPU time: wall time, including terminations, times CPUs.
        readings: CPUs times launches; each reading has an error of about a tick.
        violations: whether the partition of any launch was violated.
    """

    outside_s: float = 0.0
    capacity_s: float = 0.0
    readings: float = 0.0
    violations: bool = False

    def with_launch(
        self, sample: Sample, evidence: Mapping[str, Evidence] | None = None
    ) -> OutsideLoad:
        """Return the sum with one more launch.

        Args:
            sample: sample of the launch.
            evidence: its evidence by kind, if the caller has it.
        """
        more = load_of(sample, evidence)
        if more is NO_LOAD:
            return self
        return OutsideLoad(
            self.outside_s + more.outside_s,
            self.capacity_s + more.capacity_s,
            self.readings + more.readings,
            self.violations or more.violations,
        )

    @property
    def share(self) -> float:
        """Share of the CPUs that was certainly used outside the launches; 0 if unknown."""
        if self.capacity_s <= 0.0:
            return 0.0
        doubt_s = MAX_ERROR_TICKS * TICK_S * math.sqrt(self.readings)
        return max(0.0, self.outside_s - doubt_s) / self.capacity_s

    def disturbed(self, above: float | None) -> bool:
        """Return whether the share exceeds ``above``, or a partition was violated.

        With ``None`` the result is always false.
        """
        return above is not None and (self.violations or self.share > above)


NO_LOAD = OutsideLoad()
"""Sum over no launches."""


def load_of(sample: Sample, evidence: Mapping[str, Evidence] | None = None) -> OutsideLoad:
    """Return the outside load of one launch.

    A launch without such evidence adds nothing, nor does one with contradictory evidence: a value
    that is too low would hide load in the other launches.

    Args:
        sample: sample of the launch.
        evidence: its evidence by kind, if the caller has it.
    """
    pieces = sample.evidence_by_kind() if evidence is None else evidence
    violations = PARTITION_VIOLATION in pieces
    cpus, steal_s = _value(pieces.get(HOST_CPUS)), _value(pieces.get(STEAL))
    foreign_s = _value(pieces.get(FOREIGN_LOAD))
    known = sample.wall_s and not sample.contradictions
    if not cpus or not known or (steal_s is None and foreign_s is None):
        return OutsideLoad(violations=True) if violations else NO_LOAD
    outside_s = (steal_s or 0.0) + (foreign_s or 0.0)
    return OutsideLoad(outside_s, sample.total_wall_s_with(pieces) * cpus, cpus, violations)


class ForeignLoad(NamedTuple):
    """CPU time of other processes during some launches, and of the launches themselves.

    Attributes:
        foreign_s: CPU time of other processes.
        own_s: CPU time of the launches.
        capacity_s: available CPU time: wall time, including terminations, times CPUs.
        cpus: CPUs times launches.
    """

    foreign_s: float = 0.0
    own_s: float = 0.0
    capacity_s: float = 0.0
    cpus: float = 0.0

    def with_launch(
        self, sample: Sample, evidence: Mapping[str, Evidence] | None = None
    ) -> ForeignLoad:
        """Return the sum with one more launch.

        A launch without such evidence adds nothing, nor does one with contradictory evidence.

        Args:
            sample, evidence: see ``OutsideLoad.with_launch``.
        """
        pieces = sample.evidence_by_kind() if evidence is None else evidence
        foreign_s, cpus = _value(pieces.get(FOREIGN_LOAD)), _value(pieces.get(HOST_CPUS))
        if foreign_s is None or not cpus or not sample.wall_s or sample.contradictions:
            return self
        return ForeignLoad(
            self.foreign_s + foreign_s,
            self.own_s + (sample.user_s or 0.0) + (sample.sys_s or 0.0),
            self.capacity_s + sample.total_wall_s_with(pieces) * cpus,
            self.cpus + cpus,
        )

    def plus(self, other: ForeignLoad) -> ForeignLoad:
        """Return the sum of both."""
        return ForeignLoad(
            self.foreign_s + other.foreign_s,
            self.own_s + other.own_s,
            self.capacity_s + other.capacity_s,
            self.cpus + other.cpus,
        )

    @property
    def known(self) -> bool:
        """True if any launch has evidence on other processes."""
        return self.capacity_s > 0.0

    @property
    def share(self) -> float:
        """Share of the CPUs, as counted; may be slightly negative by counting errors."""
        return self.foreign_s / self.capacity_s if self.known else 0.0

    @property
    def share_of_remainder(self) -> float:
        """Share of the CPU time that the launches left unused; 1 if they left none."""
        rest_s = self.capacity_s - self.own_s
        if rest_s <= MAX_ERROR_TICKS * TICK_S * math.sqrt(self.cpus):
            return 1.0
        return min(1.0, self.foreign_s / rest_s)


def _value(piece: Evidence | None) -> float | None:
    return None if piece is None else piece.value


def is_mostly_disturbed(disturbed: int, blocks: int) -> bool:
    """Return whether too many blocks were disturbed for the rest to be representative."""
    return disturbed > MAX_DISTURBED_SHARE * blocks
