"""Excluded blocks: disturbed blocks that enter no summary (rule 13)."""

from __future__ import annotations

from collections.abc import Iterable

from assay.records import Sample, Stage, StudySpec
from assay.search.history.history import History

Block = tuple[Stage, int]
"""Stage of a block, and its number in the stage."""


def excluded_blocks_of(spec: StudySpec, samples: Iterable[Sample]) -> frozenset[Block]:
    """Return the disturbed blocks of the stages in which enough blocks were undisturbed.

    Warm-up launches do not belong to any: they never enter a figure.

    Args:
        spec: specification of the study.
        samples: samples of one stratum.
    """
    history = History.of(spec, samples)
    return _disturbed(history, [s for s in _COUNTING if not history.mostly_disturbed(s)])


def disturbed_blocks(spec: StudySpec, samples: Iterable[Sample]) -> frozenset[Block]:
    """Return the blocks in which other processes used more of the CPUs than admitted.

    Args:
        spec: specification of the study.
        samples: samples of one stratum.
    """
    return _disturbed(History.of(spec, samples), _COUNTING)


_COUNTING = tuple(stage for stage in Stage if stage is not Stage.SURVEY)


def _disturbed(history: History, stages: Iterable[Stage]) -> frozenset[Block]:
    return frozenset(
        (stage, number)
        for stage in stages
        for number in history.blocks(stage)
        if history.is_disturbed(stage, number)
    )


def block_of(sample: Sample) -> Block:
    """Return the block of a sample."""
    return sample.launch.stage, sample.launch.block
