"""Replay of recorded spaces, and scores of searches."""

from __future__ import annotations

import gzip
import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from assay.errors import InvalidInputError
from assay.records import DEFAULT
from assay.search.model.gp import GpSearcher
from assay.testing.replay.coding import Coding
from assay.testing.replay.method import MethodResult
from assay.testing.replay.optuna_search import OptunaSearch
from assay.testing.replay.race_search import RaceSearch, TableSpace
from assay.testing.replay.random_search import RandomSearch
from assay.testing.replay.score import score
from assay.testing.replay.table import Table, joined, load, without_difference
from assay.testing.replay.tpe import TpeSearcher
from assay.testing.replay.warm_search import (
    EarlierStudyKind,
    WarmSearch,
    altered_table,
    reversed_table,
)
from assay.testing.replay.world import Kind, World

METHODS = [RandomSearch(), OptunaSearch("tpe"), RaceSearch("assay-tpe", TpeSearcher())]


def grid(noise_free_gain: float = 0.5) -> Table:
    """Return a table of two numbers and a name in which one point is far better than the rest."""
    points = tuple((a, b, c) for a in range(4) for b in (1, 2, 4, 8) for c in ("x", "y", "z"))
    means = tuple(
        10.0 + a + b / 8 - (10.0 * noise_free_gain if (a, c) == (1, "y") else 0.0)
        for a, b, c in points
    )
    return Table("grid", ("a", "b", "c"), points, means, ())


def flat_grid() -> Table:
    """Return a table with few good points and similar neighbours: one study informs another."""
    points = tuple((a, b, c) for a in range(8) for b in range(8) for c in range(4))
    means = tuple(10.0 * 1.2 ** (abs(a - 6) + abs(b - 1)) + c for a, b, c in points)
    return Table("flat", ("a", "b", "c"), points, means, ())


def written(path: Path, text: str) -> Path:
    if path.suffix == ".gz":
        with gzip.open(path, "wt") as file:
            file.write(text)
    else:
        path.write_text(text)
    return path


def test_table_of_means(tmp_path: Path) -> None:
    for name in ("t.csv", "t.csv.gz"):
        table = load(written(tmp_path / name, "a,b,mean\n0,1.5,2\n1,2.5,3\n"))
        assert table.name == "t"
        assert table.columns == ("a", "b")
        assert table.points == ((0, 1.5), (1, 2.5))
        assert table.means == (2.0, 3.0)
        assert table.working == [0, 1]


def test_table_of_repeats_with_failures(tmp_path: Path) -> None:
    text = "a,status,t0,t1\n1,ok,2,4\n2,failed,,\n"
    table = load(written(tmp_path / "t.csv", text))
    assert table.means == (3.0, None)
    assert table.repeats == ((2.0, 4.0), ())
    assert table.working == [0]


@pytest.mark.parametrize(
    "text", ["", "a,b\n1,2\n", "a,mean\n1,never\n", "a,mean\n1,0\n", "a,status,t0\n1,ok,-1\n"]
)
def test_invalid_table_is_rejected(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInputError):
        load(written(tmp_path / "t.csv", text))


def test_missing_file_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="Cannot read"):
        load(tmp_path / "none.csv")


def test_one_hot_columns_become_one_parameter() -> None:
    points = (
        (1, 0, 0, 1, 0, 5, 0),
        (0, 1, 0, 0, 1, 5, 1),
        (0, 0, 1, 1, 0, 5, 0),
        (1, 0, 0, 0, 1, 5, 1),
    )
    columns = ("ref_1", "ref_5", "ref_9", "Fast", "Slow", "same", "flag")
    found = joined(Table("t", columns, points, (1.0, 2.0, 3.0, 4.0), ()))
    assert found.columns[:2] == ("ref_1|ref_5|ref_9", "Fast|Slow")
    assert [point[0] for point in found.points] == [1, 5, 9, 1]
    assert [point[1] for point in found.points] == ["Fast", "Slow", "Fast", "Slow"]
    assert found.columns[-1] == "flag"
    assert "same" not in found.columns


