"""Overhead: the cost of each observation on one machine."""

from __future__ import annotations

from assay.records.codec import SCHEMA, Record
from assay.records.observation import Observation

MAX_COST = 0.005
"""Maximum acceptable cost of an observation, as a share of the wall time of a program."""
MAX_ADDED_SPREAD = 0.001
"""Maximum acceptable increase of the typical distance from the median, as the same share."""


class Cost(Record, frozen=True, kw_only=True):
    """Time cost of an observation, as a share of the wall time of the program without it.

    Attributes:
        share: median over pairs of launches with and without the observation.
        low: lower end of the interval of the median. The intervals of all figures that decide on
            one observation hold simultaneously with 95 % probability.
        high: upper end of the interval of the median.
    """

    share: float
    low: float
    high: float


class ObservedCost(Record, frozen=True, kw_only=True):
    """Cost of one observation for one program.

    Attributes:
        observation: name of the observation, enabled in one launch of each pair and disabled in the
            other.
        program: name of the built-in load, or the command.
        baseline_s: median wall time of the program without it, in seconds.
        pairs: number of pairs of launches.
        wall: cost in ``wall_s``.
        user: cost in ``user_s``; absent if unknown.
        sys: cost in ``sys_s``; absent if unknown.
        cpu: cost in their sum, which is valid if the kernel divides them by ticks; absent if
            unknown, and in calibrations of an older assay.
        spread: increase of the distance of ``wall_s`` from its median; absent in calibrations of an
            older assay.
    """

    observation: str
    program: str
    baseline_s: float
    pairs: int
    wall: Cost
    user: Cost | None = None
    sys: Cost | None = None
    cpu: Cost | None = None
    spread: Cost | None = None

    @property
    def excess(self) -> tuple[str, Cost] | None:
        """Return the figure with an excessive cost and its name; ``None`` if there is none.

        Preloaded allocators are settings, and control groups are needed for containment: the cost
        of either is never excessive.
        """
        if self.observation not in set(Observation):
            return None
        for name, cost in (("wall", self.wall), ("cpu", self.cpu)):
            if cost is not None and cost.low > MAX_COST:
                return name, cost
        if (
            self.spread is not None
            and self.spread.low > 0.0
            and self.spread.share > MAX_ADDED_SPREAD
        ):
            return "spread", self.spread
        return None


class Overhead(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Cost of observations on a machine: the document of ``assay study calibrate --overhead``.

    Attributes:
        machine: fingerprint of the machine, as in strata.
        model: processor model.
        kernel: kernel release.
        assay_version: version of assay.
        started_at: start of the measurement, in seconds since 1970 (UTC).
        duration_s: length of the measurement, in seconds.
        command: the launched command; absent for the built-in loads.
        other_load: share of the CPUs that other processes and the hypervisor used during the
            measurement; absent if unknown, and in calibrations of an older assay.
        costs: cost of each observation and program.
        unavailable: reason why an observation could not be measured, by observation.
    """

    machine: str
    model: str
    kernel: str
    assay_version: str
    started_at: float
    duration_s: float
    costs: tuple[ObservedCost, ...]
    unavailable: dict[str, str] = {}
    command: str | None = None
    other_load: float | None = None
