"""Carry-over: effects of a launch of one arm on the launch after it."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence

from assay.records import Sample, Stage, StudySpec
from assay.search.history.packed_samples import figures_of
from assay.stats.ranks import rank_test
from assay.wording.launch_notes import carry_over_note

MIN_LAUNCHES = 6
"""Minimum launches after each of two arms."""
ALPHA = 0.005
"""Error rate: reporting a carry-over between independent launches."""
MIN_RATIO = 1.1
"""Minimum ratio of medians."""


def carry_over_notes(spec: StudySpec, samples: Sequence[Sample]) -> list[str]:
    """Return a note if launches of an arm depend on the arm that ran before.

    Args:
        spec: specification of the study.
        samples: samples in the order of the launches.
    """
    metric = spec.workload.objective
    after: dict[str, dict[str, list[float]]] = {}
    for before, sample in itertools.pairwise(figures_of(samples)):
        value = sample.metrics.get(metric.name, 0.0)
        if sample.launch.stage is Stage.CONFIRM and sample.outcome.succeeded and value > 0:
            groups = after.setdefault(sample.launch.arm, {})
            groups.setdefault(before.launch.arm, []).append(value)
    pairs = [
        (arm, other, groups[arm], values)
        for arm, groups in after.items()
        for other, values in groups.items()
        if other != arm and min(len(groups.get(arm, ())), len(values)) >= MIN_LAUNCHES
    ]
    notes = []
    for arm, other, alone, behind in pairs:
        own, changed = statistics.median(alone), statistics.median(behind)
        if max(own, changed) < MIN_RATIO * min(own, changed):
            continue
        if rank_test(alone, behind) > ALPHA / len(pairs):
            continue
        notes.append(carry_over_note(metric, arm, other, own, changed))
    return notes
