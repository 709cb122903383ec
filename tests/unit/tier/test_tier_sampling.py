"""Work of the processes of a session, from proc(5) and the counters of their pagers."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.tier import sampling
from assay.tier.counts import Counts
from assay.tier.meter import Meter
from assay.tier.prediction import ActivitySnapshot

SESSION = 40
TICKS = os.sysconf("SC_CLK_TCK")


def stat(pid: int, session: int, user_s: float, kernel_s: float = 0.0) -> str:
    """Return a line of proc_pid_stat(5) with a program name that is hard to parse."""
    before = ["S", "1", "1", str(session), *["0"] * 7]
    times = [str(int(one * TICKS)) for one in (user_s, kernel_s)]
    after = ["0", "0", "20", "0", "1", "0", "7"]  # up to the start time
    return " ".join([str(pid), "(a) (b c)", *before, *times, *after])


def process(proc: Path, pid: int, session: int, user_s: float, pager_s: float = 0.0) -> None:
    """Process with two threads, one of them a pager thread; ``user_s`` covers both."""
    threads = {pid: ("app", user_s - pager_s), pid + 1: ("assay-tier", pager_s)}
    for thread, (name, thread_s) in threads.items():
        folder = proc / f"{pid}/task/{thread}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "comm").write_text(f"{name}\n")
        (folder / "stat").write_text(stat(thread, session, thread_s))
    (proc / f"{pid}/stat").write_text(stat(pid, session, user_s, kernel_s=1.0))


def meter(pid: int, **more: float) -> Meter:
    counts: dict[str, Any] = {
        **dict.fromkeys(Counts.__struct_fields__, 0),
        "zero_fill_faults": 1,
        **more,
    }
    return Meter(
        pid=pid,
        command="app",
        dram_bytes=1 << 30,
        chunk_bytes=2 << 20,
        mechanism="pager",
        regions=(),
        counts=Counts(**counts),
    )


Looking = Callable[[list[list[Meter]]], list[ActivitySnapshot]]


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Looking:
    """Return the samples of a sequence of pager states, until the program ends."""

    def looks(shown: list[list[Meter]]) -> list[ActivitySnapshot]:
        left = list(shown)
        monkeypatch.setattr(sampling, "read_meters", lambda proc: left.pop(0))
        return list(sampling.sample_session(SESSION, 60.0, lambda: bool(left), tmp_path))

    monkeypatch.setattr(sampling.time, "sleep", lambda _: None)
    return looks


def test_work_excludes_pager_threads(tmp_path: Path, looked: Looking) -> None:
    process(tmp_path, 40, SESSION, user_s=5.0, pager_s=2.0)
    (one,) = looked([[meter(40, demand_faults=3, read_bytes=4096, stall_s=0.5)]])
    assert one.cpu_s == pytest.approx(5.0 - 2.0 + 1.0)
    assert (one.zero_fill_faults, one.demand_faults, one.read_bytes, one.stall_s) == (
        1,
        3,
        4096,
        0.5,
    )


def test_sessions_processes_are_summed(tmp_path: Path, looked: Looking) -> None:
    process(tmp_path, 40, SESSION, user_s=1.0)
    process(tmp_path, 50, SESSION, user_s=2.0)
    process(tmp_path, 60, 60, user_s=4.0)
    (one,) = looked(
        [
            [
                meter(40, in_flight_faults=1),
                meter(50, in_flight_faults=2),
                meter(60, in_flight_faults=4),
            ]
        ]
    )
    assert one.in_flight_faults == 3
    assert one.cpu_s == pytest.approx(1.0 + 2.0 + 2 * 1.0)


def test_first_sample_has_large_memory(tmp_path: Path, looked: Looking) -> None:
    process(tmp_path, 40, SESSION, user_s=1.0)
    seen = looked(
        [[], [meter(40, zero_fill_faults=0)], [meter(40)], [meter(40, zero_fill_faults=5)]]
    )
    assert [one.zero_fill_faults for one in seen] == [1, 5]
    assert seen[0].at_s <= seen[1].at_s


def test_ended_process_keeps_its_work(tmp_path: Path, looked: Looking) -> None:
    process(tmp_path, 40, SESSION, user_s=1.0)
    process(tmp_path, 50, SESSION, user_s=2.0)
    both = [meter(40, prefetch_hits=1), meter(50, prefetch_hits=2)]
    seen = looked([both, [meter(40, prefetch_hits=4)]])
    assert [one.prefetch_hits for one in seen] == [3, 6]
    assert seen[1].cpu_s == seen[0].cpu_s


def test_vanished_process_is_skipped(tmp_path: Path, looked: Looking) -> None:
    assert looked([[meter(40)]]) == []


def test_sampling_ends_at_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process(tmp_path, 40, SESSION, user_s=1.0)
    monkeypatch.setattr(sampling, "read_meters", lambda proc: [meter(40)])
    slept = [0.0]
    monkeypatch.setattr(sampling.time, "monotonic", lambda: sum(slept))
    monkeypatch.setattr(sampling.time, "sleep", slept.append)
    looks = list(sampling.sample_session(SESSION, 1.0, lambda: True, tmp_path))
    assert [one.at_s for one in looks] == [pytest.approx(n / 8) for n in range(8)]


def test_process_ending_during_sample_keeps_last_values(tmp_path: Path, looked: Looking) -> None:
    process(tmp_path, 40, SESSION, user_s=1.0)
    seen = looked(
        [[meter(40, prefetch_hits=1)], [meter(40, prefetch_hits=4), meter(50, prefetch_hits=9)]]
    )
    assert [one.prefetch_hits for one in seen] == [1, 4]
