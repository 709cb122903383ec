"""Estimate of the benchmark of a training loop."""

from __future__ import annotations

import math

import pytest
from benchmarks.progress.pytorch.__main__ import summary
from benchmarks.progress.pytorch.study import METRIC, whole_launches

from assay.records import (
    DEFAULT,
    Claim,
    Configuration,
    Launch,
    Outcome,
    Sample,
    Stage,
    SteadyPart,
    Verdict,
)

FASTER = Configuration({"arg.threads": 2})
STEP_S = {"default": 2.0, str(FASTER): 1.0}


def launch(configuration: Configuration, stage: Stage, block: int, noise: float = 0.0) -> Sample:
    arm = "default" if configuration is DEFAULT else str(FASTER)
    step_s = STEP_S[arm] * math.exp(noise)
    part = SteadyPart(
        begin_step=5,
        begin_s=5 + 5 * step_s,
        end_step=25,
        end_s=5 + 25 * step_s,
        first_report_s=6.0,
        batch_sd=0.01,
        batch_steps=5.0,
    )
    return Sample(
        launch=Launch(configuration=configuration, stage=stage, block=block, arm=arm, position=0),
        outcome=Outcome.ENOUGH,
        wall_s=part.end_s,
        metrics={METRIC: 100 / step_s},
        steady={METRIC: part},
    )


def claim() -> Claim:
    return Claim(
        a="default",
        b=str(FASTER),
        metric=METRIC,
        ratio=2.0,
        ci=(1.9, 2.1),
        verdict=Verdict.FASTER,
        blocks=6,
        margin=0.01,
        alpha=0.05,
        method="mean",
    )


@pytest.mark.parametrize(("noise", "blocks"), [(0.01, 6), (0.5, 9)])
def test_whole_launches_take_as_many_blocks_as_their_spread_demands(
    noise: float, blocks: int
) -> None:
    samples = [launch(DEFAULT, Stage.SEARCH, 0)]
    for block in range(6):
        shift = noise if block % 2 else -noise
        samples += [
            launch(DEFAULT, Stage.CONFIRM, block),
            launch(FASTER, Stage.CONFIRM, block, shift),
        ]
    found = whole_launches(samples, claim())
    assert found is not None
    assert found.default_s == pytest.approx(405)
    assert found.best_s == pytest.approx(205, rel=0.7)
    assert found.blocks == blocks
    assert found.confirmation_s == found.blocks * (found.default_s + found.best_s)
    assert found.study_s == pytest.approx(found.confirmation_s + found.default_s)


def test_study_without_a_claim_misses_the_target() -> None:
    found = {
        "launches": 3,
        "elapsed_s": 900.0,
        "status": "unproven",
        "settings": {},
        "load_average": [9.0, 9.0, 9.0],
        "step_s": None,
        "whole": None,
    }
    assert summary(found)[-1].startswith("missed")
