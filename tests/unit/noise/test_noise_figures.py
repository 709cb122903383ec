"""Figures of detours, and periods of lost time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.noise.figures import (
    detour_figures,
    detour_figures_of,
    excess_figures,
    histogram,
    named_figures,
)
from assay.noise.spectrum import loss_events, lost_ns, spectrum, spectrum_of
from assay.records.noise import CpuNoise, NoiseRun

MS = 1_000_000
QUANTUM = MS
STEPS = 900_000


def test_figures_of_known_detours() -> None:
    found = detour_figures([3000, 1000, 2000, 4000], 1e9)
    assert (found.count, found.rate_per_s) == (4, 4.0)
    assert found.share == pytest.approx(1e-5)
    assert (found.p50_ns, found.max_ns) == (2500, 4000)


def test_no_detours_have_no_lengths_and_no_share() -> None:
    found = detour_figures([], 1e9)
    assert (found.share, found.rate_per_s, found.p50_ns, found.max_ns) == (0, 0, None, None)


def test_unmeasured_time_is_rejected() -> None:
    with pytest.raises(ValueError, match="observed time"):
        detour_figures([1], 0)


def test_excess_is_relative_to_fastest_quantum_of_same_cpu() -> None:
    found = excess_figures([[100, 101, 104], [], [200, 200, 206]])
    assert found is not None
    assert (found.count, found.least_ns, found.max_ns) == (6, 100, 6)
    assert found.p50_ns == 0.5
    assert excess_figures([[]]) is None


@given(st.lists(st.integers(min_value=0, max_value=2**40)))
def test_histogram_counts_every_value(values: list[int]) -> None:
    steps = histogram(values)
    assert sum(step.count for step in steps) == len(values)
    assert sum(step.sum_ns for step in steps) == sum(values)
    assert [s.low_ns * 2 for s in steps[:-1]] == [s.low_ns for s in steps[1:]]
    for step in steps:
        inside = [v for v in values if step.low_ns <= max(1, v) < 2 * step.low_ns]
        assert len(inside) == step.count


@given(
    st.lists(st.integers(min_value=1, max_value=10**7), min_size=1),
    st.integers(min_value=10**3, max_value=10**9),
)
def test_figures_are_within_bounds(took: list[int], measured: int) -> None:
    found = detour_figures(took, measured)
    assert 0 <= found.share <= 1
    quantiles = [found.p50_ns, found.p99_ns, found.p999_ns, found.max_ns]
    assert quantiles == sorted(q for q in quantiles if q is not None)
    assert found.max_ns == max(took)


def test_analysis_time_is_not_measured_time() -> None:
    cpu = CpuNoise(cpu=0, length_ns=2000, analysis_ns=1000, duration_ns=(500,))
    assert detour_figures_of([cpu]).share == 0.5


def test_named_figures_prefer_gap_measurement() -> None:
    def run(method: str, took: int) -> NoiseRun:
        cpu = CpuNoise(cpu=0, length_ns=10**9, duration_ns=(took,), values=(10**6, 10**6 + 5000))
        return NoiseRun(method=method, cpus=(cpu,))

    found = {f.name: f.value for f in named_figures([run("ftq", 9000), run("selfish", 2000)])}
    assert found["detour_max_us"] == 2.0
    assert found["noise_share"] == pytest.approx(2e-4)
    assert "work_max_us" not in found
    found = {f.name: f.value for f in named_figures([run("fwq", 9000)])}
    assert (found["detour_max_us"], found["work_max_us"]) == (9.0, 5.0)
    assert named_figures([]) == ()


# --- periods ----------------------------------------------------------------------------------


def steps_with(stalls: dict[int, float], size: int = 4000, seed: int = 1) -> list[int]:
    """Return steps per interval with small variation, and losses in some intervals."""
    rng = np.random.default_rng(seed)
    done = STEPS * (1 - 2e-4 * rng.random(size))
    for place, share in stalls.items():
        done[place] *= 1 - share
    return [round(v) for v in done]


def found_in(steps: list[int], threshold: int = 1000) -> list[float]:
    cpu = CpuNoise(cpu=0, length_ns=len(steps) * MS, values=tuple(steps))
    run = NoiseRun(method="ftq", quantum_ns=QUANTUM, threshold_ns=threshold, cpus=(cpu,))
    return [period.period_s for period in spectrum_of(run).periods]


@pytest.mark.parametrize("period", [4, 7, 10, 50])
def test_injected_period_is_found(period: int) -> None:
    periods = found_in(steps_with(dict.fromkeys(range(0, 4000, period), 0.01)))
    assert periods[0] == pytest.approx(period / 1e3, rel=0.01)
    assert len(periods) == 1, "its harmonics are no periods of their own"


def test_two_periods_are_distinguished() -> None:
    stalls = dict.fromkeys(range(0, 4000, 4), 0.01) | dict.fromkeys(range(1, 4000, 10), 0.012)
    periods = found_in(steps_with(stalls))
    assert sorted(round(p * 1e3, 1) for p in periods) == [4.0, 10.0]


def test_unsteady_period_is_that_of_strongest_line() -> None:
    """Weaker lines beside it are not separate periods."""
    rng = np.random.default_rng(5)
    places = {int(p + rng.choice([0, 0, 0, 0, 1])) for p in range(0, 3990, 8)}
    periods = found_in(steps_with(dict.fromkeys(places, 0.01)))
    assert [round(p * 1e3, 1) for p in periods] == [8.0]


def test_long_preemptions_do_not_hide_a_period() -> None:
    """Three stalls of a hundred intervals each take ten times as long as all periodic ones."""
    stalls = dict.fromkeys(range(0, 4000, 10), 0.01)
    for begin in (300, 1711, 3003):
        stalls |= dict.fromkeys(range(begin, begin + 100), 0.98)
    assert found_in(steps_with(stalls))[0] == pytest.approx(0.010, rel=0.01)


def test_overlapping_preemptions_are_one_event() -> None:
    lost = np.array([0, 500, 900, 900, 0, 0, 800, 0], dtype=float)
    found = loss_events(lost, 100)
    assert list(np.flatnonzero(found)) == [1, 6]
    assert found[1] == 2300
    assert found[6] == 800


@pytest.mark.parametrize("seed", range(8))
def test_random_stalls_rarely_form_a_period(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = rng.choice(4000, 300, replace=False)
    assert len(found_in(steps_with(dict.fromkeys(map(int, places), 0.02), seed=seed))) <= 1


def test_false_periods_are_as_frequent_as_stated() -> None:
    false = 0
    for seed in range(40):
        rng = np.random.default_rng(100 + seed)
        places = rng.choice(1000, 80, replace=False)
        stalls = dict.fromkeys(map(int, places), 0.02)
        false += bool(found_in(steps_with(stalls, size=1000, seed=seed)))
    assert false <= 7  # 2 are expected; more than 7 come in one of 400 such tests


def test_changed_clock_frequency_is_not_a_loss() -> None:
    slower = [v if i < 2000 else round(v * 0.8) for i, v in enumerate(steps_with({}))]
    lost = lost_ns(slower, QUANTUM)
    assert float(np.median(lost[2200:])) < 1000


def test_short_or_empty_series_has_no_periods() -> None:
    assert found_in(steps_with({}, size=40)) == []
    assert found_in(steps_with({})) == []
    assert found_in([]) == []
    with pytest.raises(ValueError, match="interval of the values"):
        spectrum([np.ones(100)], 0.0)


def test_periods_of_several_cpus_are_combined() -> None:
    one = loss_events(lost_ns(steps_with(dict.fromkeys(range(0, 4000, 25), 0.01)), QUANTUM), 2000)
    other = loss_events(lost_ns(steps_with(dict.fromkeys(range(3, 4000, 25), 0.01)), QUANTUM), 2000)
    found = spectrum([one, other, np.zeros(4000)], 1e-3)
    assert found.periods[0].period_s == pytest.approx(0.025, rel=0.01)
    assert found.periods[0].p_value == 0.005
    assert found == spectrum([one, other, np.zeros(4000)], 1e-3), "the same data, the same answer"
