"""Request of ``assay sweep``."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from assay.records.budget import Budget
from assay.records.codec import Record
from assay.records.observation import Observation
from assay.records.reservation import Reservation
from assay.requests.checks import demand_share, demand_whole
from assay.requests.study import BootRequest, check_budget


class SweepRequest(Record, frozen=True, kw_only=True):
    """Designed experiment that a file describes; values given here override those of the file.

    Attributes:
        file: path of the TOML file.
        budget: limits of the study, in seconds and launches (default: those of the file, else 600
            seconds).
        seed: seed of all random choices (default: that of the file, else 0).
        margin: margin of equivalence, as a share (default: that of the file, else 0.01).
        null: addition of the baseline as a second arm (default: that of the file, else false).
        disturbed_above: share of the CPUs that other processes may use during an undisturbed block;
            ``None`` counts every block as undisturbed (default: that of the file, else
            ``ASSAY_DISTURBED_ABOVE``, else 0.1).
        observe: observations of the launches that count (default: those of the file).
        reserve: share of a partition in which launches run (default: none).
        boot: settings of boot and firmware (default: none).
        dry_run: layout of the cells only, without a launch (default: false).
    """

    file: str
    budget: Budget = Budget()
    seed: int | None = None
    margin: float | None = None
    null: bool = False
    disturbed_above: float | UnsetType | None = UNSET
    observe: tuple[Observation, ...] | None = None
    reserve: Reservation | None = None
    boot: BootRequest = BootRequest()
    dry_run: bool = False

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: a value is invalid.
        """
        check_budget(self.budget)
        demand_whole("seed", self.seed, 0)
        demand_share("margin", self.margin)
        if self.disturbed_above is not UNSET:
            demand_share("disturbed_above", self.disturbed_above)
