"""Scoreboard of searches: ratios with errors, stored results, leave-one-out choices."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.search.__main__ import TABLES, small_table
from benchmarks.search.cache import Cache
from benchmarks.search.choices import leave_one_out
from benchmarks.search.plan import Wanted, carry_out
from benchmarks.search.rows import PLUS, Rows, better, excess_in_errors, ratio
from benchmarks.search.targets import targets

from assay.search.model.gp import GpSearcher
from assay.search.model.options import SearcherOptions
from assay.testing.replay.jobs import Job, run, run_all
from assay.testing.replay.method import AnytimeMethod
from assay.testing.replay.optuna_search import OptunaSearch
from assay.testing.replay.random_search import RandomSearch
from assay.testing.replay.score import Row, score, score_each
from assay.testing.replay.searcher_search import SearcherSearch
from assay.testing.replay.table import Table
from assay.testing.replay.world import World


def row(method: str, seed: int, regret: float, table: str = "t", launches: int = 10) -> Row:
    return Row(table, method, seed, launches, regret, None, 1.0, None, False, 1.0, 0, 0, 0.0)


def rows(*found: Row) -> Rows:
    return Rows(tuple(one.document() for one in found))


def table() -> Table:
    points = tuple((a, b) for a in range(6) for b in range(6))
    means = tuple(10.0 + (a - 4) ** 2 + abs(b - 1) for a, b in points)
    return Table("grid", ("a", "b"), points, means, ())


def simulated(rng: random.Random, seeds: int) -> tuple[Rows, Rows]:
    """Two methods on two tables, whose seeds share a difficulty; the true ratio is 0.5."""
    ours, theirs = [], []
    for name, mean in (("one", 0.1), ("two", 0.02)):
        for seed in range(seeds):
            hard = rng.expovariate(1.0)
            for found, method, size in ((ours, "a", 0.5), (theirs, "b", 1.0)):
                regret = size * mean * (0.5 * hard + 0.5 * rng.expovariate(1.0))
                found.append(row(method, seed, regret + (size - 1.0) * PLUS / 2, name))
    return rows(*ours), rows(*theirs)


def test_ratio_error_is_the_spread_of_the_ratio() -> None:
    rng = random.Random(1)
    found = [ratio(*simulated(rng, 30)) for _ in range(120)]
    spread = statistics.stdev(one.value for one in found)
    error = statistics.fmean(one.error for one in found)
    assert error == pytest.approx(spread, rel=0.2)


def test_ratio_of_a_method_to_itself_is_known_exactly() -> None:
    ours, _ = simulated(random.Random(2), 20)
    found = ratio(ours, ours)
    assert found.value == pytest.approx(1.0)
    assert found.error == pytest.approx(0.0, abs=1e-6)


def test_ratio_with_fewer_seeds_of_one_method_has_a_larger_error() -> None:
    ours, theirs = simulated(random.Random(3), 60)
    few = Rows(tuple(r for r in theirs.found if r["seed"] < 20))
    assert ratio(ours, few).error > ratio(ours, theirs).error
    assert ratio(ours, rows()).value != ratio(ours, rows()).value


def test_excess_over_random_is_in_standard_errors() -> None:
    worse = rows(*(row("a", s, 0.2 + 0.01 * (s % 3)) for s in range(12)))
    same = rows(*(row("b", s, 0.1 + 0.01 * (s % 2)) for s in range(12)))
    assert excess_in_errors(worse, same) > 3.0
    assert excess_in_errors(same, worse) < -3.0


def test_better_encoding_is_taken_for_each_number_of_launches() -> None:
    found = rows(
        *(row("tpe", 0, regret, launches=n) for n, regret in ((10, 0.1), (25, 0.3))),
        *(row("tpe-raw", 0, regret, launches=n) for n, regret in ((10, 0.2), (25, 0.2))),
        *(row("tpe", 0, 0.5, "plain", n) for n in (10, 25)),
    )
    best = better(found, "tpe", ("tpe", "tpe-raw"))
    assert best.of(table="t", launches=10).mean("regret") == 0.1
    assert best.of(table="t", launches=25).mean("regret") == 0.2
    assert best.of(table="plain", launches=25).mean("regret") == 0.5


@pytest.mark.parametrize("method", [RandomSearch(), OptunaSearch("tpe")], ids=["random", "tpe"])
def test_one_search_answers_for_every_number_of_launches(method: RandomSearch) -> None:
    assert isinstance(method, AnytimeMethod)
    together = score_each(lambda: World(table(), 3), method, (5, 10, 20), 3)
    apart = [score(World(table(), 3), method, n, 3) for n in (5, 10, 20)]
    assert [replace(r, think_s=0.0) for r in together] == [replace(r, think_s=0.0) for r in apart]


def test_searcher_alone_finds_the_best_of_a_smooth_space() -> None:
    method = SearcherSearch("searcher", GpSearcher())
    found = score_each(lambda: World(table(), 1, noise=0.01), method, (5, 25), 1)
    assert found[1].regret <= 0.1
    assert found[0].regret >= found[1].regret


def test_options_keep_their_shares_in_small_batches() -> None:
    options = SearcherOptions()
    assert options.allocate(8) == (list(options.turns), list(options.probes))
    assert options.allocate(4) == (["improve", "bound", "improve"], ["probe"])
    assert options.allocate(1) == (["improve"], [])


def test_results_on_disk_are_not_made_again(tmp_path: Path) -> None:
    path = small_table(tmp_path)
    cache = Cache(tmp_path / "results.jsonl", "one")
    wanted = Wanted((path,), ("random",), 3, (5, 10), side=False)
    lines: list[str] = []
    first = carry_out(wanted.jobs(), cache, 1, say=lines.append)
    with cache.path.open("a") as file:
        file.write('{"table": "cut')
    again = carry_out(wanted.jobs(), cache, 1, say=lines.append)
    assert again == first
    assert len(first.found) == 6
    assert lines[-1].startswith("3 of 3 jobs have a stored result")


def test_changed_code_of_assay_repeats_its_searches_only(tmp_path: Path) -> None:
    path = small_table(tmp_path)
    file = tmp_path / "results.jsonl"
    jobs = [Job(path, name, 0, (10,)) for name in ("assay", "random")]
    carry_out(jobs, Cache(file, "one"), 1, say=lambda _: None)
    known = Cache(file, "two").read()
    assert [any(key in known for key in Cache(file, "two").keys(job)) for job in jobs] == [
        False,
        True,
    ]


def test_no_search_begins_after_the_time_limit(tmp_path: Path) -> None:
    jobs = [Job(small_table(tmp_path), "random", seed, (5,)) for seed in range(4)]
    assert not list(run_all(jobs, 1, until_s=0.0))
    assert len(list(run_all(jobs, 2))) == 4


def test_choice_for_a_table_depends_on_other_tables() -> None:
    def of(choice: str, regrets: Sequence[float]) -> list[Row]:
        return [
            row(f"assay-searcher/{choice}", 0, r, name)
            for name, r in zip("xyz", regrets, strict=True)
        ]

    found = rows(*of("present", (0.1, 0.1, 0.1)), *of("shorter", (0.001, 0.11, 0.11)))
    left = {one.table: one for one in leave_one_out(found)}
    assert left["x"].choice == "present"
    assert left["x"].best == "shorter"
    assert left["y"].choice == "shorter"
    assert left["y"].regrets == [0.11]


def test_missed_targets_are_named() -> None:
    def of(method: str, regret: float) -> list[Row]:
        noise = random.Random(method)
        return [row(method, s, regret * noise.uniform(0.9, 1.1)) for s in range(20)]

    found = rows(*of("assay", 0.05), *of("tpe", 0.1), *of("random", 0.03))
    lines = {line.measure: line for line in targets(found, rows(), ["tpe", "random"])}
    assert lines["regret after 10 launches, relative to tpe"].verdict == "met"
    assert lines["regret after 10 launches, relative to random"].verdict == "missed"
    worse = lines["tables worse than random by 3 standard errors, 10 launches"]
    assert worse.verdict == "missed"


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.csv.gz")), ids=lambda path: path.name)
def test_tables_of_the_benchmark_can_be_searched(path: Path) -> None:
    (found,) = run(Job(path, "random", 0, (20,)))
    assert 0.0 <= found.regret < math.inf
