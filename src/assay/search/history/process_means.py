"""Process means: one observation for each arm of a process that runs many trials.

Trials of one process share its warm-up, caches and memory layout, so they are no independent
observations. The observation of an arm is the mean logarithm of its trials over the complete blocks
of the process; the difference of two arms is then the mean log ratio, paired by block.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from assay.records import Arm, Sample
from assay.stats.paired import Observation


class ProcessMeans:
    """Trials of one process in one stage, by block."""

    def __init__(self) -> None:
        self._blocks: dict[int, dict[str, Observation | None]] = {}
        self._arms: dict[int, tuple[str, ...]] = {}
        self.arms: tuple[Arm, ...] = ()
        """Arms of the newest block whose plan is known."""

    def add(self, sample: Sample, found: Observation | None) -> None:
        """Add a trial; a later attempt at the same position replaces the earlier one.

        Args:
            sample: sample of the trial.
            found: its observation; ``None`` without a value.
        """
        launch = sample.launch
        self._blocks.setdefault(launch.block, {})[launch.arm] = found
        if launch.block_arms is not None:
            self.arms = tuple(dict.fromkeys(launch.block_arms))
            self._arms[launch.block] = tuple(arm.name for arm in self.arms)

    @property
    def is_complete(self) -> bool:
        """True if every arm of some block ran."""
        return any(self._ran_completely(number) for number in self._blocks)

    @property
    def columns(self) -> Mapping[str, Observation | None]:
        """Observation of each arm that ran; ``None`` without a value."""
        names = dict.fromkeys(name for block in self._blocks.values() for name in block)
        paired = [block for number, block in self._blocks.items() if self._has_values(number)]
        return {name: _mean(name, paired or [*self._blocks.values()]) for name in names}

    def _ran_completely(self, number: int) -> bool:
        names = self._arms.get(number)
        return names is not None and all(name in self._blocks[number] for name in names)

    def _has_values(self, number: int) -> bool:
        values = self._blocks[number].values()
        return self._ran_completely(number) and all(found is not None for found in values)


def _mean(name: str, blocks: Sequence[Mapping[str, Observation | None]]) -> Observation | None:
    """Return the mean logarithm of an arm over blocks as one observation."""
    known = [found for block in blocks if (found := block.get(name)) is not None]
    if not known:
        return None
    log = math.fsum(math.log(one.value) for one in known) / len(known)
    return Observation(math.exp(log), censored=any(one.censored for one in known))
