"""Process means: one observation for each arm of a process that runs many trials.

Trials of one process share its warm-up, caches and memory layout: they are not independent. The
observation of an arm is the mean logarithm of its trials over the complete blocks of the process;
the difference of two arms is then the mean log ratio, paired by block.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from assay.records import Arm, Launch, Sample, Stage
from assay.stats.paired import Observation

FIRST_PROCESS = 1 << 32
"""Number of the first process as a block, above those of all other blocks. A model would take equal
numbers of two stages for one block."""


def is_process_the_block(launch: Launch) -> bool:
    """Return whether the process of a trial is a block; that is so in claims."""
    return launch.process is not None and launch.stage is Stage.CONFIRM


def number_of_block(launch: Launch) -> int:
    """Return the number of a block among the observations of its stage."""
    if launch.process is not None and is_process_the_block(launch):
        return FIRST_PROCESS + launch.process
    return launch.block


class ProcessMeans:
    """Trials of one process in one stage, by block.

    Attributes:
        arms: arms of the newest block whose plan is known.
        is_complete: true if every arm of some block ran.
    """

    def __init__(self) -> None:
        self.arms: tuple[Arm, ...] = ()
        self.is_complete = False
        self._names: dict[int, tuple[str, ...]] = {}
        self._open: dict[int, dict[str, Observation | None]] = {}
        # Means over the blocks with all values: a process may run thousands of trials.
        self._paired: dict[str, _LogMean] = {}
        self._any: dict[str, _LogMean] = {}

    def add(self, sample: Sample, found: Observation | None) -> None:
        """Add a trial; a later attempt at the same position replaces the earlier one.

        Args:
            sample: sample of the trial.
            found: its observation; ``None`` without a value.
        """
        launch = sample.launch
        if launch.block_arms is not None:
            self.arms = tuple(dict.fromkeys(launch.block_arms))
            self._names[launch.block] = tuple(arm.name for arm in self.arms)
        self._any.setdefault(launch.arm, _LogMean()).add(found)
        block = self._open.setdefault(launch.block, {})
        block[launch.arm] = found
        names = self._names.get(launch.block)
        if names is None or not all(name in block for name in names):
            return
        self.is_complete = True
        if all(one is not None for one in block.values()):
            for name, one in block.items():
                self._paired.setdefault(name, _LogMean()).add(one)
            del self._open[launch.block]

    @property
    def columns(self) -> Mapping[str, Observation | None]:
        """Observation of each arm that ran; ``None`` without a value.

        Only blocks with a value of every arm count, or all values without such a block.
        """
        means = self._paired or self._any
        return {name: means[name].observation if name in means else None for name in self._any}


class _LogMean:
    """Mean logarithm of observations."""

    def __init__(self) -> None:
        self._sum, self._count, self._censored = 0.0, 0, False

    def add(self, found: Observation | None) -> None:
        """Add an observation; ``None`` adds nothing."""
        if found is not None:
            self._sum += math.log(found.value)
            self._count += 1
            self._censored = self._censored or found.censored

    @property
    def observation(self) -> Observation | None:
        """The mean as one observation; ``None`` without any."""
        if not self._count:
            return None
        return Observation(math.exp(self._sum / self._count), censored=self._censored)
