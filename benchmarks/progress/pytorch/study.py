"""Study of the training loop, and the time that whole launches would take for the same verdict."""

from __future__ import annotations

import math
import os
import shutil
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import assay
from assay.records import Claim, RecommendationStatus, Sample, to_builtins
from assay.stats.progress.launch_length import mean_blocks, step_variance
from benchmarks.overhead.surroundings import machine

SCRIPT = Path(__file__).with_name("train.py")
STEPS = 200
"""Steps of a whole launch."""
METRIC = "sps"
PROVEN = RecommendationStatus.PROVEN.value
DEFAULT_BATCH = {"conv": 160, "transformer": 56}
"""Samples of a step that takes about two seconds on an idle core."""


def space(batch: int) -> dict[str, list[Any]]:
    """Return the five settings and their values; the first of each is the default."""
    return {
        "arg.threads": [1, 2],
        "arg.batch": [batch, batch // 2, 2 * batch],
        "arg.workers": [0, 1, 2],
        "malloc": ["glibc", "jemalloc"],
        "thp": ["default", "always"],
    }


def tuned(python: Path, model: str, batch: int, budget: str, seed: int, db: Path) -> assay.Result:
    """Return the study of one model.

    Args:
        python: interpreter with PyTorch.
        model: ``conv`` or ``transformer``.
        batch: samples of a step of the default.
        budget: time of the study.
        seed: seed of the study.
        db: file of the studies.
    """
    options = ("threads", "batch", "workers")
    words = [word for name in options for word in (f"--{name}", f"{{{name}}}")]
    return assay.tune(
        [str(python), str(SCRIPT), "--model", model, "--steps", str(STEPS), *words],
        space(batch),
        progress=assay.Progress(
            METRIC, r"step (?P<step>\d+) samples/s: (?P<value>[0-9.]+)", goal="higher"
        ),
        until="auto",
        budget=budget,
        seed=seed,
        db=str(db),
    )


@dataclass(frozen=True)
class WholeLaunches:
    """Time that whole launches would take, from the launches of a study.

    Attributes:
        default_s: length of a whole launch of the default, in seconds.
        best_s: the same of the recommendation.
        blocks: mean number of blocks until the interval excludes no effect, six at least.
        confirmation_s: time of these blocks, in seconds.
        study_s: time of the whole study, if each of its launches before the confirmation were
            whole, in seconds.
    """

    default_s: float
    best_s: float
    blocks: int
    confirmation_s: float
    study_s: float


def document(result: assay.Result, model: str, budget: str, began_s: float) -> dict[str, Any]:
    """Return figures and recordings of a study.

    Args:
        result: finished study.
        model, budget: as given to ``tuned``.
        began_s: time of its begin, in seconds since the epoch.
    """
    recommendation = result.recommendation
    claim = recommendation_claim(result)
    whole = None if claim is None else whole_launches(result.samples, claim)
    return {
        "date": time.strftime("%Y-%m-%d", time.localtime(began_s)),
        "machine": machine(),
        "load_average": [round(one, 2) for one in os.getloadavg()],
        "model": model,
        "budget": budget,
        "elapsed_s": round(time.time() - began_s, 1),
        "launches": len(result.samples),
        "status": str(recommendation.status),
        "settings": to_builtins(recommendation.settings),
        "claim": None if claim is None else to_builtins(claim),
        "step_s": _median_step_s(result.samples, "default"),
        "whole": None if whole is None else asdict(whole),
        "notes": list(result.notes),
        "recordings": [recording(sample) for sample in result.samples],
    }


def recommendation_claim(result: assay.Result) -> Claim | None:
    """Return the claim that compares the recommendation with the default."""
    return result.claims[0] if result.claims else None


def recording(sample: Sample) -> dict[str, Any]:
    """Return the arm of a launch, and step and time of its reports."""
    series = sample.series.get(METRIC)
    return {
        "arm": sample.launch.arm,
        "stage": str(sample.launch.stage),
        "outcome": str(sample.outcome),
        "steps": [] if series is None else list(series.steps),
        "times_s": [] if series is None else [round(one, 4) for one in series.times_s],
        "value": sample.metrics.get(METRIC),
    }


def whole_launches(samples: Sequence[Sample], claim: Claim) -> WholeLaunches | None:
    """Return the time that whole launches would take; ``None`` without data on both arms.

    The variance between launches is that of the ratios of the blocks, less the variance within
    launches. A whole launch has the latter divided by its number of steps.

    Args:
        samples: all launches of the study.
        claim: claim on the recommendation.
    """
    parts = [one.steady[METRIC] for one in samples if METRIC in one.steady]
    lengths = {arm: _whole_s(samples, arm) for arm in {one.launch.arm for one in samples}}
    default_s, best_s = lengths.get(claim.a), lengths.get(claim.b)
    variance = step_variance(parts)
    if default_s is None or best_s is None or variance is None:
        return None
    logs = _block_logs(samples, claim)
    steady = [one.end_step - one.begin_step for one in parts]
    within = 2.0 * variance / statistics.mean(steady)
    between = max(0.0, statistics.variance(logs) - within) if len(logs) > 1 else 0.0
    effect = abs(math.log(claim.ratio))
    width = (between + 2.0 * variance / STEPS) / effect**2
    blocks = round(float(mean_blocks(np.array([width]))[0]))
    confirmation_s = blocks * (default_s + best_s)
    others = [one.launch.arm for one in samples if str(one.launch.stage) != "confirm"]
    known = [length for length in lengths.values() if length is not None]
    searched = sum(lengths[arm] or statistics.mean(known) for arm in others)
    return WholeLaunches(default_s, best_s, blocks, confirmation_s, searched + confirmation_s)


def _block_logs(samples: Sequence[Sample], claim: Claim) -> list[float]:
    """Return the log-ratio of each complete block of the confirmation."""
    blocks: dict[int, dict[str, float]] = {}
    for one in samples:
        if str(one.launch.stage) == "confirm" and METRIC in one.metrics:
            blocks.setdefault(one.launch.block, {})[one.launch.arm] = one.metrics[METRIC]
    return [
        math.log(block[claim.b] / block[claim.a])
        for block in blocks.values()
        if claim.a in block and claim.b in block
    ]


def _whole_s(samples: Sequence[Sample], arm: str) -> float | None:
    """Return the length of a whole launch of an arm, in seconds; ``None`` without a launch."""
    found = []
    for one in samples:
        if one.launch.arm != arm or METRIC not in one.steady:
            continue
        part = one.steady[METRIC]
        step_s = (part.end_s - part.begin_s) / (part.end_step - part.begin_step)
        found.append(part.begin_s + (STEPS - part.begin_step) * step_s)
    return statistics.median(found) if found else None


def _median_step_s(samples: Sequence[Sample], arm: str) -> float | None:
    parts = [s.steady[METRIC] for s in samples if s.launch.arm == arm and METRIC in s.steady]
    steps = [(one.end_s - one.begin_s) / (one.end_step - one.begin_step) for one in parts]
    return statistics.median(steps) if steps else None


def python_with_pytorch() -> Path | None:
    """Return the interpreter of the benchmarks' environment; ``None`` if it does not exist."""
    beside = Path(sys.prefix) / "bench" / "bin" / "python"
    found = shutil.which(str(beside))
    return None if found is None else beside
