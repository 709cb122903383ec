"""The 5 % holds under continuous peeking: the benchmark's own rows, fewer studies, fixed seeds."""

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from assay.stats.sequence import level


def _load() -> ModuleType:
    path = Path(__file__).parents[3] / "benchmarks" / "calibration.py"
    spec = importlib.util.spec_from_file_location("assay_benchmark_calibration", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


calibration = _load()
STUDIES, BLOCKS = 500, 80
LIMIT = 0.05 + 2 * math.sqrt(0.05 * 0.95 / STUDIES)


@pytest.mark.parametrize("name", list(calibration.NOISES))
def test_arms_of_identical_distribution(name: str) -> None:
    row = calibration.null_row(name, STUDIES, BLOCKS, seed=1)
    assert row.share(row.false) <= LIMIT
    assert row.share(row.outside) <= LIMIT
    assert row.share(row.outside_at_stop) <= LIMIT


def test_the_check_can_fail() -> None:
    """A paired t test looked at after every block does not pass."""
    rng = np.random.default_rng(1)
    a, b = calibration.arms_in_blocks(calibration.gaussian(rng, STUDIES, 2 * BLOCKS), rng)
    _, _, t = calibration.t_statistics(b - a)
    fixed = 1.96 + 2.4 / np.arange(1, BLOCKS)  # close to Student's 97.5 % quantile
    assert (np.abs(t[:, 5:]) > fixed[4:]).any(axis=1).mean() > 2 * LIMIT


def test_gaussian_supremum_over_two_thousand_looks() -> None:
    rng = np.random.default_rng(2)
    missed = 0
    for _ in range(4):
        _, _, t = calibration.t_statistics(rng.standard_normal((500, 2000)))
        missed += int((np.abs(t) > calibration.criticals(2000)).any(axis=1).sum())
    assert 0.02 < missed / 2000 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 2000)


def test_medians_with_censored_values() -> None:
    assert calibration.median_row(STUDIES, 200, seed=1) / STUDIES <= LIMIT
    assert calibration.median_row(STUDIES, 200, seed=1, caps=0.0) / STUDIES <= LIMIT


def test_a_true_two_per_cent_is_found_in_time() -> None:
    price = calibration.cost(2000, seed=1)
    assert price.fixed == 8
    assert price.mean <= 1.5 * price.fixed
    assert price.within >= 0.90 - 2 * math.sqrt(0.9 * 0.1 / 2000)
    assert price.wrong <= 0.001


def test_power_of_the_fixed_size_test() -> None:
    """Against tabulated values of the noncentral t distribution."""
    assert calibration.t_power(8, math.log(1.02) / (0.01 * math.sqrt(2))) == pytest.approx(
        0.92212, abs=2e-4
    )
    assert calibration.t_power(10, 0.0) == pytest.approx(0.025, abs=1e-4)


def test_levels_stay_below_what_importance_sampling_allows() -> None:
    for alpha, gain in calibration.calibrate(20_000, 300, seed=1):
        assert alpha < level(alpha) <= gain * alpha


def test_all_numbers_follow_from_the_seed() -> None:
    assert calibration.null_row("Gaussian", 50, 40, 7) == calibration.null_row(
        "Gaussian", 50, 40, 7
    )


def test_recorded_repeats_are_read(tmp_path: Path) -> None:
    header = "knob,status," + ",".join(f"t{i}" for i in range(16))
    lines = [
        f"{k},ok," + ",".join(str(5 + 0.01 * ((i * k) % 7)) for i in range(16)) for k in (1, 3)
    ]
    table = tmp_path / "table.csv"
    table.write_text("\n".join([header, *lines, "9,failed" + "," * 16]) + "\n")
    row = calibration.recorded_row(table, 50, seed=1)
    assert row.studies == 50
    assert row.share(row.false) <= 0.2
