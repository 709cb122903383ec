"""Rotation: successive runs cover all slow tests, and each run has at least one per file."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from rotation import others_in_turns, rested, rotation_of, rows_in_turns

PARTS = 4


@dataclass(frozen=True, eq=False)
class Item:
    """A collected test."""

    path: Path
    name: str
    mark: pytest.Mark | None

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self.mark if name == "rotating" else None


ROTATING = pytest.mark.rotating.mark


def collected(path: str, count: int, mark: pytest.Mark | None = ROTATING) -> list[Any]:
    return [Item(Path(path), f"test_{number}", mark) for number in range(count)]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 11])
def test_successive_runs_cover_all_tests_and_each_run_has_some(count: int) -> None:
    items = [*collected("a.py", count), *collected("b.py", 3)]
    runs = [set(items) - rested(items, number, PARTS) for number in range(1, PARTS + 1)]
    assert set.union(*runs) == set(items)
    for run in runs:
        assert {item.path.name for item in run} == {"a.py", "b.py"}
        assert len(run) <= -(-count // PARTS) + 1


def test_unmarked_tests_are_in_every_run() -> None:
    items = [*collected("a.py", 5, None), *collected("a.py", 8)]
    for number in range(1, PARTS + 1):
        assert all(item.mark for item in rested(items, number, PARTS))


@pytest.mark.parametrize("count", [1, 2, 3, 9])
def test_file_with_other_tests_may_rest_all_rotating_ones(count: int) -> None:
    others = collected("a.py", 2, None)
    items = [*others, *collected("a.py", count)]
    runs = [set(items) - rested(items, number, PARTS) for number in range(1, PARTS + 1)]
    assert set.union(*runs) == set(items)
    assert sum(len(run) for run in runs) == PARTS * len(others) + count


def test_single_tests_of_files_run_on_different_days() -> None:
    files = [f"{name}.py" for name in range(40)]
    items = [one for file in files for one in (*collected(file, 1, None), *collected(file, 1))]
    sizes = [len(items) - len(rested(items, number, PARTS)) for number in range(1, PARTS + 1)]
    assert max(sizes) < len(files) + len(files) / 2


def test_a_group_takes_turns_across_files() -> None:
    mark = pytest.mark.rotating("guests").mark
    items = [*collected("a.py", 2, mark), *collected("b.py", 2, mark), *collected("a.py", 1)]
    for number in range(1, PARTS + 1):
        assert len(rested(items, number, PARTS)) == 3


def test_tests_that_belong_together_have_the_same_turn() -> None:
    marks = [pytest.mark.rotating("guests", together=mode).mark for mode in ("v1", "v2")]
    items = [*collected("a.py", 3, marks[0]), *collected("b.py", 2, marks[1])]
    for number in range(1, PARTS + 1):
        left_out = rested(items, number, PARTS)
        assert left_out in (set(items[:3]), set(items[3:]))


def test_first_parameter_is_in_every_run_and_others_keep_their_marks_and_names() -> None:
    named = pytest.param(3, marks=pytest.mark.slow, id="three")
    first, second, third = cast(list[Any], others_in_turns(1, 2, named))
    assert first == 1
    assert [mark.name for mark in second.marks] == ["rotating"]
    assert [mark.name for mark in third.marks] == ["slow", "rotating"]
    assert (third.values, third.id) == ((3,), "three")


def test_rows_of_parameters_take_turns() -> None:
    first, second = cast(list[Any], rows_in_turns(("a", 1), ("b", 2)))
    assert first == ("a", 1)
    assert second.values == ("b", 2)
    assert [mark.name for mark in second.marks] == ["rotating"]


@pytest.mark.parametrize("text", ["", "2", "0/4", "5/4", "a/4", "1/b", "1/0", "-1/4"])
def test_invalid_part_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="invalid part"):
        rotation_of(text)


def test_part_is_read() -> None:
    assert rotation_of("2/4") == (2, 4)
