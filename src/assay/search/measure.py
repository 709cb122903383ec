"""MeasureRace: one arm, until its mean is known as precisely as asked."""

from __future__ import annotations

import math

from assay.records import Budget, Stage, StudySpec
from assay.search.claims import MIN_BLOCKS, alike
from assay.search.looks import due
from assay.search.purse import SPARE, START_S, Cost, Purse
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
        looks = len(self._history.blocks(Stage.SURVEY))
        warm = bool(self._history.known(Stage.SURVEY, self._arm.name))
        if not warm and looks < TRIES and not (looks and purse.spent):
            return Roster(Stage.SURVEY, (self._arm,))
        if not warm:
            return Done(Reason.WORKLOAD_FAILED, "The program failed at every attempt.")
        blocks = len(self._history.blocks(Stage.CONFIRM))
        values = self._history.values(Stage.CONFIRM, self._arm.name)
        affordable = purse.affords(self._history.cost([self._arm]))
        if self._lost(Stage.CONFIRM, self._arm) or (
            blocks and not values and (blocks >= TRIES or not affordable)
        ):
            return Done(Reason.WORKLOAD_FAILED, self._silence())
        if len(values) >= MIN_BLOCKS and due(blocks) and self._precise(values):
            return Done(Reason.DECIDED, f"Precise enough after {len(values)} launches.")
        if alike(values):
            return Done(Reason.DECIDED, f"All {len(values)} launches gave the same value.")
        if affordable:
            return Roster(Stage.CONFIRM, (self._arm,))
        if blocks == 0:
            return self._too_small()
        return Done(Reason.BUDGET, f"The budget ended after {blocks} launches.")

    def _silence(self) -> str:
        """Why no launch gives a value any more."""
        if self._history.newest(Stage.CONFIRM, self._arm.name, 1) == [None]:
            return "The program worked once, and failed since."
        return "Every launch ran into the time-out: there is nothing to average."

    def _too_small(self) -> Done:
        """Not one launch fits behind the warm-up."""
        spent = Cost(sum(s.wall_s or 0.0 for s in self._history.samples), 0)
        one = self._history.cost([self._arm])
        needed = Budget(
            time_s=float(math.ceil((spent.time_s + one.time_s * MIN_BLOCKS) * SPARE + START_S)),
            launches=len(self._history.samples) + MIN_BLOCKS,
        )
        return Done(
            Reason.TOO_SMALL, "The budget is too small: the warm-up launch used it up.", needed
        )

    def _precise(self, values: list[float]) -> bool:
        found = summarise(values, alpha=self._spec.alpha)
        wanted = self._spec.precision or PRECISION
        if found.ci is None:
            return False
        low, high = found.ci
        return (high - low) / 2 <= wanted * abs(found.mean)
