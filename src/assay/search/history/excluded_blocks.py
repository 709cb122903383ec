"""Left out: which blocks enter no summary, since others used the machine (rule 13)."""

from __future__ import annotations

from collections.abc import Iterable

from assay.records import Sample, Stage, StudySpec
from assay.search.history.history import History

Block = tuple[Stage, int]
"""A block is told by its stage and its number in it."""


def excluded_blocks_of(spec: StudySpec, samples: Iterable[Sample]) -> frozenset[Block]:
    """Return the disturbed blocks of the stages in which enough blocks were undisturbed.

    Warm-up launches belong to none: they are in no figure whatever happens.

    Args:
        spec: of the study.
        samples: of one stratum.
    """
    history = History.of(spec, samples)
    return _disturbed(history, [s for s in _COUNTING if not history.mostly_disturbed(s)])


def disturbed_blocks(spec: StudySpec, samples: Iterable[Sample]) -> frozenset[Block]:
    """Return the blocks in which others took more of the CPUs than the study admits.

    Args:
        spec: of the study.
        samples: of one stratum.
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
    """The block that a sample belongs to."""
    return sample.launch.stage, sample.launch.block
