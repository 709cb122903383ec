"""Hard-to-change settings: their application between launches, and its duration."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from assay.executors.executor import Executor
from assay.records import Evidence, Launch, Plan, Sample
from assay.search.space.switching import SWITCH_EVIDENCE, HardToChangeFactors
from assay.stats.block_order import Plot


class HardToChangeApplier:
    """Applies the hard-to-change settings of each launch that differ from the previous one.

    At the start of a session their state is unknown.

    Args:
        hard_to_change: the hard-to-change settings; boot settings are ignored.
        executor: executor that applies them.
        clock: clock in seconds.
    """

    def __init__(
        self,
        hard_to_change: HardToChangeFactors,
        executor: Executor,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._hard_to_change = hard_to_change.without_boot_settings
        self._executor = executor
        self._clock = clock
        self._applied: Plot | None = None
        self._evidence: dict[tuple[int, int, int], Evidence] = {}

    def before(self, launch: Launch, plan: Plan) -> None:
        """Apply the hard-to-change settings if they differ, or if the launch requires it.

        Raises:
            AssayError: as ``Executor.open``; the state is unknown then.
        """
        if not self._hard_to_change:
            return
        wanted = self._hard_to_change.plot(launch.configuration)
        if wanted == self._applied and not launch.repeat_application:
            return
        self._applied = None
        began_s = self._clock()
        self._executor.open(self._executor.nodes()[0], plan)
        took_s = self._clock() - began_s
        self._applied = wanted
        level = zip(
            self._hard_to_change.names,
            self._hard_to_change.level(launch.configuration),
            strict=True,
        )
        note = " ".join(f"{name}={'default' if value is None else value}" for name, value in level)
        self._evidence[_position_of(launch)] = Evidence(
            kind=SWITCH_EVIDENCE, value=took_s, unit="s", note=note
        )

    def with_evidence(self, sample: Sample) -> Sample:
        """Return a sample with evidence of the application before its launch."""
        evidence = self._evidence.pop(_position_of(sample.launch), None)
        if evidence is None:
            return sample
        return msgspec.structs.replace(sample, evidence=(*sample.evidence, evidence))


def _position_of(launch: Launch) -> tuple[int, int, int]:
    return launch.block, launch.position, launch.attempt
