"""Overhead: the cost of each observation on one machine."""

from __future__ import annotations

from assay.records.codec import Record

LIMIT = 0.005
"""Share of the wall time of a program above which an observation is too dear."""
SPREAD_LIMIT = 0.001
"""The same for what it adds to the typical distance from the median."""


class Cost(Record, frozen=True, kw_only=True):
    """The time that an observation adds, as a share of the wall time of the program without it.

    Attributes:
        share: median over pairs of a launch with and one without it.
        low, high: 95 % interval of the median.
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
        wall, user, sys: cost in the reported ``wall_s``, ``user_s`` and ``sys_s``.
        spread: what it adds to the distance of a launch's ``wall_s`` from the median; ``None`` in
            calibrations of an older assay.
    """

    observation: str
    program: str
    bare_s: float
    pairs: int
    wall: Cost
    user: Cost
    sys: Cost
    spread: Cost | None = None

    @property
    def is_dear(self) -> bool:
        """Return whether it was shown to cost too much, or to spread the times."""
        if self.spread is not None and self.spread.low > 0.0 and self.spread.share > SPREAD_LIMIT:
            return True
        return any(cost.low > LIMIT for cost in (self.wall, self.user, self.sys))


class Overhead(Record, frozen=True, kw_only=True, tag_field="schema", tag=1):
    """The cost of observing on a machine: the document of ``assay study calibrate --overhead``.

    Attributes:
        machine: its fingerprint, as strata have it.
        model: of its processor.
        kernel: release.
        engine: version of assay.
        at_s: when it was measured, in seconds since 1970 (UTC).
        took_s: length of the measurement, in seconds.
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
