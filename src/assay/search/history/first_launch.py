"""First launches of a study that took longer than later ones: notes on one-time costs."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import DEFAULT, Configuration, Kind, Outcome, Sample, Stage
from assay.search.history.history import DEFAULT_ARM
from assay.search.history.one_time_costs import MIN_FACTOR
from assay.search.history.packed_samples import figures_of
from assay.wording.launch_notes import slow_first_launch, warm_up_note

MIN_LATER_LAUNCHES = 3
"""Minimum number of later launches for a note."""


def first_launch_notes(samples: Sequence[Sample]) -> list[str]:
    """Return a note if the first launch took clearly longer than all later ones of its arm.

    Args:
        samples: samples of a study, in the order of the launches.
    """
    if not samples:
        return []
    arm = samples[0].launch.arm
    if samples[0].outcome is not Outcome.OK or not samples[0].wall_s:
        return []  # assay chose the length of another launch
    walls_s = [
        sample.wall_s
        for sample in figures_of(samples)
        if sample.launch.arm == arm and sample.outcome is Outcome.OK and sample.wall_s
    ]
    if len(walls_s) <= MIN_LATER_LAUNCHES:
        return []
    first_s, longest_s = walls_s[0], max(walls_s[1:])
    if first_s < MIN_FACTOR * longest_s:
        return []
    whose = "" if arm == DEFAULT_ARM.name else arm
    return [slow_first_launch(whose, first_s, longest_s)]


def warm_up_notes(kind: Kind, samples: Sequence[Sample]) -> list[str]:
    """Return a note on configurations of a search that had a warm-up launch.

    Args:
        kind: kind of the study; studies without a search warm up every arm.
        samples: samples of the study, in the order of the launches.
    """
    if kind is not Kind.TUNE:
        return []
    first: dict[Configuration, Stage] = {}
    for sample in samples:
        first.setdefault(sample.launch.configuration, sample.launch.stage)
    warmed = {c for c, stage in first.items() if stage is Stage.SURVEY and c != DEFAULT}
    if not warmed:
        return []
    return [warm_up_note(len(warmed))]
