"""Requests of ``assay study calibrate``."""

from __future__ import annotations

from assay.records.budget import Budget
from assay.records.codec import Record
from assay.records.observation import Observation
from assay.records.study import DEFAULT_DISTURBED_ABOVE
from assay.requests.checks import demand_positive, demand_share, demand_whole
from assay.requests.study import check_budget

DEFAULT_CALIBRATION_S = 180.0
"""Default budget, in seconds: some 1,700 blocks of the built-in load."""


class CalibrateRequest(Record, frozen=True, kw_only=True):
    """Measurement of the noise of this machine with two identical arms.

    Attributes:
        argv: words of the command (default: ``None``, the built-in load).
        budget: limits of the study, in seconds and launches (default: 180 seconds).
        seed: seed of all random choices (default: 0).
        disturbed_above: share of the CPUs that other processes may use during an undisturbed block;
            ``None`` counts every block as undisturbed (default: 0.1).
        observe: observations of the launches; ``None`` for the default ones.
    """

    argv: tuple[str, ...] | None = None
    budget: Budget = Budget(time_s=DEFAULT_CALIBRATION_S)
    seed: int = 0
    disturbed_above: float | None = DEFAULT_DISTURBED_ABOVE
    observe: tuple[Observation, ...] | None = None

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: a value is invalid.
        """
        check_budget(self.budget)
        demand_whole("seed", self.seed, 0)
        demand_share("disturbed_above", self.disturbed_above)


class OverheadRequest(Record, frozen=True, kw_only=True):
    """Measurement of the cost of each observation on this machine.

    Attributes:
        argv: words of the command (default: ``None``, the built-in loads).
        budget_s: time to spend, in seconds (default: 180, some 30 pairs of each observation and
            load on two CPUs).
        seed: seed of all random choices (default: 0).
    """

    argv: tuple[str, ...] | None = None
    budget_s: float = DEFAULT_CALIBRATION_S
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: a value is invalid.
        """
        demand_positive("budget_s", self.budget_s)
        demand_whole("seed", self.seed, 0)
