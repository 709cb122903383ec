"""Driver of assay-noise: counters, requests and errors."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from assay.errors import InvalidInputError, NotPossibleError
from assay.machine.root import Root
from assay.noise.driver import (
    NoiseMeasurement,
    NoiseMeter,
    NoiseRequest,
    busiest_processes,
    find_noise,
    read_counters,
)
from assay.noise.summary import summarize_noise

STAT = "{pid} ({name}) R 1 1 1 0 -1 0 0 0 0 0 {user} {sys} 0 0 20 0 1 0 {born} 0 0" + " 0" * 14
TICKS = os.sysconf("SC_CLK_TCK")


def measure(path: Path) -> NoiseMeasurement:
    """Return the results of a complete run."""
    with NoiseMeter(path, REQUEST, os.environ) as meter:
        meter.wait()
        return meter.results()


def host(folder: Path, steal: int, switches: int, *processes: tuple[int, str, int, int]) -> Root:
    (folder / "proc").mkdir(parents=True)
    (folder / "proc/stat").write_text(
        "cpu  9 9 9 9 9 9 9 9 0 0\n"
        f"cpu0 1 0 0 0 0 0 0 {steal} 0 0\n"
        "cpu1 1 0 0 0 0 0 0 5 0 0\n"
        f"intr 1 2 3\nctxt {switches}\n"
    )
    for pid, name, busy, cpu in processes:
        (folder / f"proc/{pid}").mkdir()
        line = STAT.format(pid=pid, name=name, user=busy, sys=0, born=pid)
        (folder / f"proc/{pid}/stat").write_text(f"{line} {cpu} 0 0\n")
    return Root(folder)


def test_counters_and_busy_processes_are_read(tmp_path: Path) -> None:
    before = read_counters(
        host(tmp_path / "a", 10, 100, (7, "idle", 50, 0), (8, "a) b (", 10, 1), (9, "own", 0, 0))
    )
    after = read_counters(
        host(
            tmp_path / "b",
            10 + TICKS,
            160,
            (7, "idle", 50, 0),
            (8, "a) b (", 10 + TICKS, 1),
            (9, "own", 3 * TICKS, 0),
            (10, "new", 2 * TICKS, 0),
        )
    )
    assert after.steal_s[0] - before.steal_s[0] == pytest.approx(1.0)
    assert after.switches - before.switches == 60
    found = busiest_processes(before, after, {9})
    assert [(one.pid, one.name, one.cpu, one.busy_s) for one in found] == [
        (10, "new", 0, 2.0),
        (8, "a) b (", 1, 1.0),
    ]


def test_host_without_counters_has_none(tmp_path: Path) -> None:
    found = read_counters(Root(tmp_path))
    assert (found.steal_s, found.switches, found.busy) == ({}, 0, {})


def test_noise_program_is_beside_launcher_or_named(tmp_path: Path) -> None:
    for name in ("assay-exec", "assay-noise", "other"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    env = {"ASSAY_EXEC": str(tmp_path / "assay-exec")}
    assert find_noise(env) == tmp_path / "assay-noise"
    assert find_noise({**env, "ASSAY_NOISE": str(tmp_path / "other")}) == tmp_path / "other"
    (tmp_path / "assay-noise").unlink()
    with pytest.raises(NotPossibleError, match="missing or cannot be executed"):
        find_noise(env)


def program(folder: Path, script: str) -> Path:
    path = folder / "assay-noise"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


REQUEST = NoiseRequest("fwq", 0.5, (1, 2, 3, 7), 5e-4, 2e-6)


def test_request_reaches_program(tmp_path: Path) -> None:
    cpu = {"cpu": 1, "length_ns": 1000, "duration_ns": [5], "start_ns": [1], "later": "ignored"}
    document = json.dumps({"schema": 2, "method": "fwq", "cpus": [cpu, {"cpu": 2, "error": "x"}]})
    path = program(tmp_path, f"echo \"$@\" > {tmp_path}/words; echo '{document}'")
    found = measure(path)
    words = (tmp_path / "words").read_text().split()
    wanted = "fwq --cpus 1-3,7 --seconds 0.5 --quantum-us 500.000 --threshold-us 2.000"
    assert words == wanted.split()
    assert [one.cpu for one in found.run.measured] == [1]
    answer = summarize_noise([found], ())
    assert answer.source is found.run
    assert answer.histogram[0].low_ns == 4


@pytest.mark.parametrize(
    ("script", "error", "words"),
    [
        ("echo oops >&2; exit 2", NotPossibleError, "gave no report: oops"),
        ("kill -9 $$", NotPossibleError, "wait status -9"),
        ("echo '{'", InvalidInputError, "Invalid NoiseRun document"),
        ('printf \'{"method":"fwq"}\'', NotPossibleError, "gave no report"),
        ('echo \'{"method":"fwq"}\'', NotPossibleError, "has no results"),
        (
            'echo \'{"method":"fwq","cpus":[{"cpu":9,"error":"Invalid argument"}]}\'',
            InvalidInputError,
            "CPU 9 cannot be measured: Invalid argument",
        ),
    ],
)
def test_failing_program_is_reported(
    tmp_path: Path, script: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        measure(program(tmp_path, script))


def test_unstartable_program_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "assay-noise"
    path.write_bytes(b"\x7fELF no program")
    path.chmod(0o755)
    with pytest.raises(NotPossibleError, match="cannot be started"):
        measure(path)
