"""Periodic dips of the speed, such as checkpoints and epochs.

A window that does not cover whole periods holds one dip more or less, which moves its mean by far
more than the noise of the steps. So the period is found first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from assay.stats.progress.reports import Array, Flags

_SPIKE_FACTOR = 3.0
"""Multiple of the median step time above which an interval counts as a dip of the speed."""
_SPIKE_DEVIATIONS = 6.0
"""Robust standard deviations above the running median, for dips that coarse reports dilute."""
_MIN_EXCESS = 0.2
"""Smallest excess of such a diluted dip, as a share of the median."""
_WINDOW = 11
"""Intervals of the running median."""
_REGULAR_SHARE = 0.7
"""Share of the distances between dips that have to be multiples of the period."""
_MIN_CORRELATION = 0.5
"""Smallest autocorrelation at the period, for a wave without spikes."""
_FIRST_PEAK = 0.85
"""Share of the highest peak above which the first one counts: multiples of a period correlate."""
_MIN_WAVES = 3
"""Smallest number of whole waves that support a period without spikes."""


@dataclass(frozen=True, slots=True)
class Dips:
    """Periodic dips of a launch.

    Attributes:
        period_steps: distance of the dips in steps; absent if they are irregular or too few.
        spikes: one flag for each interval: it contains a dip, periodic or not.
        regular: flags of those that are about a whole number of periods from the last one.
    """

    period_steps: float | None
    spikes: Flags
    regular: Flags


def find_dips(ends: Array, seconds: Array) -> Dips:
    """Find periodic dips among the intervals of a launch.

    Intervals above three times the median at equal distances are dips. Else dips that stand out
    from the running median count, else a peak of the autocorrelation.

    Args:
        ends: step at the end of each interval, increasing.
        seconds: time per step of each interval, in seconds.
    """
    none = np.zeros(len(seconds), dtype=np.bool_)
    if len(seconds) < 3:
        return Dips(None, none, none)
    spikes = seconds > _SPIKE_FACTOR * median(seconds)
    for candidates in (spikes, spikes | _standing_out(seconds)):
        period = _regular_distance(ends, candidates)
        if period is not None:
            return Dips(period, candidates, candidates & _on_phase(ends, candidates, period))
    return Dips(_wave(ends, seconds), spikes, none)


def running_median(values: Array, window: int = _WINDOW) -> Array:
    """Return the median of the values around each value; fewer count at both ends."""
    half = min(window // 2, (len(values) - 1) // 2)
    if half == 0:
        return values
    windows = sliding_window_view(values, 2 * half + 1)
    inner = np.partition(windows, half, axis=-1)[:, half]
    return np.concatenate((np.full(half, inner[0]), inner, np.full(half, inner[-1])))


def robust_sd(values: Array) -> float:
    """Return the standard deviation of the bulk, from the median absolute deviation."""
    return 1.4826 * median(np.abs(values - median(values))) if len(values) else 0.0


def median(values: Array) -> float:
    """Return the median of at least one value; ``numpy.median`` takes ten times as long."""
    half = len(values) // 2
    if len(values) % 2:
        return float(np.partition(values, half)[half])
    low, high = np.partition(values, (half - 1, half))[half - 1 : half + 1]
    return float(low + high) / 2


def _standing_out(seconds: Array) -> Flags:
    """Return which intervals stand out from their neighbourhood."""
    excess = seconds - running_median(seconds)
    limit = max(_SPIKE_DEVIATIONS * robust_sd(excess), _MIN_EXCESS * median(seconds))
    return np.asarray(excess > limit)


def _on_phase(ends: Array, spikes: Flags, period: float) -> Flags:
    """Return which intervals are about a whole number of periods before the last spike."""
    distance = ends[np.flatnonzero(spikes)[-1]] - ends
    off = np.abs(distance - period * np.round(distance / period))
    return np.asarray(off <= max(1.5 * median(np.diff(ends)), 0.02 * period))


def _regular_distance(ends: Array, spikes: Flags) -> float | None:
    """Return the distance of spikes in steps, if they are at equal distances.

    Two spikes support a period only if the first one is a period from the begin as well.
    """
    at = np.flatnonzero(spikes)
    at = at[np.diff(at, prepend=-2) > 1]  # a dip may extend over several intervals
    if len(at) < 2:
        return None
    places = ends[at]
    distances = np.diff(places)
    period = median(distances)
    width = median(np.diff(ends))
    tolerance = max(width, 0.05 * period)
    if period < 2.5 * width:
        return None
    off = np.abs(distances - period * np.maximum(1.0, np.round(distances / period)))
    if len(distances) == 1:
        from_begin = places[0] - period * max(1.0, round(places[0] / period))
        return period if abs(from_begin) <= tolerance else None
    regular = off <= tolerance
    if regular.mean() < _REGULAR_SHARE:
        return None
    single = distances[regular & (distances < 1.5 * period)]
    return _fitted_distance(places, float(single.mean()), width) if len(single) else None


def _fitted_distance(places: Array, period: float, width: float) -> float:
    """Return the distance of places from least squares, as a whole number where that fits.

    Where reports do not divide the period, single distances are all wrong.
    """
    numbers = np.round((places - places[-1]) / period)
    numbers -= numbers.mean()
    fitted = float(numbers @ places) / float(numbers @ numbers)
    error = width / float(numbers[-1] - numbers[0])
    return float(round(fitted)) if abs(fitted - round(fitted)) <= error else fitted


def _wave(ends: Array, seconds: Array) -> float | None:
    """Return the period of a wave, from the highest peak of the autocorrelation."""
    tail = seconds[len(seconds) // 3 :]
    n = len(tail)
    if n < 3 * _MIN_WAVES:
        return None
    places = np.arange(n) - (n - 1) / 2
    centred = tail - tail.mean()
    centred = centred - places * (places @ centred) / (places @ places)
    if not centred.any():
        return None
    spectrum = np.fft.rfft(centred, 2 * n)
    raw = np.fft.irfft(spectrum * spectrum.conj())[:n]
    correlation = raw / raw[0] * n / (n - np.arange(n))
    below = np.flatnonzero(correlation < 0.1)
    if not len(below):
        return None
    lags = np.arange(max(2, int(below[0])), n // _MIN_WAVES)
    if not len(lags):
        return None
    limit = max(_MIN_CORRELATION, 4.0 / math.sqrt(n))
    highest = float(correlation[lags].max())
    if highest < limit:
        return None
    lag = int(lags[correlation[lags] >= _FIRST_PEAK * highest][0])
    while lag < lags[-1] and correlation[lag + 1] > correlation[lag]:
        lag += 1
    twice = float(correlation[2 * lag - 1 : 2 * lag + 2].max())
    return lag * median(np.diff(ends)) if twice >= 0.7 * limit else None
