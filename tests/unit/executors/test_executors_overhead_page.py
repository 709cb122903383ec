"""The page of `make bench-overhead`: shares, ratios, targets, and columns not measured."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[3]))
from benchmarks.overhead import programs, timing
from benchmarks.overhead.page import page
from benchmarks.overhead.parts import PARTS
from benchmarks.overhead.reading import Key, Reading, Share, Table
from benchmarks.overhead.results import Column, Measured, column_of, load, save
from benchmarks.overhead.targets import targets

QUIET = {
    "load_before": (0.1, 0.1, 0.1),
    "load_1min": [0.5],
    "took_s": 60.0,
    "steal_share": 0.0,
    "idle_share": 0.9,
}
MACHINE = {
    "model": "EPYC",
    "cpus": 2,
    "kernel": "6.18",
    "distribution": "Debian",
    "cgroup": "v2",
    "python": "3.11",
}


def document(part: str, readings: dict[Key, list[float]], **more: Any) -> dict[str, Any]:
    """Return the result of a part, a value a round."""
    table = Table()
    for key, values in readings.items():
        for number, value in enumerate(values):
            table.add(number, [Reading(key, value)])
    head = {"schema": 2, "part": part, "date": "2026-11-26", "machine": MACHINE, "peers": {}}
    head |= {"missing": [], "scale": {"rounds": 12}, "nice": 0, "load": QUIET, "failures": {}}
    return {**head, "readings": table.document(), **more}


def paired(change: float, pairs: int = 12) -> dict[Key, list[float]]:
    """Return pairs of a program whose time under `assay run` is changed by this share."""
    direct = [1.0 + 0.001 * number for number in range(pairs)]
    return {
        programs.key(programs.PINGPONG, programs.DIRECT, "wall_s"): direct,
        programs.key(programs.PINGPONG, programs.RUN, "wall_s"): [
            value * (1.0 + change) for value in direct
        ],
    }


def verdicts(part: str, readings: dict[Key, list[float]], **more: Any) -> list[str]:
    """Return the verdicts of the targets of a part."""
    measured = Measured({part: document(part, readings, **more)})
    return [target.verdict for target in targets(measured)]


def test_wilson_interval_matches_published_example() -> None:
    low, high = Share(81, 263).wilson()
    assert (low, high) == pytest.approx((0.2553, 0.3662), abs=1e-4)


def test_newcombe_difference_matches_published_example() -> None:
    low, high = Share(56, 70).beyond(Share(48, 80))
    assert (low, high) == pytest.approx((0.0524, 0.3339), abs=1e-4)


def test_share_without_events_has_an_interval_around_zero() -> None:
    low, high = Share(0, 1000).beyond(Share(0, 1000))
    assert low < 0.0 < high < 0.005


@pytest.mark.parametrize(("change", "verdict"), [(0.03, "met"), (-0.03, "met"), (0.06, "missed")])
def test_program_target_follows_median_of_pairs(change: float, verdict: str) -> None:
    assert verdicts(programs.NAME, paired(change)) == [verdict]


def test_program_target_is_open_with_few_pairs() -> None:
    assert verdicts(programs.NAME, paired(0.0, pairs=9)) == ["open"]


def test_timed_target_is_open_on_busy_machine() -> None:
    busy = {**QUIET, "load_before": (3.0, 3.0, 3.0)}
    assert verdicts(programs.NAME, paired(0.5), load=busy) == ["open"]


def test_launches_far_off_are_counted_against_plain_spawn() -> None:
    case = timing.case_of(20)
    late = [0.12 if number % 10 == 0 else 0.02 for number in range(1000)]
    readings = {
        timing.key(case, timing.PLAIN): [0.02] * 1000,
        timing.key(case, timing.EXEC): [0.02] * 1000,
        timing.key(case, timing.WARM): late,
    }
    found = targets(Measured({timing.NAME: document(timing.NAME, readings)}))
    by_kind = {"bias" if "bias" in target.measure else "off": target for target in found}
    assert by_kind["bias"].verdict == "met", "the median is right"
    assert by_kind["off"].verdict == "missed", "a tenth of the launches is not"
    assert by_kind["off"].figure.startswith("100.0 against 0.0 of 1,000")


def test_page_says_which_column_was_not_measured(tmp_path: Path) -> None:
    save(tmp_path, Column.WITHOUT, programs.NAME, document(programs.NAME, paired(0.0)))
    text = page(load(tmp_path, PARTS))
    assert "| `programs` | " in text
    assert "No part was measured on a machine with hardware counters." in text
    lines = text.splitlines()
    head = next(line for line in lines if line.startswith("| measure | target | "))
    assert "measured without hardware counters" in head
    assert "measured with hardware counters" not in head
    row = next(line for line in lines if line.startswith("| wall time: pipe ping-pong"))
    assert row.endswith("| *met* |  |")


def test_missed_target_has_a_reason() -> None:
    measured = Measured({programs.NAME: document(programs.NAME, paired(0.06))})
    text = page({Column.WITHOUT: measured})
    row = next(line for line in text.splitlines() if line.startswith("| wall time: pipe ping-pong"))
    assert row.endswith("| *missed* | spread of single pairs |")
    assert "- *spread of single pairs*: " in text


@pytest.mark.parametrize(
    ("cycles", "column"),
    [({"ok": True}, Column.WITH), ({"ok": False}, Column.WITHOUT), ({}, Column.WITHOUT)],
)
def test_column_follows_whether_cycles_can_be_counted(
    cycles: dict[str, bool], column: Column
) -> None:
    assert column_of({"counters": {"cycles": cycles}}) is column
