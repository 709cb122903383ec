"""Peeking: what many studies conclude that are looked at after every block.

The figures of ``study calibrate`` and of ``make bench-statistics`` come from here. What is said of
a study rests on ``paired.effect`` and ``verdict.decide``, as in a real one. To save time they are
asked only at looks where the plain t interval decides or misses: theirs is never narrower.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.records.claim import Verdict
from assay.stats.paired import Effect, Observation, effect, grain
from assay.stats.sequence import half_width
from assay.stats.verdict import MARGIN, decide

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

EXACT = 200
"""With more blocks the plain interval stands for the exact one, which takes milliseconds there:
they differ only where the log-ratios are two tight levels (see ``sequence``)."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How one study ended.

    Attributes:
        verdict: the first that was not *unclear*; *unclear* where there was none.
        blocks: after how many blocks that was; all of them where there was none.
        held: whether the interval held the truth at that look.
        held_always: whether it did at every look, also after the end; ``True`` where nobody asked.
    """

    verdict: Verdict
    blocks: int
    held: bool
    held_always: bool

    @property
    def differs(self) -> bool:
        """Whether it said that the arms differ."""
        return self.verdict in (Verdict.FASTER, Verdict.SLOWER)


def peek(
    a: Matrix,
    b: Matrix,
    *,
    alpha: float = 0.05,
    margin: float = MARGIN,
    truth: float = 0.0,
    looks: Iterable[int] | None = None,
    visible: Flags | None = None,
    counts: Sequence[int] | None = None,
    coverage: bool = True,
) -> list[Ending]:
    """Look at every study until it decides.

    Args:
        a, b: logarithms of both arms, studies x blocks, in block order.
        alpha: accepted chance that the truth is ever outside the interval.
        margin: ratio differences below it count as none.
        truth: logarithm of the true ratio of b over a.
        looks: numbers of blocks after which a study is looked at; all if absent.
        visible: studies x blocks; false where no verdict is given after a block.
        counts: how many blocks each study has; all columns if absent.
        coverage: whether to look on after the end, for ``held_always``.

    Returns:
        One ending a study.
    """
    import numpy as np

    studies, blocks = a.shape
    numbers = np.arange(1, blocks + 1)
    asked = np.isin(numbers, list(numbers if looks is None else looks))
    asked = asked & (numbers <= np.asarray(counts or [blocks] * studies)[:, None])
    lo, hi = _plain(b - a, alpha, np.maximum(_step(a), _step(b)))
    inside = (lo >= math.log1p(-margin)) & (hi <= math.log1p(margin))
    decides = asked & ((lo > 0.0) | (hi < 0.0) | inside)
    misses = asked & ((lo > truth) | (hi < truth))
    if visible is not None:
        decides &= visible
    found = []
    for i in range(studies):
        study = _Study(a[i], b[i], lo[i], hi[i], alpha)
        verdict, at, held = Verdict.UNCLEAR, counts[i] if counts else blocks, True
        for n in numbers[decides[i]].tolist():
            seen = study.look(n)
            verdict = decide(seen, margin=margin)
            if verdict is not Verdict.UNCLEAR:
                at, held = n, _holds(seen, truth)
                break
        always = not coverage or all(
            _holds(study.look(n), truth) for n in numbers[misses[i]].tolist()
        )
        found.append(Ending(verdict, at, held, always))
    return found


@dataclass(frozen=True)
class _Study:
    """Logarithms of one study, and the ends of the plain interval after each block."""

    a: npt.NDArray[np.float64]
    b: npt.NDArray[np.float64]
    lo: npt.NDArray[np.float64]
    hi: npt.NDArray[np.float64]
    alpha: float

    def look(self, n: int) -> Effect:
        """What the first n blocks say."""
        if n <= EXACT:
            a, b = ([math.exp(v) for v in arm[:n].tolist()] for arm in (self.a, self.b))
            steps = [grain(values) for values in (a, b)]
            # What ``effect`` would find itself, at several times the price.
            step = None if None in steps else max(filter(None, steps))
            left, right = ([Observation(value) for value in values] for values in (a, b))
            return effect(left, right, alpha=self.alpha, resolution=step)
        lo, hi = math.exp(self.lo[n - 1]), math.exp(self.hi[n - 1])
        ratio = math.sqrt(lo * hi)
        return Effect(ratio, lo, hi, n, 0, 0.0, "mean", None, None, self.alpha, 0.0)


def _holds(found: Effect, truth: float) -> bool:
    """Whether the interval holds the truth, but for the rounding of logarithms."""
    return found.lo <= math.exp(truth) * (1.0 + 1e-12) and math.exp(truth) <= found.hi * (
        1.0 + 1e-12
    )


def _plain(log_ratios: Matrix, alpha: float, step: Matrix) -> tuple[Matrix, Matrix]:
    """Ends of the t interval of the mean of the first n columns, for each n; open where it is."""
    import numpy as np

    blocks = log_ratios.shape[1]
    n = np.arange(1, blocks + 1.0)
    mean = np.cumsum(log_ratios, axis=1) / n
    square = np.cumsum(log_ratios**2, axis=1) - n * mean**2
    sd = np.sqrt(np.maximum(square, 1e-30) / np.maximum(n - 1.0, 1.0))
    widths = np.array([half_width(k, 1.0, alpha) for k in range(1, blocks + 1)])
    half = np.maximum(sd * widths, step[:, None])
    return mean - half, mean + half


def _step(logs: Matrix) -> Matrix:
    """The least that the step of the measurement can come out at in each study (``paired.grain``).

    Of fewer values the smallest difference is larger, and the median is at most the maximum. (Of
    more than ``EXACT`` it is smaller; there the first ones tell.)
    """
    import numpy as np

    ordered = np.sort(np.exp(logs[:, :EXACT]), axis=1)
    steps = np.diff(ordered, axis=1)
    real = np.where(steps > 1e-9 * ordered[:, -1:], steps, np.inf).min(axis=1, initial=np.inf)
    least: Matrix = np.where(np.isfinite(real), real, 0.0) / ordered[:, -1]
    return least
