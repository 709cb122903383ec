"""Parts that all requests for a study share."""

from __future__ import annotations

from assay.records.budget import Budget
from assay.records.codec import Record
from assay.records.observation import Observation
from assay.records.progress import Until
from assay.records.requirement import Requirement
from assay.records.reservation import Reservation
from assay.records.study import DEFAULT_DISTURBED_ABOVE, DEFAULT_MARGIN, Statistic
from assay.requests.checks import demand_positive, demand_share, demand_whole
from assay.requests.workload import WorkloadRequest
from assay.stats.spread import EQUIVALENCE_RATIO

DEFAULT_BUDGET_S = 600.0
MAX_WARMUP = 1000
"""Largest number of warm-up launches."""
SPREAD_MARGIN = EQUIVALENCE_RATIO - 1.0
"""Default margin of equivalence of spreads.

A spread is known to 1 % only after thousands of launches, and such a difference has no effect.
"""


def default_margin(statistic: Statistic) -> float:
    """Return the default margin of equivalence of a statistic, as a share."""
    return SPREAD_MARGIN if statistic is Statistic.SPREAD else DEFAULT_MARGIN


def check_budget(budget: Budget) -> None:
    """Raise on a budget without time or launches.

    Raises:
        InvalidInputError: a limit is not above zero.
    """
    demand_positive("budget.time_s", budget.time_s)
    demand_whole("budget.launches", budget.launches, 1)


class BootRequest(Record, frozen=True, kw_only=True):
    """Settings of boot and firmware, and the change between two boots.

    Attributes:
        reboot_argv: words of the command that applies a boot change and reboots (default: none;
            assay prints the steps and pauses).
        confirmed: current values of firmware settings that assay cannot read, by name (default:
            none).
        verify: for such settings the absolute path of a file with the value, or ``!`` and a command
            that prints it, by name (default: none).
    """

    reboot_argv: tuple[str, ...] = ()
    confirmed: dict[str, str] = {}
    verify: dict[str, str] = {}


class StudyRequest(Record, frozen=True, kw_only=True):
    """Common part of the requests that begin a study.

    Attributes:
        workload: program to measure.
        budget: limits of the study, in seconds and launches (default: 600 seconds).
        seed: seed of all random choices (default: 0).
        disturbed_above: share of the CPUs that other processes may use during an undisturbed block;
            ``None`` counts every block as undisturbed (default: 0.1).
        observe: observations of the launches that count; ``None`` for the default ones.
        require: requirements on the result (default: none).
        reserve: share of a partition in which launches run (default: none).
        boot: settings of boot and firmware (default: none).
        until: request to end launches as soon as their values suffice (default: none; programs end
            by themselves).
    """

    workload: WorkloadRequest
    budget: Budget = Budget(time_s=DEFAULT_BUDGET_S)
    seed: int = 0
    disturbed_above: float | None = DEFAULT_DISTURBED_ABOVE
    observe: tuple[Observation, ...] | None = None
    require: tuple[Requirement, ...] = ()
    reserve: Reservation | None = None
    boot: BootRequest = BootRequest()
    until: Until | None = None

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: a limit of the budget, the seed or the share is invalid.
        """
        check_budget(self.budget)
        demand_whole("seed", self.seed, 0)
        demand_share("disturbed_above", self.disturbed_above)


class DecisionRequest(StudyRequest, frozen=True, kw_only=True):
    """Common part of the requests that decide between arms.

    Attributes:
        statistic: statistic of the objective that decides (default: the mean).
        margin: margin of equivalence, as a share of the baseline (default: 0.01; of a spread 0.25).
        null: addition of the default as a second arm, which measures the noise floor (default:
            false).
    """

    statistic: Statistic = Statistic.MEAN
    margin: float | None = None
    null: bool = False

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: a value is invalid.
        """
        super().__post_init__()
        demand_share("margin", self.margin)

    @property
    def equivalence_margin(self) -> float:
        """Return the margin of equivalence, as a share."""
        return default_margin(self.statistic) if self.margin is None else self.margin
