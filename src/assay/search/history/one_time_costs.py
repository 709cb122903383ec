"""One-time costs: first launches of configurations compared with later ones.

A program may fill a cache, compile or index at its first launch. Some do so once, others once for
each configuration. In the second case a search must not use the first launch as the speed of a
configuration; otherwise it need not warm up every configuration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.records import DEFAULT, Arm, Configuration, Outcome, Sample, Stage

MIN_FACTOR = 1.5
"""Minimum ratio of a first launch with a one-time cost to the longest later launch."""


@dataclass
class _WallTimes:
    first_s: float
    longest_later_s: float | None = None

    @property
    def pays(self) -> bool | None:
        """True if the first launch took clearly longer; ``None`` without a later one."""
        if self.longest_later_s is None:
            return None
        return self.first_s >= MIN_FACTOR * self.longest_later_s


class FirstLaunches:
    """Wall times of the first launch of each configuration and of later ones."""

    def __init__(self) -> None:
        self._walls: dict[Configuration, _WallTimes] = {}
        self._launched: set[Configuration] = set()

    def add(self, sample: Sample) -> None:
        """Add one sample, in the order of the launches."""
        if sample.launch.stage is Stage.INTERFERENCE:
            return  # parallel launches may be slower
        configuration = sample.launch.configuration
        known = self._walls.get(configuration)
        if known is None:
            self._launched.add(configuration)
        if sample.outcome is not Outcome.OK or not sample.wall_s:
            return  # assay chose the length of a launch that it ended
        if known is None:
            self._walls[configuration] = _WallTimes(sample.wall_s)
        else:
            known.longest_later_s = max(known.longest_later_s or 0.0, sample.wall_s)

    def launched(self, configuration: Configuration) -> bool:
        """Return whether a configuration was launched, with any outcome."""
        return configuration in self._launched

    def arms_to_warm_up(self, arms: Sequence[Arm]) -> tuple[Arm, ...]:
        """Return the arms to launch once, without counting them, before a block of these arms.

        There are none unless the default's first launch took clearly longer than its repeats. One
        new arm is launched twice then. All new ones follow, each once, where most arms with a
        repeat paid a one-time cost of their own.

        Args:
            arms: arms of the block.
        """
        if not self._pays(DEFAULT):
            return ()
        new = {a.configuration: a for a in arms if not self.launched(a.configuration)}
        others = [walls.pays for c, walls in self._walls.items() if c != DEFAULT]
        repeated = [pays for pays in others if pays is not None]
        if not repeated:
            return tuple(new.values())[:1] * 2
        return tuple(new.values()) if 2 * sum(repeated) > len(repeated) else ()

    def _pays(self, configuration: Configuration) -> bool:
        walls = self._walls.get(configuration)
        return walls is not None and walls.pays is True
