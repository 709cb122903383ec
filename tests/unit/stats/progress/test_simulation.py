import math

import numpy as np
import pytest
from benchmarks.progress.jobs import JOBS, launches
from benchmarks.progress.length import EFFECT, adaptive, fixed
from benchmarks.progress.recorded import resampled
from benchmarks.progress.results import Results
from benchmarks.progress.sequences import ends
from benchmarks.progress.studies import launch_curves


def test_launches_have_the_mean_time_of_the_job():
    job = JOBS[4]
    found = launches(job, np.random.default_rng(1), np.ones(200), 1000)
    step_s = (found[:, 1000] - found[:, 100]) / 900
    assert step_s.mean() == pytest.approx(job.mean_step_s, rel=0.003)
    assert found[:, 100].mean() == pytest.approx(job.fixed_s(), rel=0.01)
    spread = math.hypot(job.launch_sd, float(job.noise_sd(np.array([900.0]))[0]))
    assert step_s.std() / job.mean_step_s == pytest.approx(spread, rel=0.2)


def test_adaptive_studies_are_near_the_best_fixed_length():
    job = JOBS[4]
    best = min(one.width_s for one in fixed(job, 400, 1))
    found = adaptive(job, EFFECT, 12, (1, 4))
    assert not found.open.any()
    assert found.width_s.mean() < 1.8 * best


def test_wide_noise_reaches_no_width_and_tight_noise_the_first_analysis():
    rng = np.random.default_rng(2)
    wide = ends(0.2 * rng.standard_normal((5, 30)), 0.0)
    tight = ends(0.001 * rng.standard_normal((5, 30)), 0.0)
    assert (wide.width == 31).all()
    assert (tight.width == 6).all()


def test_stored_results_are_not_computed_again(tmp_path):
    path = tmp_path / "results.json"
    assert Results(path).part("a", lambda: {"value": 1}) == {"value": 1}
    assert Results(path).part("a", lambda: {"value": 2}) == {"value": 1}


def test_resampled_recordings_give_shares():
    curves = launch_curves(JOBS[4], np.random.default_rng(3), np.ones(12), 400, "linear")
    found = resampled(curves, 200, studies=5, seed=1)
    assert found.period == 50
    assert found.warm_up[1] >= 100
    assert 0.0 <= found.false <= 1.0
