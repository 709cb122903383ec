"""Studies of identical arms, resampled from recorded launches of a real program."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.stats.progress.block_parts import block_parts
from assay.stats.progress.launch_curve import LaunchCurve, launch_curve
from assay.stats.progress.reports import Reports
from assay.stats.progress.steady import steady_part
from assay.stats.progress.warm_up import PILOT_BLOCKS, WarmUp, common_warm_up, pooled_warm_up

from .jobs import Array
from .sequences import ends

RECORDING = Path(__file__).with_name("recorded-training.txt")
BLOCKS = 60
REFERENCE = 0.5
"""Share of a launch whose last part is the reference of the bias."""


@dataclass(frozen=True)
class Recorded:
    """Results of resampled studies of identical arms.

    Attributes:
        launches: number of recorded launches.
        period: period that was found, in steps.
        warm_up: warm-up that was found, in steps: least, median, largest of the studies.
        steps: steady steps of each launch.
        false: share of the studies that ever excluded no effect.
        error: standard error of that share.
        bias: mean relative difference of the steady value from the second half of the launch.
        bias_error: its standard error over launches.
    """

    launches: int
    period: float | None
    warm_up: tuple[float, float, float]
    steps: float
    false: float
    error: float
    bias: float
    bias_error: float


def read(path: Path = RECORDING) -> list[LaunchCurve]:
    """Return the recorded launches: one line each, the time of each step in seconds."""
    curves = []
    for line in path.read_text().splitlines():
        times = np.array([float(word) for word in line.split()])
        steps = np.arange(1.0, len(times) + 1)
        curves.append(launch_curve(Reports(steps, times, steps)))
    return curves


def resampled(curves: list[LaunchCurve], steps: float, studies: int, seed: int) -> Recorded:
    """Return the error rates of studies whose launches are drawn from the recorded ones.

    Args:
        curves: recorded launches of one program.
        steps: steady steps of each launch.
        studies: number of studies.
        seed: seed of the draws.
    """
    rng = np.random.default_rng((seed, round(steps)))
    logs: Array = np.empty((studies, BLOCKS))
    cuts, period = [], None
    known: dict[float, Array] = {}
    for study in range(studies):
        drawn = rng.integers(0, len(curves), size=(BLOCKS, 2))
        pilots = drawn[: PILOT_BLOCKS[2]]
        found = common_warm_up(
            [pooled_warm_up([curves[at] for at in pilots[:, arm]]) for arm in (0, 1)]
        )
        warm_up = found or WarmUp(0.0, None, True)
        cuts.append(warm_up.steps)
        period = warm_up.period_steps or period
        if warm_up.steps not in known:
            known[warm_up.steps] = _values(curves, warm_up, steps)
        values = known[warm_up.steps]
        logs[study] = values[drawn[:, 1]] - values[drawn[:, 0]]
    false = float((~ends(logs, 0.0).covered).mean())
    differences = _differences(curves, float(np.median(cuts)), period, steps)
    return Recorded(
        launches=len(curves),
        period=period,
        warm_up=(min(cuts), float(np.median(cuts)), max(cuts)),
        steps=steps,
        false=false,
        error=math.sqrt(false * (1 - false) / studies),
        bias=float(differences.mean()),
        bias_error=float(differences.std() / math.sqrt(len(differences))),
    )


def _values(curves: list[LaunchCurve], warm_up: WarmUp, steps: float) -> Array:
    """Return the logarithm of the steady time per step of each launch."""
    last = min(warm_up.steps + steps, min(float(one.reports.steps[-1]) for one in curves))
    cut = [launch_curve(one.reports.between(0.0, last)) for one in curves]
    parts = block_parts(cut, warm_up, max(0.0, last - steps)) or []
    return np.array(
        [math.log((one.end_s - one.begin_s) / (one.end_step - one.begin_step)) for one in parts]
    )


def _differences(
    curves: list[LaunchCurve], cut: float, period: float | None, steps: float
) -> Array:
    """Return the relative difference of each launch from the rest of the same launch."""
    found = []
    for one in curves:
        last = float(one.reports.steps[-1])
        early = steady_part(one, WarmUp(cut, period, True), steady_steps=steps)
        late = steady_part(one, WarmUp(REFERENCE * last, period, True))
        if early is not None and late is not None:
            step_s = [
                (part.end_s - part.begin_s) / (part.end_step - part.begin_step)
                for part in (early, late)
            ]
            found.append(step_s[0] / step_s[1] - 1.0)
    return np.array(found)