def test_partially_exclusive_columns_stay_separate() -> None:
    points = ((0, 0), (1, 0), (0, 1))
    table = Table("t", ("a", "b"), points, (1.0, 2.0, 3.0), ())
    assert joined(table).columns == ("a", "b")


def test_nearest_point_has_fewest_changed_columns() -> None:
    table = Table("t", ("a", "b"), ((0, 0), (3, 0), (0, 9)), (1.0, 1.0, 1.0), ())
    coding = Coding(table)
    places = [list(map(int, row)) for row in coding.places]
    for i, place in enumerate(places):
        assert coding.nearest(place) == (i, True)
    assert coding.nearest([1, 1]) == (1, False) or coding.nearest([1, 1]) == (2, False)


@pytest.mark.parametrize("kind", list(Kind))
def test_results_depend_on_seed_only(kind: Kind) -> None:
    first, again, other = (World(grid(), seed, kind=kind) for seed in (1, 1, 2))
    values = [[world.launch(5).value for _ in range(20)] for world in (first, again, other)]
    assert values[0] == values[1]
    assert values[0] != values[2]
    assert first.launches == 20


def test_noise_has_requested_size() -> None:
    world = World(grid(), 3, noise=0.1)
    logs = [
        math.log((world.launch(7).value or 0.0) / (grid().means[7] or 1.0)) for _ in range(2000)
    ]
    assert sum(logs) / len(logs) == pytest.approx(0.0, abs=0.01)
    assert math.sqrt(sum(v * v for v in logs) / len(logs)) == pytest.approx(0.1, rel=0.1)


def test_raw_repeats_are_drawn() -> None:
    table = Table("t", ("a",), ((0,), (1,)), (1.5, None), ((1.0, 2.0), ()))
    world = World(table, 0)
    assert {world.launch(0).value for _ in range(50)} == {1.0, 2.0}
    assert world.launch(1).value is None
    assert world.default == 0


def test_capped_launch_is_stopped_and_counted() -> None:
    world = World(grid(), 0, noise=0.01)
    taken = world.launch(40, cap=1.0)
    assert taken.stopped
    assert taken.value == taken.spent == 1.0
    assert (world.timeouts, world.spent) == (1, 1.0)


def test_regret_and_ratio() -> None:
    world = World(grid(), 0)
    best = min(range(48), key=lambda i: grid().means[i] or 0.0)
    assert world.regret(best) == 0.0
    assert world.regret(world.default) > 0.0
    assert world.ratio(world.default) == 1.0
    higher = World(grid(), 0, higher=True)
    most = max(range(48), key=lambda i: grid().means[i] or 0.0)
    assert higher.regret(most) == 0.0


@pytest.mark.rotating("replayed methods")
@pytest.mark.parametrize("method", METHODS, ids=[m.name for m in METHODS])
def test_methods_find_large_gains_within_budget(method) -> None:  # type: ignore[no-untyped-def]
    found = 0
    for seed in range(3):
        world = World(grid(), seed, noise=0.02)
        row = score(world, method, 100, seed)
        assert world.launches <= 100
        assert row.method == method.name
        found += row.regret < 0.2
    assert found == 3


@pytest.mark.parametrize("method", METHODS, ids=[m.name for m in METHODS])
def test_where_higher_is_better(method) -> None:  # type: ignore[no-untyped-def]
    table = grid(-1.0)  # the point is far slower, as intended
    row = score(World(table, 1, noise=0.02, higher=True), method, 100, 1)
    assert row.regret < 0.2


@pytest.mark.rotating
def test_without_difference_the_race_keeps_the_default() -> None:
    table = without_difference(grid())
    assert len(set(table.means)) == 1
    method = RaceSearch("assay-tpe", TpeSearcher())
    rows = [score(World(table, seed), method, 80, seed) for seed in range(10)]
    assert sum(row.false_win for row in rows) <= 2
    assert all(row.claim is None for row in rows if not row.false_win)


