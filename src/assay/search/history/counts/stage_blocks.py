"""Stage blocks: observations of the arms in the blocks of each stage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.records import Arm, Stage
from assay.search.history.counts.arm_column import ArmColumn
from assay.search.history.counts.stage_history import StageHistory
from assay.search.history.disturbance import is_mostly_disturbed
from assay.stats.paired import Observation


class StageBlocks:
    """Read access to the observations of a study, by stage, block and arm.

    Args:
        stages: blocks of each stage.
    """

    def __init__(self, stages: dict[Stage, StageHistory]) -> None:
        self._stages = stages
        self._arms: dict[str, Arm] = {}

    def blocks(self, stage: Stage) -> list[int]:
        """Return the numbers of the blocks of a stage, ascending."""
        return self._stages[stage].blocks

    def complete(self, stage: Stage) -> list[int]:
        """Return the blocks of a stage in which every arm of the block plan ran."""
        return [number for number in self.blocks(stage) if self._stages[stage].is_complete(number)]

    def count_complete(self, stage: Stage) -> int:
        """Return the number of these blocks."""
        return self._stages[stage].complete

    def undisturbed_blocks(self, stage: Stage, first: int | None = None) -> list[int]:
        """Return the complete, undisturbed blocks of a stage.

        Args:
            stage: stage of the blocks.
            first: limit to this number of blocks that ran first.
        """
        ran = self.complete(stage)[:first]
        return [number for number in ran if not self.is_disturbed(stage, number)]

    def is_disturbed(self, stage: Stage, block: int) -> bool:
        """Return whether other processes disturbed a block more than the study admits."""
        return self._stages[stage].is_disturbed(block)

    def has_disturbed(self, stage: Stage) -> bool:
        """Return whether other processes disturbed any block of a stage."""
        return any(self.is_disturbed(stage, number) for number in self.blocks(stage))

    def disturbed(self, stage: Stage) -> int:
        """Return the number of complete disturbed blocks of a stage."""
        return self._stages[stage].disturbed

    def mostly_disturbed(self, stage: Stage) -> bool:
        """Return whether more than a third of the blocks of a stage were disturbed."""
        return is_mostly_disturbed(self.disturbed(stage), self.count_complete(stage))

    def summarised(self, stage: Stage) -> list[int]:
        """Return the blocks behind summaries: undisturbed ones, or all if most were disturbed."""
        return (
            self.complete(stage) if self.mostly_disturbed(stage) else self.undisturbed_blocks(stage)
        )

    def arms(self, stage: Stage) -> list[Arm]:
        """Return the arms of a stage, in the order of their first launch."""
        return [self._arms[name] for name in self._stages[stage].columns]

    def arms_named(self, names: Iterable[str]) -> list[Arm]:
        """Return the arms with these names that ran, in the order of the names."""
        return [self._arms[name] for name in names if name in self._arms]

    def outcomes(self, stage: Stage) -> Iterator[tuple[Arm, int, Observation | None]]:
        """Yield the observations of each arm in each block of a stage in which it ran."""
        for name, column in self._stages[stage].columns.items():
            for block, found in column.items():
                yield self._arms[name], block, found

    def newest_arms(self, stage: Stage) -> list[Arm]:
        """Return the arms of the newest block of a stage; empty without a block."""
        numbers = self.blocks(stage)
        if not numbers:
            return []
        known = self._stages[stage].arms_of(numbers[-1])
        return list(known) if known else [self._arms[n] for n in self._ran(stage, numbers[-1])]

    def _ran(self, stage: Stage, block: int) -> list[str]:
        return [name for name, column in self._stages[stage].columns.items() if block in column]

    def blocks_run(self, stage: Stage, arm: str) -> int:
        """Return the number of blocks of a stage in which an arm ran, with any outcome."""
        return len(self._column(stage, arm).blocks)

    def first_block(self, stage: Stage, arm: str) -> int | None:
        """Return the block of a stage in which an arm first ran."""
        return next(iter(self._column(stage, arm).blocks), None)

    def observations(
        self, stage: Stage, arm: str, blocks: Sequence[int] | None = None
    ) -> list[Observation | None]:
        """Return an observation for each block of a stage, in order; ``None`` without a value."""
        numbers = self.blocks(stage) if blocks is None else blocks
        column = self._column(stage, arm)
        return [column.get(number) for number in numbers]

    def newest(self, stage: Stage, arm: str, count: int) -> list[Observation | None]:
        """Return the observations of an arm in its newest blocks of a stage."""
        column = self._column(stage, arm)
        return [column[number] for number in column.newest(count)]

    def known(self, stage: Stage, arm: str) -> list[Observation]:
        """Return the observations of an arm in a stage, by block."""
        return [found for _, found in self._column(stage, arm).items() if found is not None]

    def has_value(self, stage: Stage, arm: str) -> bool:
        """Return whether an arm gave a value in a stage; a time-out gives a bound, 0 is none."""
        return self._column(stage, arm).has_value

    def values(self, stage: Stage, arm: str) -> list[float]:
        """Return the uncensored values of an arm."""
        return [o.value for o in self.known(stage, arm) if not o.censored]

    def summarised_values(self, stage: Stage, arm: str) -> list[float]:
        """Return the uncensored values of an arm from the blocks behind summaries, in order."""
        everything = self.mostly_disturbed(stage)
        return [
            found.value
            for number, found in self._column(stage, arm).items()
            if found is not None
            and not found.censored
            and (everything or not self.is_disturbed(stage, number))
        ]

    def _column(self, stage: Stage, arm: str) -> ArmColumn:
        """Return the observations of an arm in a stage, possibly none."""
        return self._stages[stage].columns.get(arm) or ArmColumn()
