"""Slack: by how much a launch keeps what is required, as a search is told it.

What a search believes decides nothing: the requirement itself is decided from how many launches of
the confirmation keep it (``search.requirement``). That a launch keeps it by a hair or by far is
what a model can learn from.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from assay.records import Bound, Outcome, Requirement, Sample, Stage

MAX_SLACK = 3.0
"""A factor of twenty: farther from the limit is no farther for a search."""


def slack(requirement: Requirement, value: float) -> float:
    """The logarithm of how many times a value may grow, or shrink, before it breaks a bound.

    Negative where it does. Of figures that are zero or less, where there is no such logarithm, the
    difference over the sum of the sizes stands in: it has the same sign.
    """
    if value > 0.0 and requirement.limit > 0.0:
        found = math.log(requirement.limit / value)
    else:
        size = abs(requirement.limit) + abs(value)
        found = (requirement.limit - value) / size if size else 0.0
    if requirement.bound is Bound.AT_LEAST:
        found = -found
    return max(-MAX_SLACK, min(MAX_SLACK, found))


class RequirementSlack:
    """The least slack of each launch over all that is required.

    Args:
        require: what launches are to keep.
    """

    def __init__(self, require: Sequence[Requirement] = ()) -> None:
        self.require = tuple(require)
        self._found: dict[tuple[Stage, str], dict[int, dict[int, float | None]]] = {}

    @property
    def share(self) -> float:
        """The largest share of launches that is to keep a bound; a half where none is more."""
        return max((one.share for one in self.require), default=0.5)

    def add(self, sample: Sample) -> None:
        """Take in one sample; a later attempt at the same place replaces the earlier one."""
        if not self.require:
            return
        launch = sample.launch
        blocks = self._found.setdefault((launch.stage, launch.arm), {})
        blocks.setdefault(launch.block, {})[launch.position] = self._least(sample)

    def is_violated_by(self, sample: Sample) -> bool:
        """Whether a launch breaks what is required."""
        found = self._least(sample)
        return found is not None and found < 0.0

    def _least(self, sample: Sample) -> float | None:
        """Of a launch that lacks one of the figures nothing is known."""
        if not self.require or sample.outcome is not Outcome.OK:
            return None
        values = [sample.metrics.get(one.metric) for one in self.require]
        pairs = zip(self.require, values, strict=True)
        found = [slack(one, value) for one, value in pairs if value is not None]
        return min(found) if len(found) == len(self.require) else None

    def at(self, stage: Stage, arm: str, block: int) -> float | None:
        """The mean of an arm's launches in a block; ``None`` where one gave none."""
        found = list(self._found.get((stage, arm), {}).get(block, {}).values())
        known = [one for one in found if one is not None]
        return statistics.fmean(known) if known and len(known) == len(found) else None

    def of(self, stage: Stage, arm: str) -> list[float]:
        """Those of an arm's launches in a stage that are known."""
        blocks = self._found.get((stage, arm), {}).values()
        return [one for launches in blocks for one in launches.values() if one is not None]

    def keeps(self, stage: Stage, arm: str) -> bool:
        """Whether the share of an arm's launches that keeps the bounds is what is to be kept.

        True where nothing is required.
        """
        if not self.require:
            return True
        found = self.of(stage, arm)
        return bool(found) and sum(one >= 0.0 for one in found) >= self.share * len(found)
