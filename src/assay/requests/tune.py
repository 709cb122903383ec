"""Request of ``assay tune``."""

from __future__ import annotations

from assay.errors import InvalidInputError
from assay.records.earlier_study import ImportedTrials
from assay.requests.checks import demand_whole
from assay.requests.study import DecisionRequest

MAX_OBJECTIVES = 3
"""Largest number of objectives: a Pareto front of more takes more launches than most budgets."""


class TuneRequest(DecisionRequest, frozen=True, kw_only=True):
    """Search for the best configuration of a program, with a proof of its gain.

    Attributes:
        settings: settings to vary, each as ``SETTING=DOMAIN`` (default: those of ``space_file``,
            else settings that may matter on this machine).
        space_file: path of a TOML file with domains, constraints and named configurations (default:
            none).
        constraints: expressions that every configuration satisfies (default: none).
        objectives: names of the metrics to decide by, if there are several (default: the first
            metric of the workload).
        parallel: number of slots that the CPUs are divided into (default: ``None``, one launch at a
            time on all CPUs).
        warm_start: earlier studies that guide the search: ids, ``auto`` or ``none`` (default:
            none).
        history: trials of other tools that guide the search (default: none).
        dry_run: determination of the search space only, without a launch (default: false).
        fidelity: setting with cheap values, which the search begins with, as ``SETTING=DOMAIN``
            (default: none; every launch is whole).
    """

    settings: tuple[str, ...] = ()
    space_file: str | None = None
    constraints: tuple[str, ...] = ()
    objectives: tuple[str, ...] = ()
    parallel: int | None = None
    warm_start: tuple[str, ...] = ()
    history: tuple[ImportedTrials, ...] = ()
    dry_run: bool = False
    fidelity: str | None = None

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: a value is invalid, or an objective is not a metric of the workload.
        """
        super().__post_init__()
        demand_whole("parallel", self.parallel, 2)
        known = {metric.name for metric in self.workload.metrics}
        missing = next((name for name in self.objectives if name not in known), None)
        if missing is not None:
            raise InvalidInputError(
                f"objectives: unknown metric {missing!r}.", "Add it to workload.metrics."
            )
        if len(self.objectives) > MAX_OBJECTIVES:
            raise InvalidInputError(
                f"objectives: {len(self.objectives)} are too many.",
                f"Give at most {MAX_OBJECTIVES}.",
            )
