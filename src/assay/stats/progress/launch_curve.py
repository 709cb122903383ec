"""Step times of one launch, with and without dips; computed once for each launch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.records.progress import RateForm
from assay.stats.progress.periods import find_dips, running_median
from assay.stats.progress.reports import Array, Reports, step_times

_EARLY = 0.2
"""Share of a launch in which irregular dips belong to the warm-up."""


@dataclass(frozen=True, slots=True)
class LaunchCurve:
    """Step times of the intervals between the reports of a launch.

    Attributes:
        reports: reports of the launch.
        widths: steps of each interval.
        seconds: time per step of each interval, in seconds.
        smooth: the same with the median of the neighbourhood in the place of dips.
        period_steps: distance of periodic dips in steps; absent without such dips.
        has_spikes: whether single intervals were replaced in ``smooth``.
        last_spike: step of the last one; absent without them.
        early_spike: step of the last irregular dip, if all of them lie in the first fifth of the
            launch: those of a compiler or of first allocations, which belong to the warm-up.
        constant: true if the values are levels that are all equal: they have no warm-up.
    """

    reports: Reports
    widths: Array
    seconds: Array
    smooth: Array
    period_steps: float | None
    has_spikes: bool
    last_spike: float | None
    early_spike: float | None
    constant: bool = False

    def __len__(self) -> int:
        return len(self.reports)


def launch_curve(reports: Reports, form: RateForm = RateForm.RATE) -> LaunchCurve:
    """Return the step times of a launch.

    Args:
        reports: its reports.
        form: meaning of the values.
    """
    if len(reports) < 2:
        none = np.zeros(0)
        return LaunchCurve(reports, none, none, none, None, False, None, None)
    seconds = step_times(reports, form)
    dips = find_dips(reports.steps[1:], seconds)
    irregular = reports.steps[1:][dips.spikes & ~dips.regular]
    early_end = float(reports.steps[0]) + _EARLY * float(reports.steps[-1] - reports.steps[0])
    is_early = len(irregular) > 0 and irregular[-1] <= early_end
    at = np.flatnonzero(dips.spikes)
    return LaunchCurve(
        reports,
        np.diff(reports.steps),
        seconds,
        np.where(dips.spikes, running_median(seconds), seconds) if len(at) else seconds,
        dips.period_steps,
        bool(len(at)),
        float(reports.steps[at[-1] + 1]) if len(at) else None,
        float(irregular[-1]) if is_early else None,
        form is RateForm.LEVEL and bool((reports.values == reports.values[0]).all()),
    )
