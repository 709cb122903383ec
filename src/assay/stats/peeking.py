"""Simulation of many studies with an interim analysis after every block (peeking).

``study calibrate`` and ``make bench-statistics`` use it. The verdict of a simulated study comes
from ``paired.effect`` and ``verdict.decide``, as in a real one. To save time these run only at
analyses in which the plain t interval decides or excludes the truth: their interval is never
narrower.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.records.claim import Verdict
from assay.records.study import DEFAULT_MARGIN
from assay.stats.confidence_sequence import half_width
from assay.stats.paired import Effect, Observation, measurement_step
from assay.stats.undisturbed import ALPHA_SHARE, effect_of_blocks
from assay.stats.verdict import decide

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

MAX_EXACT_BLOCKS = 200
"""Maximum number of blocks with the exact interval. With more blocks the plain interval replaces
it, since the exact one takes milliseconds there; they differ only where the log-ratios are two
tight levels (see ``confidence_sequence``)."""


@dataclass(frozen=True, slots=True)
class StudyOutcome:
    """Outcome of one simulated study.

    Attributes:
        verdict: the first that was not *unclear*; *unclear* if there was none.
        blocks: number of blocks at that analysis; all blocks if there was none.
        covered: whether the interval contained the truth at that analysis.
        always_covered: whether the interval contained the truth at every interim analysis, also
            after the verdict; ``True`` if not computed.
    """

    verdict: Verdict
    blocks: int
    covered: bool
    always_covered: bool

    @property
    def differs(self) -> bool:
        """True if the verdict is that the arms differ."""
        return self.verdict in (Verdict.FASTER, Verdict.SLOWER)


def simulate_studies(
    a: Matrix,
    b: Matrix,
    *,
    alpha: float = 0.05,
    margin: float = DEFAULT_MARGIN,
    truth: float = 0.0,
    analyses: Iterable[int] | None = None,
    disturbed: Flags | None = None,
    visible: Flags | None = None,
    coverage: bool = True,
) -> list[StudyOutcome]:
    """Return the outcome of each study, with interim analyses until it decides.

    Args:
        a, b: logarithms of both arms, studies x blocks, in block order.
        alpha: accepted probability that the truth is ever outside the interval.
        margin: ratio differences below it count as none.
        truth: logarithm of the true ratio of b over a.
        analyses: numbers of blocks with an interim analysis; after each block if absent.
        disturbed: flags of disturbed blocks, studies x blocks; none is disturbed if absent.
        visible: flags of interim analyses that may give a verdict, studies x blocks.
        coverage: whether to continue after the verdict, for ``always_covered``.

    Returns:
        One outcome for each study.
    """
    import numpy as np

    studies, blocks = a.shape
    numbers = np.arange(1, blocks + 1)
    planned = np.broadcast_to(
        np.isin(numbers, list(numbers if analyses is None else analyses)), (studies, blocks)
    )
    out = np.zeros(a.shape, dtype=np.bool_) if disturbed is None else disturbed
    plain = _ends(a, b, out, alpha)
    decides = planned & _any(
        (lo > 0.0) | (hi < 0.0) | ((lo >= math.log1p(-margin)) & (hi <= math.log1p(margin)))
        for lo, hi in plain
    )
    misses = planned & _any((lo > truth) | (hi < truth) for lo, hi in plain)
    if visible is not None:
        decides &= visible
    found = []
    for i in range(studies):
        study = _Study(a[i], b[i], out[i], [(lo[i], hi[i]) for lo, hi in plain], alpha)
        verdict, at, covered = Verdict.UNCLEAR, blocks, True
        for n in numbers[decides[i]].tolist():
            seen = study.effect_after(n)
            verdict = decide(seen, margin=margin)
            if verdict is not Verdict.UNCLEAR:
                at, covered = n, _covers(seen, truth)
                break
        always = not coverage or all(
            _covers(study.effect_after(n), truth) for n in numbers[misses[i]].tolist()
        )
        found.append(StudyOutcome(verdict, at, covered, always))
    return found


def _any(flags: Iterable[Flags]) -> Flags:
    """Return whether any of several flags is set."""
    found: Flags = functools.reduce(operator.or_, flags)
    return found


@dataclass(frozen=True)
class _Study:
    """Logarithms of one study, and the ends of its plain intervals after each block.

    Attributes:
        a, b: logarithms of both arms.
        out: whether a block was disturbed.
        plain: ends of the plain intervals of all blocks (at half the error rate if some are
            disturbed) and of the undisturbed blocks.
    """

    a: npt.NDArray[np.float64]
    b: npt.NDArray[np.float64]
    out: npt.NDArray[np.bool_]
    plain: Sequence[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]
    alpha: float

    def effect_after(self, n: int) -> Effect:
        """Return the effect over the first n blocks."""
        if n <= MAX_EXACT_BLOCKS:
            a, b = ([math.exp(v) for v in arm[:n].tolist()] for arm in (self.a, self.b))
            left, right = ([Observation(value) for value in values] for values in (a, b))
            out = self.out[:n].tolist()
            # The same result as ``effect`` at a fraction of its cost.
            steps = [measurement_step(values) for values in (a, b)]
            step = None if None in steps or any(out) else max(filter(None, steps))
            return effect_of_blocks(left, right, out, alpha=self.alpha, resolution=step).effect
        ends = [(float(lo[n - 1]), float(hi[n - 1])) for lo, hi in self.plain]
        low, high = min(ends, key=lambda pair: pair[1] - pair[0])
        lo, hi = math.exp(low), math.exp(high)
        return Effect(math.sqrt(lo * hi), lo, hi, n, 0, 0.0, "mean", None, None, self.alpha, 0.0)


def _covers(found: Effect, truth: float) -> bool:
    """Return whether the interval contains the truth, up to the rounding of logarithms."""
    return found.lo <= math.exp(truth) * (1.0 + 1e-12) and math.exp(truth) <= found.hi * (
        1.0 + 1e-12
    )


def _ends(a: Matrix, b: Matrix, out: Flags, alpha: float) -> list[tuple[Matrix, Matrix]]:
    """Return the ends of the plain intervals of all blocks and of the undisturbed blocks.

    Both have half of the error rate from the first disturbed block on.
    """
    import numpy as np

    step = np.maximum(_step(a), _step(b))
    every = np.ones(a.shape, dtype=np.bool_)
    if not out.any():
        return [_t_interval_ends(b - a, every, step, alpha)]
    # With fewer values the step is larger, and an excluded value may hold the smallest difference.
    whole, half = (
        _t_interval_ends(b - a, every, 0.0 * step, at) for at in (alpha, ALPHA_SHARE * alpha)
    )
    lost = np.maximum.accumulate(out, axis=1)
    shared = (np.where(lost, half[0], whole[0]), np.where(lost, half[1], whole[1]))
    return [shared, _t_interval_ends(b - a, ~out, 0.0 * step, ALPHA_SHARE * alpha)]


def _t_interval_ends(
    log_ratios: Matrix, counts: Flags, step: Matrix, alpha: float
) -> tuple[Matrix, Matrix]:
    """Return the ends of the t interval of the mean of the counted columns below n, for each n.

    Ends are infinite where the interval is open.
    """
    import numpy as np

    blocks = log_ratios.shape[1]
    count = np.cumsum(counts, axis=1)
    n = np.maximum(count, 1.0)
    mean = np.cumsum(np.where(counts, log_ratios, 0.0), axis=1) / n
    square = np.cumsum(np.where(counts, log_ratios**2, 0.0), axis=1) - n * mean**2
    sd = np.sqrt(np.maximum(square, 1e-30) / np.maximum(n - 1.0, 1.0))
    widths = np.array([half_width(k, 1.0, alpha) for k in range(blocks + 1)])
    half = np.maximum(sd * widths[count], step[:, None])
    return mean - half, mean + half


def _step(logs: Matrix) -> Matrix:
    """Return a lower bound of the measurement step of each study (``paired.measurement_step``).

    With fewer values the smallest difference is larger, and the median is at most the maximum.
    (Beyond ``MAX_EXACT_BLOCKS`` it is smaller; there the first values are used.)
    """
    import numpy as np

    ordered = np.sort(np.exp(logs[:, :MAX_EXACT_BLOCKS]), axis=1)
    steps = np.diff(ordered, axis=1)
    real = np.where(steps > 1e-9 * ordered[:, -1:], steps, np.inf).min(axis=1, initial=np.inf)
    least: Matrix = np.where(np.isfinite(real), real, 0.0) / ordered[:, -1]
    return least
