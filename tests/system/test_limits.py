"""Limits of a whole tree, in every kind of containment that this host has.

Every single process of a program stays below the limit; only the whole tree exceeds it. The record
names the exceeded limit; the benchmarks measure the delay.
"""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from launching import MIB, Launcher, Record
from marks import MARK, end_marked, gone

from rotation import others_in_turns

SOON_S = 15
"""Time limit well below the natural end of the programs, in seconds."""

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture(
    params=[
        pytest.param("own", marks=[pytest.mark.system, root_only]),
        pytest.param("v1", marks=[pytest.mark.system, root_only]),
        pytest.param("v2", marks=[pytest.mark.system, root_only]),
        "none",
    ]
)
def held(request: pytest.FixtureRequest) -> Record:
    """Provide the keys of each kind of containment."""
    if request.param == "none":
        return {"containment": "none"}
    keys: Record = {"containment": "cgroup"}
    if request.param != "own":
        keys["cgroup_root"] = request.getfixturevalue(f"{request.param}_root")
    return keys


class Limited:
    """Launches `burden` under limits, and checks that all of it ends."""

    def __init__(self, launcher: Launcher, programs: Path, held: Record) -> None:
        self._launcher = launcher
        self._program = programs / "burden"
        self._held = held
        self._mark = uuid.uuid4().hex

    def __call__(self, how: str, number: int, limits: Record, **keys: Any) -> Record:
        record = self._launcher.run(
            [self._program, how, number],
            limits=limits,
            env_set={MARK: self._mark},
            **self._held,
            **keys,
        )
        left = gone(self._mark)
        end_marked(self._mark)
        assert not left
        assert "surviving_processes" not in record["containment"]
        return record


@pytest.fixture
def limited(launcher: Launcher, programs: Path, held: Record) -> Iterator[Limited]:
    yield Limited(launcher, programs, held)


@pytest.fixture
def outputs(tmp_path: Path) -> Record:
    return {"stdout": str(tmp_path / "out"), "stderr": str(tmp_path / "err")}


def assert_ended_by(limit: str, record: Record) -> None:
    assert (record["outcome"], record["limit"]) == ("limit", limit)
    assert record["wall_s"] < SOON_S


def test_memory_limit_covers_many_children(limited: Limited) -> None:
    """Twelve hold 8 MiB each."""
    record = limited("memory", 12, {"memory_bytes": 64 * MIB})
    assert_ended_by("memory", record)


def test_process_limit_covers_many_parents(limited: Limited) -> None:
    """Three generations, none of which is large."""
    record = limited("families", 8, {"pids": 12})
    assert_ended_by("processes", record)


def test_process_limit_holds_for_program_that_ignores_failed_forks(limited: Limited) -> None:
    """It continues with fewer children, and is ended even so."""
    record = limited("forks", 40, {"pids": 12})
    assert record["outcome"] in ("limit", "exited")
    if record["outcome"] == "limit":
        assert record["limit"] == "processes"
    else:  # it ended before the first sample
        assert record["containment"]["remaining_processes"] > 0


@pytest.mark.parametrize("how", others_in_turns("orphans", "spin"))
def test_cpu_time_limit_covers_short_processes(limited: Limited, how: str) -> None:
    """Each spins for 20 ms; its parent waits for it or does not."""
    record = limited(how, 200, {"cpu_s": 0.4})
    assert_ended_by("cpu", record)
    assert record["user_s"] + record["sys_s"] >= 0.3


def test_output_limit_covers_many_writers(limited: Limited, outputs: Record) -> None:
    """Five write to both files."""
    record = limited("chatter", 5, {"output_bytes": MIB}, **outputs)
    assert_ended_by("output", record)
    sizes = [Path(path).stat().st_size for path in outputs.values()]
    assert MIB < sum(sizes) < 64 * MIB
    assert min(sizes) > 0


def test_time_limit_covers_tree(limited: Limited) -> None:
    record = limited("families", 8, {}, timeout_s=0.3)
    assert (record["outcome"], record["signal"]) == ("timed_out", signal.SIGKILL)
    assert 0.3 <= record["wall_s"] < SOON_S
    assert "limit" not in record


ROOMY: Record = {"memory_bytes": 512 * MIB, "pids": 300, "cpu_s": 20, "output_bytes": 64 * MIB}


@pytest.mark.parametrize(
    ("limit", "how", "number", "tight"),
    [
        ("memory", "memory", 12, {"memory_bytes": 64 * MIB}),
        ("processes", "families", 8, {"pids": 12}),
        ("cpu", "spin", 200, {"cpu_s": 0.2}),
        ("output", "chatter", 5, {"output_bytes": MIB}),
    ],
)
def test_exceeded_limit_is_named(
    limited: Limited, outputs: Record, limit: str, how: str, number: int, tight: Record
) -> None:
    record = limited(how, number, ROOMY | tight, **outputs)
    assert_ended_by(limit, record)


def test_program_within_limits_is_not_ended(limited: Limited, outputs: Record) -> None:
    record = limited("spin", 5, ROOMY, **outputs)
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    assert "limit" not in record


def test_remaining_children_within_limits_are_not_limit_violations(limited: Limited) -> None:
    record = limited("forks", 5, {"pids": 100, "cpu_s": 20})
    assert (record["outcome"], record["exit_status"]) == ("exited", 0)
    assert record["containment"]["remaining_processes"] == 5
