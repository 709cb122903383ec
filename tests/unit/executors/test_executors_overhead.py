"""The cost of observing: the figures made of pairs, and the observations that a host lacks."""

from __future__ import annotations

import random
import statistics
import subprocess
import sys

import pytest

from assay.executors import loads
from assay.executors.overhead import (
    BARE,
    CONTAINED,
    built_in_programs,
    cost_of,
    external_load_share,
    launcher_observations,
    missing_observations,
    order_of_interval,
)
from assay.records import RunFacts
from assay.records.facts import Containment, Counter, HostActivity


def facts(wall_s: float, user_s: float = 0.0, sys_s: float = 0.0) -> RunFacts:
    """Return the facts of a launch."""
    return RunFacts(outcome="exited", exit_status=0, wall_s=wall_s, user_s=user_s, sys_s=sys_s)


@pytest.mark.parametrize(
    ("pairs", "index"), [(6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (20, 5), (25, 7), (50, 17)]
)
def test_interval_of_median_begins_at_tabulated_order_statistic(pairs: int, index: int) -> None:
    # Conover, Practical Nonparametric Statistics: ranks of the 95 % interval, counted from 1.
    assert order_of_interval(pairs) == index


def test_interval_of_median_covers_in_95_of_100() -> None:
    rng = random.Random(1)
    held = 0
    for _ in range(2000):
        differences = [rng.expovariate(1.0) for _ in range(30)]
        cost = cost_of("memory", "p", [(facts(1.0 + d), facts(1.0)) for d in differences])
        held += cost.wall.low <= 0.6931 <= cost.wall.high
    assert 0.94 <= held / 2000 <= 0.985, "the steps of the binomial leave it above 95 %"


def test_cost_is_share_of_wall_time_of_bare_program() -> None:
    pairs = [(facts(2.02, 1.01, 0.53), facts(2.0, 1.0, 0.5))] * 8
    found = cost_of("memory", "spin", pairs)
    assert (found.baseline_s, found.pairs) == (2.0, 8)
    assert found.wall.share == pytest.approx(0.01)
    assert found.user is not None and found.user.share == pytest.approx(0.005)
    assert found.sys is not None and found.sys.share == pytest.approx(0.015)
    assert found.cpu is not None and found.cpu.share == pytest.approx(0.02)


def test_cost_of_an_outlier_in_one_pair_is_not_the_cost() -> None:
    pairs = [(facts(1.0), facts(1.0))] * 9 + [(facts(9.0), facts(1.0))]
    assert cost_of("memory", "spin", pairs).wall.share == 0.0


def test_observation_that_spreads_times_costs_spread_and_no_time() -> None:
    gaussian = statistics.NormalDist(1.0, 0.1)
    pairs = [(facts(gaussian.inv_cdf((k + 0.5) / 30)), facts(1.0)) for k in range(30)]
    found = cost_of("memory", "spin", pairs)
    assert found.wall.low < 0.0 < found.wall.high
    assert found.spread is not None and found.excess == ("spread", found.spread)
    # The median distance from the median of a Gaussian is 0.6745 standard deviations.
    assert found.spread.low < 0.0674 < found.spread.high


def test_observations_that_change_nothing_seldom_seem_costly() -> None:
    rng = random.Random(2)
    costly = 0
    for _ in range(300):
        found = [
            cost_of("memory", load, [(noisy(rng), noisy(rng)) for _ in range(30)], figures=12)
            for load in loads.LOADS
        ]
        costly += any(cost.excess for cost in found)
    assert costly / 300 <= 0.05


def noisy(rng: random.Random) -> RunFacts:
    """Return the facts of a launch that varies by 2 %."""
    return facts(rng.gauss(1.0, 0.02), rng.gauss(0.5, 0.02), rng.gauss(0.4, 0.02))


@pytest.mark.rotating
def test_interval_of_thousands_of_pairs() -> None:
    # Of 5,000 the normal approximation has 2,500 - 1.96 * sqrt(5,000) / 2 = 2,430.7.
    assert order_of_interval(5000) == 2430
    assert order_of_interval(5000, figures=12) < 2430


def test_figures_that_are_not_known_are_no_zeros() -> None:
    unknown = RunFacts(outcome="exited", exit_status=0, wall_s=1.0, user_s=0.5)
    found = cost_of("memory", "spin", [(unknown, unknown)] * 10)
    assert found.sys is None and found.cpu is None
    assert found.user is not None and found.user.share == 0.0


def test_each_observation_adds_one_thing_to_the_same_launch() -> None:
    for way in launcher_observations():
        different = {name for name in way.on if way.on[name] != way.without.get(name)}
        assert len(different) == 1, way.observation
        assert way.without == (BARE if way.observation == "containment" else CONTAINED)


def test_missing_names_reason_of_the_launcher() -> None:
    reason = "this machine does not have this counter"
    found = facts(1.0)
    bare = RunFacts(
        outcome="exited",
        containment=Containment(mode="none"),
        unavailable={"counters.cycles": reason},
    )
    names = ["containment", "counters", "memory"]
    assert dict(missing_observations(bare, names)) == {
        "containment": "this host provides no control group",
        "counters": reason,
    }
    counter = Counter(value=1.0, enabled_s=1.0, running_s=1.0, scope="all")
    full = RunFacts(
        outcome="exited", containment=Containment(mode="v2"), counters={"cycles": counter}
    )
    assert dict(missing_observations(full, names)) == {}
    assert found.counters == {}


@pytest.mark.parametrize(
    "program", built_in_programs(sys.executable), ids=lambda program: program.name
)
def test_built_in_load_runs_without_assay(program: object) -> None:
    argv = program.argv  # type: ignore[attr-defined]
    done = subprocess.run([argv[0], "-I", "-S", *argv[1:]], timeout=60, check=False)
    assert done.returncode == 0


def test_every_load_is_built_in() -> None:
    assert [program.name for program in built_in_programs("python3")] == list(loads.LOADS)


def test_others_are_what_worked_beside_tree_and_launcher() -> None:
    """1.9 of 2 CPU seconds were busy: 1.0 with the program, 0.1 with the launcher."""
    host = HostActivity(cpus=2, busy_s=1.9, process_tree_cpu_s=1.0, launcher_cpu_s=0.1, steal_s=0.2)
    busy = RunFacts(outcome="exited", wall_s=1.0, host=host)
    assert external_load_share([busy, facts(1.0), busy]) == pytest.approx(0.5)
    assert external_load_share([facts(1.0)]) is None
    short = RunFacts(
        outcome="exited", wall_s=1.0, host=HostActivity(cpus=2, busy_s=0.9, process_tree_cpu_s=1.0)
    )
    assert external_load_share([short]) == 0.0
