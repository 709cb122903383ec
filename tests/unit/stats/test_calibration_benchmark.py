"""The 5 % hold with an interim analysis after every block: rows of the benchmark, with fewer
studies."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from assay.records.claim import Verdict
from assay.stats.confidence_sequence import critical as critical_t
from assay.stats.confidence_sequence import level, min_values
from assay.stats.peeking import StudyOutcome

sys.path.append(str(Path(__file__).parents[3]))
from benchmarks.verdicts import (
    disturbed,
    identical,
    levels,
    noise,
    page,
    peers,
    power,
    shapes,
    spreads,
    student,
    table,
    tally,
)

STUDIES, BLOCKS = 500, 80
LIMIT = tally.limit(STUDIES)


# --- assay's rules ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", noise.NOISES)
def test_arms_of_identical_distribution(name: str) -> None:
    found = identical.simulated(name, STUDIES, BLOCKS, seed=1)
    assert found.row.false.value <= LIMIT
    assert found.row.missed.value <= LIMIT
    assert not found.row.over
    assert set(found.others) == set(peers.RULES)


def test_the_check_can_fail() -> None:
    """A paired t test with an interim analysis after every block does not pass."""
    rng = np.random.default_rng(1)
    a, b = noise.dealt(noise.gaussian(rng, STUDIES, 2 * BLOCKS), rng)
    wrong = t_statistics(b - a)[:, 5:] > [student.critical(n - 1) for n in range(6, BLOCKS + 1)]
    assert wrong.any(axis=1).mean() > 2 * LIMIT


def t_statistics(values: noise.Array) -> noise.Array:
    """Return the absolute t of the first n columns, for each n."""
    n = np.arange(1, values.shape[1] + 1.0)
    mean = np.cumsum(values, axis=1) / n
    square = np.cumsum(values**2, axis=1) - n * mean**2
    found: noise.Array = np.abs(mean) / np.sqrt(
        np.maximum(square, 1e-22) / np.maximum(n - 1, 1) / n
    )
    return found


def test_gaussian_supremum_over_two_thousand_analyses() -> None:
    rng = np.random.default_rng(2)
    analyses = range(min_values(0.05), 2001)
    bounds = [math.inf] * (analyses[0] - 1) + [critical_t(n, level(0.05)) for n in analyses]
    missed = 0
    for _ in range(4):
        missed += int((t_statistics(rng.standard_normal((500, 2000))) > bounds).any(axis=1).sum())
    assert 0.02 < missed / 2000 <= tally.limit(2000)


def test_medians_with_censored_values() -> None:
    assert identical.medians(STUDIES, 200, seed=1).value <= LIMIT
    assert identical.medians(STUDIES, 200, seed=1, censored=0.0).value <= LIMIT


def test_true_gain_of_two_per_cent_is_found_in_time() -> None:
    price = power.cost("Gaussian", 2000, seed=1)
    assert price.fixed == 8
    assert price.mean <= 1.5 * price.fixed
    assert price.within is not None
    assert price.within.value >= 0.90 - 2 * math.sqrt(0.9 * 0.1 / 2000)
    assert price.wrong.value <= 0.001


def test_power_of_the_fixed_size_test() -> None:
    """The values are those of tables of the noncentral t distribution."""
    effect = math.log(1.02) / (0.01 * math.sqrt(2))
    assert power.t_power(8, effect) == pytest.approx(0.92212, abs=2e-4)
    assert power.t_power(10, 0.0) == pytest.approx(0.025, abs=1e-4)


def test_simulated_fixed_size_equals_theory() -> None:
    effect = math.log(1 / 0.98)
    rng = np.random.default_rng(3)
    ratios = math.sqrt(2.0) * noise.SPREAD * rng.standard_normal((4000, 40))
    seen = power._seen_size(ratios, effect)
    assert seen is not None
    assert abs(seen - power.fixed_size(effect / (math.sqrt(2.0) * noise.SPREAD))) <= 1
    assert power._seen_size(100.0 * ratios, effect) is None


def test_levels_stay_below_what_importance_sampling_allows() -> None:
    for alpha, gain in levels.levels(20_000, 300, seed=1):
        assert alpha < level(alpha) <= gain * alpha


def test_equal_and_unequal_spreads_are_classified() -> None:
    same = spreads.equal("Gaussian", 300, 100, seed=1)
    assert same.told.value <= tally.limit(300)
    assert same.missed.value <= tally.limit(300)
    wide = spreads.wider(3.0, 100, 100, seed=1)
    assert wide.told.value > 0.9
    assert wide.missed.value <= tally.limit(100)
    assert wide.blocks < 60


def test_one_peak_is_seldom_two_modes() -> None:
    found = spreads.one_peak("Gaussian", 200, seed=1)
    assert all(share.value <= 0.02 for share in found.found.values())
    assert max(share.value for share in found.found.values()) <= found.ever.value <= 0.05


def test_equal_means_of_unequal_shape_are_told_apart_and_flagged() -> None:
    found = shapes.shape("Gaussian; a mode 20 % slower in 1/2", 60, 40, seed=1)
    assert found.flagged_all.value > 0.95
    rare = shapes.shape("Gaussian; a mode 20 % slower in 1/20", 100, 60, seed=1)
    assert rare.differs.value > 0.2, "the row is no failure of the interval but of the question"
    assert rare.flagged.value < 0.2


@pytest.mark.parametrize("name", disturbed.OTHERS)
def test_independent_load_causes_no_false_verdicts(name: str) -> None:
    found = disturbed.disturbed(name, 200, 60, seed=1)
    assert found.disturbed.value > 0.05
    assert found.ruled.false.value <= tally.limit(200)
    assert found.ruled.missed.value <= tally.limit(200)
    assert found.following.value <= tally.limit(200)


def test_correlated_load_is_found_before_a_verdict() -> None:
    found = disturbed.followed(0.3, 50, seed=1)
    assert found.found.value == 1.0
    assert found.told.count == 0
    assert found.unruled.value > 0.9


# --- rules of other tools -----------------------------------------------------------------------


def quiet(studies: int = 2000) -> noise.Stream:
    return noise.stream("Gaussian", np.random.default_rng(5), studies, peers.LONGEST)


def share(rule: peers.Rule, stream: noise.Stream) -> float:
    return float(rule(stream, np.random.default_rng(6)).mean())


def test_single_analysis_tests_have_their_level() -> None:
    stream = quiet()
    for rule in (peers.pyperf, peers.welch, peers.paired):
        assert share(rule, stream) == pytest.approx(0.05, abs=0.015)


def test_repeated_analyses_exceed_the_level() -> None:
    stream = quiet()
    assert share(peers.temci, stream) == pytest.approx(0.09, abs=0.02)
    assert share(peers.peeking, stream) == pytest.approx(0.27, abs=0.03)


def test_values_of_one_process_are_not_independent() -> None:
    name = f"{noise.VALUES} values a launch, correlation 0.8"
    stream = noise.stream(name, np.random.default_rng(5), 2000, peers.LONGEST)
    assert share(peers.pyperf, stream) == pytest.approx(0.23, abs=0.03)
    assert share(peers.welch, stream) == pytest.approx(0.05, abs=0.015)


def test_a_lost_process_is_significant_to_pyperf() -> None:
    assert share(peers.pyperf_unequal, quiet(50)) == 1.0
    assert identical.unequal_numbers(50, seed=1).value == 1.0


def test_drift_is_a_difference_where_all_of_a_runs_first() -> None:
    rng = np.random.default_rng(5)
    stream = noise.stream("drift 20 %, noise 0.05 %", rng, 200, peers.LONGEST)
    for rule in (peers.pyperf, peers.welch, peers.times_faster):
        assert share(rule, stream) == 1.0
    assert share(peers.paired, stream) < 0.15


def test_real_difference_is_found_by_all_rules() -> None:
    """Otherwise the shares above would prove nothing."""
    stream = quiet(300)
    launches = stream.launches.copy()
    launches[:, : peers.HYPERFINE_RUNS] += 0.05
    assert share(peers.welch, noise.Stream(launches)) > 0.99
    assert share(peers.times_faster, noise.Stream(launches)) > 0.9
    launches[:, : peers.PROCESSES * peers.IN_PROCESS] += 0.05
    assert share(peers.pyperf, noise.Stream(launches)) > 0.99


def test_constant_values_show_no_difference() -> None:
    still = noise.Stream(np.zeros((3, peers.LONGEST)))
    for rule in peers.RULES.values():
        assert share(rule, still) == 0.0


def test_critical_values_of_student() -> None:
    """The reference is SciPy 1.17."""
    for degrees, t in ((1, 12.7062), (2, 4.3027), (9, 2.2622), (18, 2.1009), (29, 2.0452)):
        assert student.critical(degrees) == pytest.approx(t, abs=1e-4)
    assert student.critical(118) == pytest.approx(1.9803, abs=1e-4)
    assert student.critical(38, 0.15) == pytest.approx(1.4692, abs=1e-4)
    between = student.critical_between(np.array([9.0, 12.5, 18.0]))
    assert between[0] == pytest.approx(2.2622, abs=1e-4)
    assert between[1] == pytest.approx(2.1692, abs=1e-3)


# --- recorded, tables, the page -----------------------------------------------------------------


def a_recording(folder: Path) -> Path:
    columns = ",".join(f"t{i}" for i in range(32))
    lines = [
        f"{k},ok," + ",".join(str(5 + 0.01 * ((i * k) % 7)) for i in range(32)) for k in (1, 3)
    ]
    path = folder / "convolution_x.csv"
    path.write_text("\n".join([f"knob,status,{columns}", *lines, "9,failed" + "," * 32]) + "\n")
    return path


def test_recorded_repeats_are_read(tmp_path: Path) -> None:
    path = a_recording(tmp_path)
    whole = identical.recorded(path, 50, 40, seed=1, whole=True)
    assert whole.row.name == "recorded, convolution, as it is"
    assert whole.row.false.of == 50
    assert whole.others == {}, "too short for the rules of others"
    runs = identical.recorded(path, 50, 40, seed=1, whole=False)
    assert set(runs.others) == set(peers.RULES)
    assert runs.row.false.value <= 0.2


@pytest.mark.rotating
def test_all_numbers_depend_on_seed_only(tmp_path: Path) -> None:
    sizes = table.Sizes(studies=20, fewer=10, blocks=12)
    files = [a_recording(tmp_path)]
    alone = table.document(sizes, 7, files, jobs=1)
    assert table.document(sizes, 7, files, jobs=2) == alone
    assert table.document(sizes, 8, files, jobs=1) != alone
    for name in (*noise.NOISES, *shapes.SHAPES, *spreads.EQUAL, *disturbed.OTHERS, *power.NOISES):
        assert f"| {name} |" in alone


def test_exceeded_limits_are_marked() -> None:
    good = [StudyOutcome(Verdict.SAME, 10, True, True)] * 90
    bad = [StudyOutcome(Verdict.FASTER, 10, False, False)] * 10
    over = tally.row_of("x", good + bad)
    assert over.over
    assert table._marked(over) == ("**10.0 %**", "**90.0 %**")
    fair = tally.row_of("x", good * 10 + bad)
    assert not fair.over
    assert table._marked(fair) == ("1.1 %", "98.9 %")


def test_the_page_is_rewritten_between_its_marks() -> None:
    before = f"head\n{page.BEGIN}\nold\n{page.END}\ntail\n"
    after = page.rewritten(before, "new")
    assert after == f"head\n{page.BEGIN}\n\nnew\n\n{page.END}\ntail\n"
    assert page.rewritten(after, "new") == after
    for broken in ("no marks", f"{page.END}{page.BEGIN}", f"{page.BEGIN * 2}{page.END}"):
        with pytest.raises(ValueError, match="once each"):
            page.rewritten(broken, "new")


def test_the_page_of_the_documentation_has_the_marks() -> None:
    assert page.rewritten(page.PAGE.read_text(), "x")
