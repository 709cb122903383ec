"""Left out: which blocks of a study enter no figure, since others used the machine (rule 13)."""

from __future__ import annotations

from collections.abc import Iterable

from assay.records import Sample, Stage, StudySpec
from assay.search.history import History

Block = tuple[Stage, int]
"""A block is told by its stage and its number in it."""


def left_out_blocks(spec: StudySpec, samples: Iterable[Sample]) -> frozenset[Block]:
    """The blocks in which others took more of the CPUs than the study admits.

    Warm-up launches belong to none: they are in no figure whatever happens.

    Args:
        spec: of the study.
        samples: of one stratum.
    """
    history = History.of(spec, samples)
    return frozenset(
        (stage, number)
        for stage in Stage
        if stage is not Stage.SURVEY
        for number in history.blocks(stage)
        if history.is_disturbed(stage, number)
    )


def block_of(sample: Sample) -> Block:
    """The block that a sample belongs to."""
    return sample.launch.stage, sample.launch.block
