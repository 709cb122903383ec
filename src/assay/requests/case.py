"""Requests of ``assay case``."""

from __future__ import annotations

from assay.records.budget import Budget
from assay.records.codec import Record
from assay.records.study import DEFAULT_DISTURBED_ABOVE
from assay.requests.checks import demand_share, demand_whole
from assay.requests.study import DEFAULT_BUDGET_S, check_budget

DEFAULT_SIZE = "L2"


class CaseShowRequest(Record, frozen=True, kw_only=True):
    """Description of a case of the catalogue.

    Attributes:
        name: name of the case.
        size: size of the data: ``tiny``, ``L2``, ``LLC``, ``DRAM`` or a number of bytes (default:
            ``L2``).
        parameters: parameters of the work, by name (default: those of the case).
        threads: number of threads, as text (default: ``None``, that of OpenMP).
    """

    name: str
    size: str = DEFAULT_SIZE
    parameters: dict[str, str] = {}
    threads: str | None = None


class CaseRunRequest(CaseShowRequest, frozen=True, kw_only=True):
    """Comparison of the variants of a case.

    Attributes:
        variants: names of the variants to run (default: all available ones).
        budget: limits of the comparison, in seconds and launches (default: 600 seconds).
        seed: seed of all random choices (default: 0).
        disturbed_above: share of the CPUs that other processes may use during an undisturbed block;
            ``None`` counts every block as undisturbed (default: 0.1).
    """

    variants: tuple[str, ...] = ()
    budget: Budget = Budget(time_s=DEFAULT_BUDGET_S)
    seed: int = 0
    disturbed_above: float | None = DEFAULT_DISTURBED_ABOVE

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: a value is invalid.
        """
        check_budget(self.budget)
        demand_whole("seed", self.seed, 0)
        demand_share("disturbed_above", self.disturbed_above)
