"""MeasureRace: one arm, until its mean is known as precisely as asked."""

from __future__ import annotations

from assay.records import Stage, StudySpec
from assay.search.claims import MIN_BLOCKS
from assay.search.purse import Purse
from assay.search.race import BlockRace, Done, Reason, Roster
from assay.stats.summary import summarise

TRIES = 3
"""Launches that may fail before the workload counts as failing always."""
PRECISION = 0.01
"""Half width of the interval over the mean at which a measurement stops unless asked otherwise."""


class MeasureRace(BlockRace):
    """The race behind ``assay measure``: a warm-up launch, then launches until it is precise.

    Args:
        spec: of the study; ``arms`` holds one.
    """

    def __init__(self, spec: StudySpec) -> None:
        super().__init__(spec, Stage.SURVEY)
        self._arm = spec.arms[0]

    def _next(self, purse: Purse) -> Roster | Done:
        tried = [s for s in self._history.samples if s.launch.stage is Stage.SURVEY]
        warm = any(self._history.observation(s) is not None for s in tried)
        if not warm and len(self._history.blocks(Stage.SURVEY)) < TRIES:
            return Roster(Stage.SURVEY, (self._arm,))
        if not warm:
            return Done(Reason.WORKLOAD_FAILED, "The program failed at every attempt.")
        values = self._history.values(Stage.CONFIRM, self._arm.name)
        if len(values) >= MIN_BLOCKS and self._precise(values):
            return Done(Reason.DECIDED, f"Precise enough after {len(values)} launches.")
        if purse.affords(self._history.cost([self._arm])) or not values:
            return Roster(Stage.CONFIRM, (self._arm,))
        return Done(Reason.BUDGET, f"The budget ended after {len(values)} launches.")

    def _precise(self, values: list[float]) -> bool:
        found = summarise(values, alpha=self._spec.alpha)
        wanted = self._spec.precision or PRECISION
        return found.ci is not None and found.ci.width / 2 <= wanted * abs(found.mean)
