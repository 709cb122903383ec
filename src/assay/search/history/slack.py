"""Slack: distance of a launch from the bound of a requirement, for the search.

Slack only guides the search: the number of satisfying launches of the confirmation decides on the
requirement (``search.claims.requirement``). A model learns from the size of the distance.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from assay.records import Bound, Requirement, Sample, Stage

MAX_SLACK = 3.0
"""Maximum slack, a factor of twenty: greater distances are equivalent for a search."""


def slack(requirement: Requirement, value: float) -> float:
    """Return the logarithm of the factor between a value and the bound of a requirement.

    It is negative if the bound is violated. For figures of zero or less, without a logarithm, the
    result is the difference over the sum of the magnitudes, which has the same sign.
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
    """Minimum slack of each launch over all requirements.

    Args:
        require: requirements on launches.
    """

    def __init__(self, require: Sequence[Requirement] = ()) -> None:
        self.require = tuple(require)
        self._found: dict[tuple[Stage, str], dict[int, dict[int, float | None]]] = {}

    @property
    def share(self) -> float:
        """Largest required share of launches; a half if no requirement has a larger one."""
        return max((requirement.share for requirement in self.require), default=0.5)

    def add(self, sample: Sample) -> None:
        """Add one sample; a later attempt at the same position replaces the earlier one."""
        if not self.require:
            return
        launch = sample.launch
        blocks = self._found.setdefault((launch.stage, launch.arm), {})
        blocks.setdefault(launch.block, {})[launch.position] = self._min_slack(sample)

    def is_violated_by(self, sample: Sample) -> bool:
        """Return whether a launch violates a requirement."""
        found = self._min_slack(sample)
        return found is not None and found < 0.0

    def _min_slack(self, sample: Sample) -> float | None:
        """Return the slack of a launch; ``None`` if it lacks one of the figures."""
        if not self.require or not sample.outcome.succeeded:
            return None
        values = [sample.metrics.get(requirement.metric) for requirement in self.require]
        pairs = zip(self.require, values, strict=True)
        found = [slack(one, value) for one, value in pairs if value is not None]
        return min(found) if len(found) == len(self.require) else None

    def at(self, stage: Stage, arm: str, block: int) -> float | None:
        """Return the mean slack of an arm's launches in a block; ``None`` if one is unknown."""
        found = list(self._found.get((stage, arm), {}).get(block, {}).values())
        known = [value for value in found if value is not None]
        return statistics.fmean(known) if known and len(known) == len(found) else None

    def of(self, stage: Stage, arm: str) -> list[float]:
        """Return the known slack of an arm's launches in a stage."""
        blocks = self._found.get((stage, arm), {}).values()
        return [launch for launches in blocks for launch in launches.values() if launch is not None]

    def keeps(self, stage: Stage, arm: str) -> bool:
        """Return whether enough launches of an arm satisfy the requirements.

        The result is true without requirements.
        """
        if not self.require:
            return True
        found = self.of(stage, arm)
        return bool(found) and sum(value >= 0.0 for value in found) >= self.share * len(found)
