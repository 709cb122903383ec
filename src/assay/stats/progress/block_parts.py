"""Steady parts of the launches of a block, with the same number of steady steps."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records.progress import SteadyPart
from assay.stats.progress.launch_curve import LaunchCurve
from assay.stats.progress.launch_length import MIN_STEPS
from assay.stats.progress.steady import steady_part
from assay.stats.progress.warm_up import WarmUp


def block_parts(
    launches: Sequence[LaunchCurve],
    warm_up: WarmUp,
    run_with_steps: float | None = None,
    *,
    cumulative: bool = False,
) -> list[SteadyPart] | None:
    """Return the steady parts of the launches of a block.

    The shortest launch limits all of them, so that every arm has the same number of steady steps.
    If no whole period remains after a warm-up that was determined later, the block keeps the
    warm-up that it ran with: no launch is thrown away.

    Args:
        launches: one launch of each arm.
        warm_up: warm-up that counts for all arms and blocks.
        run_with_steps: last step of the warm-up that the block ran with; the same if absent.
        cumulative: the program prints running means.

    Returns:
        One part for each launch; ``None`` if a launch has no whole period (without dips: four
        steps) after either warm-up.
    """
    ends = [float(one.reports.steps[-1]) for one in launches if len(one)]
    if len(ends) < len(launches) or not ends:
        return None
    candidates = [warm_up.steps]
    if run_with_steps is not None and run_with_steps != warm_up.steps:
        candidates.append(run_with_steps)
    for cut in candidates:
        known = WarmUp(cut, warm_up.period_steps, settled=True)
        parts = [
            steady_part(one, known, steady_steps=min(ends) - cut, cumulative=cumulative)
            for one in launches
        ]
        whole = [part for part in parts if part is not None and _is_usable(part)]
        if len(whole) == len(launches):
            return whole
    return None


def _is_usable(part: SteadyPart) -> bool:
    return part.whole_periods and part.end_step - part.begin_step >= MIN_STEPS
