"""Block loads: use of the machine by other processes in the blocks of one stage, in arrays.

``History`` keeps every observation for its decisions. Exports and reports only need to know which
blocks were disturbed: 40 bytes of a block suffice.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator

from assay.records import Sample, StudySpec
from assay.search.history.disturbance import (
    NO_LOAD,
    OutsideLoad,
    is_mostly_disturbed,
    load_of,
)
from assay.search.history.history import History
from assay.search.history.process_means import is_process_the_block


class BlockLoads:
    """Outside load of each block of one stage.

    It agrees with ``History`` if the launches of a block have the same plan.

    Args:
        above: share of the CPUs above which a block is disturbed.
        reader: history that reads the observation of a sample; it keeps none.
    """

    def __init__(self, above: float, reader: History) -> None:
        self._above = above
        self._reader = reader
        self._places: dict[int, int] = {}
        self._outside_s, self._capacity_s, self._readings = array("d"), array("d"), array("d")
        self._violations = bytearray()
        self._open: dict[int, dict[str, dict[int, bool]]] = {}
        """For blocks without all launches: whether the launch at a position has a value, by arm."""

    @classmethod
    def of(cls, spec: StudySpec) -> BlockLoads:
        """Return the empty loads of a study that limits disturbances."""
        assert spec.disturbed_above is not None
        return cls(spec.disturbed_above, History(spec.workload.objective))

    def add(self, sample: Sample) -> None:
        """Add a launch; trials of a process that is a block are not measured apart."""
        if is_process_the_block(sample.launch):
            return
        block = sample.launch.block
        place = self._places.get(block)
        if place is None:
            place = self._places[block] = len(self._violations)
            for column in (self._outside_s, self._capacity_s, self._readings):
                column.append(0.0)
            self._violations.append(0)
            self._open[block] = {}
        load = load_of(sample)
        if load is not NO_LOAD:
            self._outside_s[place] += load.outside_s
            self._capacity_s[place] += load.capacity_s
            self._readings[place] += load.readings
            self._violations[place] |= load.violations
        if block in self._open:
            self._note_launch(sample)

    def _note_launch(self, sample: Sample) -> None:
        """Note the launch of an open block, which closes when all arms of its plan ran."""
        launch = sample.launch
        ran = self._open[launch.block]
        known = self._reader.observation(sample) is not None
        ran.setdefault(launch.arm, {})[launch.position] = known
        if launch.block_arms is None:  # complete as far as is known
            del self._open[launch.block]
            return
        times = Counter(arm.name for arm in launch.block_arms)
        if all(self._has_run(ran.get(name, {}), times[name]) for name in times):
            del self._open[launch.block]

    def _has_run(self, parts: dict[int, bool], times: int) -> bool:
        return bool(parts) if times == 1 else len(parts) == times or False in parts.values()

    def _load(self, place: int) -> OutsideLoad:
        return OutsideLoad(
            self._outside_s[place],
            self._capacity_s[place],
            self._readings[place],
            bool(self._violations[place]),
        )

    def disturbed(self) -> Iterator[int]:
        """Yield the numbers of the disturbed blocks."""
        for block, place in self._places.items():
            if self._load(place).disturbed(self._above):
                yield block

    def mostly_disturbed(self) -> bool:
        """Return whether too many of the complete blocks were disturbed."""
        lost = sum(block not in self._open for block in self.disturbed())
        return is_mostly_disturbed(lost, len(self._places) - len(self._open))
