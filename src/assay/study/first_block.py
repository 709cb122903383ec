"""First launches of a measurement or a comparison that are too long to be left unused."""

from __future__ import annotations

import msgspec

from assay.records import Kind, Outcome, Sample, Stage, StudySpec

LONG_LAUNCH_S = 10.0
"""Time of a launch beyond which cold caches hardly change it."""
LONG_LAUNCH_SHARE = 0.02
"""Share of the budget beyond which the first launch is too expensive to be left unused."""


def counted_first_launch(sample: Sample, spec: StudySpec) -> Sample:
    """Return the first sample of a study, which counts if its launch was whole and took long.

    The further launches of its block then count as well (``BlockRunner.tell``), so that it is a
    complete block. A requested number of warm-up launches holds in any case.

    Args:
        sample: sample of the first launch.
        spec: specification of the study.
    """
    launch = sample.launch
    eligible = (
        spec.kind in (Kind.MEASURE, Kind.COMPARE)
        and spec.warmup is None
        and not spec.switch_costs_s
        and not spec.reboot_settings
        and launch.stage is Stage.SURVEY
        and launch.block_arms is not None
        and launch.block == 0
    )
    if not eligible or not _is_whole(sample, spec) or not is_long(sample, spec):
        return sample
    return msgspec.structs.replace(
        sample, launch=msgspec.structs.replace(launch, stage=Stage.CONFIRM)
    )


def is_long(sample: Sample, spec: StudySpec) -> bool:
    """Return whether a launch takes a large share of the budget, and long.

    Args:
        sample: sample of the launch.
        spec: specification of the study.
    """
    time_s, launches = spec.budget.time_s, spec.budget.launches
    shares = [sample.wall_s / time_s] if time_s and sample.wall_s else []
    shares += [1.0 / launches] if launches else []
    long_s = sample.wall_s is not None and sample.wall_s > LONG_LAUNCH_S
    return long_s and max(shares, default=0.0) > LONG_LAUNCH_SHARE


def _is_whole(sample: Sample, spec: StudySpec) -> bool:
    """Return whether a launch ran as long as later ones will; a first look is shorter."""
    return sample.outcome is Outcome.OK and (
        spec.until is None or spec.workload.steady_metric is None
    )