def test_claim_is_compared_with_truth() -> None:
    class Claims:
        name = "claims"

        def search(self, world: World, launches: int, seed: int) -> MethodResult:
            return MethodResult(0, 0.5, (0.4, 0.6))

    row = score(World(grid(), 0), Claims(), 10, 0)
    assert row.covered is (0.4 <= row.ratio <= 0.6)
    assert row.claim == 0.5


def test_table_as_a_space() -> None:
    table = Table("t", ("a", "b"), ((0, 0), (1, 0), (1, 1)), (1.0, 2.0, 3.0), ())
    space = TableSpace(table, 1)
    every = space.enumerate(3)
    assert every is not None
    assert every[0] == DEFAULT
    assert sorted(space.point(c) for c in every) == [0, 1, 2]
    assert space.enumerate(2) is None


def test_command_line(tmp_path: Path) -> None:
    table = grid()
    lines = [
        "a,b,c,mean",
        *(f"{a},{b},{c},{m}" for (a, b, c), m in zip(table.points, table.means, strict=True)),
    ]
    path = written(tmp_path / "grid.csv.gz", "\n".join(lines) + "\n")
    words = [sys.executable, "-m", "assay.testing.replay", str(path), "--seeds", "2", "--jobs", "1"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[3] / "src")}
    told = subprocess.run(
        [*words, "--method", "random", "--launches", "20", "--launches", "40", "--json"],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    found = json.loads(told.stdout)["rows"]
    assert [(row["method"], row["launches"], row["seed"]) for row in found] == [
        ("random", 20, 0),
        ("random", 20, 1),
        ("random", 40, 0),
        ("random", 40, 1),
    ]
    assert {
        "table",
        "regret",
        "claim",
        "false_win",
        "run_s",
        "timeouts",
        "invalid",
        "think_s",
    } <= set(found[0])
    shown = subprocess.run(
        [*words, "--method", "random"], capture_output=True, text=True, env=environment, check=True
    )
    assert "regret" in shown.stdout
    wrong = subprocess.run(
        [sys.executable, "-m", "assay.testing.replay", str(tmp_path / "none.csv")],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert wrong.returncode == 2
    assert "Cannot read" in wrong.stderr


def test_reversed_table_has_inverted_order() -> None:
    table = grid()
    turned = reversed_table(table)
    pairs = [(a, b) for a, b in zip(table.means, turned.means, strict=True) if a and b]
    assert sorted(pairs) == sorted(pairs, key=lambda p: -p[1])
    assert min(b for _, b in pairs) == pytest.approx(min(a for a, _ in pairs))
    assert reversed_table(turned).means == pytest.approx(table.means)


def test_altered_table_is_correlated() -> None:
    table = flat_grid()
    found = []
    for seed in range(20):
        pairs = zip(table.means, altered_table(table, seed).means, strict=True)
        logs = [(math.log(a), math.log(b)) for a, b in pairs if a and b]
        found.append(statistics.correlation(*zip(*logs, strict=True)))
    assert 0.55 < statistics.fmean(found) < 0.85
    assert altered_table(table, 3) == altered_table(table, 3)


@pytest.mark.rotating
def test_warm_start_is_better_after_few_launches() -> None:
    """The mean over seeds: a misleading earlier study costs launches, but causes no wrong claim."""
    table = flat_grid()

    def rows(name: str, telling: EarlierStudyKind = EarlierStudyKind.TRUE) -> list[float]:
        method = WarmSearch(name, telling=telling)
        found = [score(World(table, seed), method, 10, seed) for seed in range(6)]
        wrong = [row for row in found if row.false_win and row.claim is not None]
        assert not wrong and not any(row.invalid for row in found)
        return [row.regret for row in found]

    cold = [
        score(World(table, s), RaceSearch("assay", GpSearcher()), 10, s).regret for s in range(6)
    ]
    assert sum(rows("warm")) < 0.7 * sum(cold)
    assert rows("again") == rows("warm"), "all follows from the seed"
    assert (
        rows("misled", EarlierStudyKind.REVERSED)
        != rows("altered", EarlierStudyKind.ALTERED)
        != rows("warm")
    )
