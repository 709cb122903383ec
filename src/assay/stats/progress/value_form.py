"""Form of reported values by their relation to the times of the reports."""

from __future__ import annotations

import math

import numpy as np

from assay.records.progress import RateForm
from assay.stats.progress.reports import Array, Reports, has_usable_times

_MIN_INTERVALS = 24
"""Smallest number of intervals that tells the form."""
_CORRELATION = 0.8
"""Smallest rank correlation between changes of the value and of the time of a step."""
_SPREAD = 0.5
"""Largest spread of the work of a step, as a share of the spread under the opposite form."""

_GROUP = 4
"""Number of neighbouring reports that count together for a level."""
_MIN_GROUPS = 8
"""Smallest number of such groups."""


def fitting_form(reports: Reports, form: RateForm) -> RateForm:
    """Return the form of values, corrected where their times clearly show the opposite speed.

    The value of a rate times the time of a step is constant; a duration is proportional to that
    time. A level that moves like a rate counts as a level still: it may be a utilisation.

    Args:
        reports: reports of one launch.
        form: form by name, unit and goal.
    """
    told = form_by_times(reports)
    if form is RateForm.LEVEL or told is None:
        return form
    return told


def form_by_times(reports: Reports) -> RateForm | None:
    """Return the form that values and times show; ``None`` if they cannot tell.

    Constant values or steps fit both forms. Changes between neighbours decide, so that a warm-up
    of both, or a falling loss, does not.

    Args:
        reports: reports of one launch.
    """
    if len(reports) <= _MIN_INTERVALS or not has_usable_times(reports):
        return None
    values = reports.values[1:]
    if not (values > 0).all():
        return None
    logs = np.log(values)
    seconds = np.log(np.maximum(np.diff(reports.times_s) / np.diff(reports.steps), 1e-12))
    correlation = _rank_correlation(np.diff(logs), np.diff(seconds))
    as_rate, as_duration = _spread(logs + seconds), _spread(logs - seconds)
    if correlation <= -_CORRELATION and as_rate <= _SPREAD * as_duration:
        return RateForm.RATE
    if correlation >= _CORRELATION and as_duration <= _SPREAD * as_rate:
        return RateForm.DURATION
    return None


def follows_speed(reports: Reports) -> bool:
    """Return whether values fall where steps take longer, as a rate or a utilisation does.

    Neighbours count together, since lines that arrive together share their time.

    Args:
        reports: reports of one launch.
    """
    groups = (len(reports) - 1) // _GROUP
    if groups < _MIN_GROUPS or not has_usable_times(reports) or not (reports.values > 0).all():
        return False
    ends = np.arange(groups + 1) * _GROUP
    seconds = np.diff(reports.times_s[ends]) / np.diff(reports.steps[ends])
    inverse = (1.0 / reports.values[1 : ends[-1] + 1]).reshape(groups, _GROUP).mean(axis=1)
    if not np.ptp(inverse) or not np.ptp(seconds):
        return False
    found = np.corrcoef(np.log(inverse), np.log(np.maximum(seconds, 1e-12)))[0, 1]
    return bool(found >= _CORRELATION)


def _spread(logs: Array) -> float:
    """Return the median deviation from the median."""
    return float(np.median(np.abs(logs - np.median(logs))))


def _rank_correlation(first: Array, second: Array) -> float:
    """Return Spearman's correlation, on which single pauses have little effect; 0 of a constant."""
    if not np.ptp(first) or not np.ptp(second):
        return 0.0
    ranks = [np.argsort(np.argsort(one)).astype(float) for one in (first, second)]
    found = float(np.corrcoef(ranks[0], ranks[1])[0, 1])
    return found if math.isfinite(found) else 0.0
