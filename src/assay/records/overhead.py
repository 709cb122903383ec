"""Overhead: the cost of each observation on one machine."""

from __future__ import annotations

from assay.records.codec import Record
from assay.records.observation import Observation

MAX_COST = 0.005
"""Share of the wall time of a program above which an observation costs too much."""
MAX_ADDED_SPREAD = 0.001
"""The same for what it adds to the typical distance from the median."""


class Cost(Record, frozen=True, kw_only=True):
    """The time that an observation adds, as a share of the wall time of the program without it.

    Attributes:
        share: median over pairs of a launch with and one without it.
        low, high: interval of the median. With 95 % probability the intervals of all figures that
            decide on one observation hold together.
    """

    share: float
    low: float
    high: float


class ObservedCost(Record, frozen=True, kw_only=True):
    """The cost of one observation for one program.

    Attributes:
        observation: on in one launch of each pair, and off in the other.
        program: name of the load, or the command.
        bare_s: median wall time of the program without it, in seconds.
        pairs: of launches.
        wall: cost in the reported ``wall_s``.
        user, sys: the same of ``user_s`` and ``sys_s``; ``None`` where they are not known.
        cpu: the same of their sum, which holds where the kernel divides them by ticks; ``None``
            where it is not known, and in calibrations of an older assay.
        spread: what it adds to the distance of a launch's ``wall_s`` from the median; ``None`` in
            calibrations of an older assay.
    """

    observation: str
    program: str
    bare_s: float
    pairs: int
    wall: Cost
    user: Cost | None = None
    sys: Cost | None = None
    cpu: Cost | None = None
    spread: Cost | None = None

    @property
    def excess(self) -> tuple[str, Cost] | None:
        """Return the figure that shows it to cost too much, with its name; ``None`` if none does.

        A preloaded allocator is a setting and a control group keeps a promise: neither costs too
        much, whatever its figures are.
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


class Overhead(Record, frozen=True, kw_only=True, tag_field="schema", tag=1):
    """The cost of observing on a machine: the document of ``assay study calibrate --overhead``.

    Attributes:
        machine: its fingerprint, as strata have it.
        model: of its processor.
        kernel: release.
        engine: version of assay.
        at_s: when it was measured, in seconds since 1970 (UTC).
        took_s: length of the measurement, in seconds.
        command: that was launched; ``None``: the built-in loads.
        others: share of the CPUs that other processes and the hypervisor used meanwhile; ``None``
            where that is unknown, and in calibrations of an older assay.
        costs: of each observation and program.
        absent: observations that could not be measured here -> the reason.
    """

    machine: str
    model: str
    kernel: str
    engine: str
    at_s: float
    took_s: float
    costs: tuple[ObservedCost, ...]
    absent: dict[str, str] = {}
    command: str | None = None
    others: float | None = None
