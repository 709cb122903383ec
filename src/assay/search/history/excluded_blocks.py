"""Excluded blocks: disturbed blocks that enter no summary (rule 13)."""

from __future__ import annotations

from collections.abc import Iterable

from assay.records import Sample, Stage, StudySpec
from assay.search.history.block_loads import BlockLoads

Block = tuple[Stage, int]
"""Stage of a block, and its number in the stage."""


class BlockConditions:
    """Disturbed and excluded blocks of a stratum, from samples that it does not keep.

    Args:
        spec: specification of the study.
    """

    def __init__(self, spec: StudySpec) -> None:
        stages = () if spec.disturbed_above is None else tuple(Stage)
        self._loads = {stage: BlockLoads.of(spec) for stage in stages}

    def add(self, sample: Sample) -> None:
        """Add the next sample of the stratum."""
        if self._loads and sample.launch.fidelity is None:
            self._loads[sample.launch.stage].add(sample)

    @property
    def disturbed(self) -> frozenset[Block]:
        """Return the blocks in which other processes used more of the CPUs than admitted."""
        return frozenset(
            (stage, number)
            for stage, loads in self._loads.items()
            if stage is not Stage.SURVEY
            for number in loads.disturbed()
        )

    @property
    def excluded(self) -> frozenset[Block]:
        """Return the disturbed blocks of the stages in which enough blocks were undisturbed.

        Warm-up launches do not belong to any: they never enter a figure.
        """
        return frozenset(
            (stage, number)
            for stage, loads in self._loads.items()
            if stage is not Stage.SURVEY and not loads.mostly_disturbed()
            for number in loads.disturbed()
        )


def conditions_of(spec: StudySpec, samples: Iterable[Sample]) -> BlockConditions:
    """Return the conditions of the blocks of one stratum.

    Args:
        spec: specification of the study.
        samples: samples of one stratum, in the order of launch.
    """
    found = BlockConditions(spec)
    for sample in samples:
        found.add(sample)
    return found


def excluded_blocks_of(spec: StudySpec, samples: Iterable[Sample]) -> frozenset[Block]:
    """Return the disturbed blocks of the stages in which enough blocks were undisturbed.

    Args:
        spec: specification of the study.
        samples: samples of one stratum, in the order of launch.
    """
    return conditions_of(spec, samples).excluded


def block_of(sample: Sample) -> Block:
    """Return the block of a sample."""
    return sample.launch.stage, sample.launch.block
