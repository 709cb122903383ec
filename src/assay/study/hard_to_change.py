"""Applied: when settings that are costly to change have to be applied, and what that takes."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from assay.executors.executor import Executor
from assay.records import Evidence, Launch, Plan, Sample
from assay.search.space.switching import SWITCH_EVIDENCE, HardToChangeFactors
from assay.stats.block_order import Plot


class HardToChangeApplier:
    """Has an executor apply what a launch needs and the one before it did not.

    Nothing is taken to hold at the beginning of a sitting.

    Args:
        costly: the settings; those that take a boot are for others.
        executor: applies them.
        clock: in seconds.
    """

    def __init__(
        self,
        costly: HardToChangeFactors,
        executor: Executor,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._costly = costly.without_boot_settings
        self._executor = executor
        self._clock = clock
        self._holds: Plot | None = None
        self._told: dict[tuple[int, int, int], Evidence] = {}

    def before(self, launch: Launch, plan: Plan) -> None:
        """Apply what is costly to change, where it differs or is to be applied anew.

        Raises:
            AssayError: as ``Executor.open``; it is unknown then what holds.
        """
        if not self._costly:
            return
        wanted = self._costly.plot(launch.configuration)
        if wanted == self._holds and not launch.anew:
            return
        self._holds = None
        began_s = self._clock()
        self._executor.open(self._executor.nodes()[0], plan)
        took_s = self._clock() - began_s
        self._holds = wanted
        level = zip(self._costly.names, self._costly.level(launch.configuration), strict=True)
        note = " ".join(f"{name}={'default' if value is None else value}" for name, value in level)
        self._told[_place(launch)] = Evidence(
            kind=SWITCH_EVIDENCE, value=took_s, unit="s", note=note
        )

    def told(self, sample: Sample) -> Sample:
        """A sample with what was applied before its launch."""
        evidence = self._told.pop(_place(sample.launch), None)
        if evidence is None:
            return sample
        return msgspec.structs.replace(sample, evidence=(*sample.evidence, evidence))


def _place(launch: Launch) -> tuple[int, int, int]:
    return launch.block, launch.position, launch.attempt
