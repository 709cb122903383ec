"""Spectrum of lost work, from a series of fixed time quanta.

In a plain Fourier transform, a long preemption would hide all other events, and one that spans
several intervals is not a period. Therefore consecutive intervals with lost work count as one
event, at the first of them, and the weight of an event is bounded. The spectrum is compared with
those of the same events in random order, which have no period.

Sottile and Minnich, "Analysis of microbenchmarks for performance tuning of clusters" (CLUSTER
2004), on intervals of equal length. The comparison with shuffled series is a permutation test of
the largest line: Good, "Permutation, Parametric and Bootstrap Tests of Hypotheses", 3rd ed. (2005).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.records.noise import NoiseRun

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Series = NDArray[np.float64]
else:
    Series = Any

SHUFFLES = 199
"""Number of shuffled series; the smallest p-value is one over one more than this: 0.005."""
ALPHA = 0.05
MIN_CYCLES = 4
"""Smallest number of periods in a series; less frequent events are drift."""
MIN_VALUES = 64
MAX_VALUES = 1 << 15
"""Largest number of analysed values of a series; more would sharpen lines, but take long to
shuffle."""
HARMONICS = 32
MAX_POWER_RATIO = 4
"""Largest ratio of the power of the strongest line of a family to that of its lowest line."""
LINE_WIDTH = 0.03
"""Relative frequency difference up to which lines are one: periods are not perfectly steady."""
EVENT_THRESHOLDS = 2
"""Lost work, in thresholds, above which an interval contains an event; less is jitter."""
MAX_LINES = 1 << 9
"""Largest number of points of a drawn spectrum."""


@dataclass(frozen=True, slots=True)
class Period:
    """Period of lost work.

    Attributes:
        period_s: length, in seconds.
        relative_power: power of its line relative to the median of the spectrum.
        p_value: share of shuffled series with a line of at least this power.
    """

    period_s: float
    relative_power: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Line:
    """Point of a spectrum: the strongest of the lines that it represents."""

    frequency_hz: float
    relative_power: float


@dataclass(frozen=True, slots=True)
class Spectrum:
    """Spectrum of a series.

    Attributes:
        lines: lines by frequency; empty for a short series, or without lost work.
        periods: significant periods, strongest first, without their harmonics.
        bound: power that the lines of 19 of 20 shuffled series do not exceed.
    """

    lines: tuple[Line, ...] = ()
    periods: tuple[Period, ...] = ()
    bound: float = 0.0


def lost_ns(steps: Sequence[int], quantum_ns: int) -> Series:
    """Return the time lost in each interval, relative to the usual work.

    The usual work is the median of the neighbourhood, so that a change of the clock frequency does
    not count as a loss.

    Args:
        steps: work done in each interval.
        quantum_ns: length of an interval, in nanoseconds.

    Returns:
        Lost time in nanoseconds, shape ``(len(steps),)``, not negative.
    """
    import numpy as np

    done = np.asarray(steps, dtype=np.float64)
    if not done.size:
        return done
    around = 101
    padded = np.pad(done, around // 2, mode="edge")
    usual = np.median(np.lib.stride_tricks.sliding_window_view(padded, around), axis=1)
    # Within a long preemption the neighbourhood has no usual work.
    usual = np.maximum(usual, 0.5 * float(np.quantile(done, 0.95)))
    share = np.divide(usual - done, usual, out=np.zeros_like(done), where=usual > 0)
    return np.asarray(np.clip(share, 0.0, 1.0) * quantum_ns, dtype=np.float64)


def loss_events(lost: Series, threshold: float) -> Series:
    """Return the lost time of each event at its first interval; zero elsewhere.

    Args:
        lost: lost time of each interval.
        threshold: smallest lost time of an event.

    Returns:
        An array of the same shape. Consecutive intervals with lost work are one event, whose value
        is at most four times the median of all events.
    """
    import numpy as np

    lossy = lost > threshold
    begins = lossy & ~np.concatenate(([False], lossy[:-1]))
    if not begins.any():
        return np.zeros_like(lost)
    number = np.cumsum(begins)[lossy] - 1
    took = np.bincount(number, weights=lost[lossy])
    found = np.zeros_like(lost)
    found[begins] = np.minimum(took, 4.0 * float(np.median(took)))
    return found


def spectrum_of(run: NoiseRun, seed: int = 0) -> Spectrum:
    """Return the spectrum of a fixed-time run (``ftq``), over all its CPUs."""
    found = [
        loss_events(lost_ns(cpu.values, run.quantum_ns), EVENT_THRESHOLDS * run.threshold_ns)
        for cpu in run.measured
    ]
    return spectrum(found, run.quantum_ns / 1e9, seed)


def spectrum(series: Sequence[Series], step_s: float, seed: int = 0) -> Spectrum:
    """Return the spectrum of events.

    Args:
        series: events of each CPU, zero between events; the powers are summed.
        step_s: interval between two values, in seconds.
        seed: seed of the shuffled series.

    Raises:
        ValueError: the step is not above zero.
    """
    import numpy as np

    if step_s <= 0:
        raise ValueError("the interval of the values must be above zero")
    parts = [part for one in series if (part := one[:MAX_VALUES]).size >= MIN_VALUES and part.any()]
    if not parts:
        return Spectrum()
    size = min(part.size for part in parts)
    parts = [part[:size] for part in parts]
    power = _power(parts)
    first = MIN_CYCLES
    middle = float(np.median(power[first:]))
    if middle <= 0:
        return Spectrum()
    rng = np.random.default_rng(seed)
    highest = np.sort(
        [float(_power([rng.permutation(p) for p in parts])[first:].max()) for _ in range(SHUFFLES)]
    )

    def p_value(k: int) -> float:
        return (1 + int((highest >= power[k]).sum())) / (1 + SHUFFLES)

    significant = [k for k in _peaks(power, first) if p_value(k) <= ALPHA]
    periods = tuple(
        Period(1.0 / _refined(power, k, size, step_s), float(power[k]) / middle, p_value(k))
        for k in _fundamentals(power, significant)
    )
    bound = float(highest[math.ceil((1 - ALPHA) * SHUFFLES) - 1]) / middle
    return Spectrum(_thinned(power / middle, first, size * step_s), periods, bound)


def _power(parts: Sequence[Series]) -> Series:
    """Return the sum of the normalised periodograms of all series."""
    import numpy as np

    total = np.zeros(parts[0].size // 2 + 1)
    window = np.hanning(parts[0].size)
    for part in parts:
        centred = part - part.mean()
        scale = float(np.square(centred).sum()) or 1.0
        total += np.square(np.abs(np.fft.rfft(centred * window))) / scale
    return total


def _peaks(power: Series, first: int) -> list[int]:
    """Return the local maxima of a spectrum, strongest first."""
    last = power.size - 1
    found = [
        k
        for k in range(first, power.size)
        if power[k] >= power[k - 1] and (k == last or power[k] > power[k + 1])
    ]
    return sorted(found, key=lambda k: -float(power[k]))


def _fundamentals(power: Series, peaks: Sequence[int], max_count: int = 6) -> list[int]:
    """Return the peaks that are not multiples of another peak.

    Events that are short relative to their period have strong harmonics. The lowest line represents
    its family, unless it is much weaker than the strongest one. Coinciding events of two periods
    cause lines at sums of their frequencies, which are not periods. Therefore lines that two lower
    or two stronger lines explain are omitted, except for the strongest of all.
    """
    left = list(peaks)
    found: list[int] = []
    while left and len(found) < max_count:
        strongest = left[0]
        family = [
            k
            for k in left
            if k <= strongest
            and power[k] >= power[strongest] / MAX_POWER_RATIO
            and _multiple(strongest, k)
        ]
        lowest = round(strongest / min(family))
        alike = [k for k in family if round(strongest / k) == lowest]
        base = max(alike, key=lambda k: float(power[k]))
        if not any(_multiple(base, other) for other in found):
            found.append(base)
        left = [k for k in left if k != strongest and not _multiple(k, base) and k != base]
    left = [k for k in found if k == found[0] or not _is_sum(k, [o for o in found if o < k])]
    return [k for place, k in enumerate(left) if not _is_sum(k, left[:place])]


def _is_sum(line: int, lines: Sequence[int]) -> bool:
    """Return whether a line is a sum or difference of multiples of two of these lines."""
    near = max(2, LINE_WIDTH * line / 4)
    return any(
        abs(abs(m * first + n * second) - line) <= near
        for first in lines
        for second in lines
        if first < second
        for m in (-2, -1, 1, 2)
        for n in (-2, -1, 1, 2)
    )


def _multiple(line: int, base: int) -> bool:
    """Return whether a line is a multiple of another one, within the width of a line."""
    times = round(line / base)
    near = min(max(1 + times // 2, LINE_WIDTH * line), 0.3 * base)
    return 1 <= times <= HARMONICS and abs(line - times * base) <= near


def _refined(power: Series, k: int, size: int, step_s: float) -> float:
    """Return the frequency of a peak: the vertex of a parabola through three logarithms."""
    if not 0 < k < power.size - 1 or min(power[k - 1 : k + 2]) <= 0:
        return k / (size * step_s)
    left, middle, right = (math.log(float(power[i])) for i in (k - 1, k, k + 1))
    bend = left - 2 * middle + right
    shift = 0.5 * (left - right) / bend if bend < 0 else 0.0
    return (k + max(-0.5, min(0.5, shift))) / (size * step_s)


def _thinned(times: Series, first: int, length_s: float) -> tuple[Line, ...]:
    """Return at most ``MAX_LINES`` points, each the strongest of its neighbours."""
    each = max(1, math.ceil((times.size - first) / MAX_LINES))
    found = []
    for begin in range(first, times.size, each):
        k = begin + int(times[begin : begin + each].argmax())
        found.append(Line(k / length_s, float(times[k])))
    return tuple(found)
