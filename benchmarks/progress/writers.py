"""Cost of records for the program: time of one call, and CPU time at 1,000 records a second."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import assay
from benchmarks.overhead.server import ROOT

BURST = 400
"""Records of one reading: fewer than the writer's burst, so that none is left out."""
PERIOD_S = 0.001
DRAIN_S = 0.05
"""Interval of the reader of assay, in seconds."""
CALLS = (
    "import os, sys, time\n"
    "import assay\n"
    "progress = assay.progress\n"
    "progress(step=0)\n"
    "for _ in range(int(sys.argv[1])):\n"
    "    start = time.process_time_ns()\n"
    "    for step in range({burst}):\n"
    "        progress(step=step, sps=310.25 + step)\n"
    "    print((time.process_time_ns() - start) / {burst})\n"
    "    time.sleep({pause})\n"
)


@contextlib.contextmanager
def channel() -> Iterator[dict[str, str]]:
    """Provide the variables of a FIFO that is drained as assay drains it: every 50 ms."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "progress"
        os.mkfifo(path, 0o600)
        fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        ended = threading.Event()

        def drain() -> None:
            while not ended.wait(DRAIN_S):
                with contextlib.suppress(BlockingIOError):
                    while os.read(fd, 1 << 16):
                        pass

        thread = threading.Thread(target=drain)
        thread.start()
        state = path.stat()
        try:
            yield {
                "ASSAY_PROGRESS_FD": "-1",
                "ASSAY_PROGRESS_INODE": f"{state.st_dev}:{state.st_ino}",
                "ASSAY_PROGRESS_PATH": str(path),
            }
        finally:
            ended.set()
            thread.join()
            os.close(fd)


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if "ASSAY_PROGRESS" not in name}
    return {**kept, "PYTHONPATH": str(ROOT / "src"), **variables}


def _readings(argv: Sequence[str | Path], variables: Mapping[str, str]) -> list[float]:
    out = subprocess.run(
        argv, stdout=subprocess.PIPE, text=True, check=True, env=_environment(variables)
    ).stdout
    return [float(line) for line in out.split()]


def calls(rounds: int) -> dict[str, float]:
    """Return the median CPU time of one call, in microseconds.

    Args:
        rounds: number of readings, of 400 calls each.
    """
    with tempfile.TemporaryDirectory() as name, channel() as variables:
        program = Path(name) / "record"
        source = Path(__file__).with_name("record.c")
        include = f"-I{assay.get_include()}"
        subprocess.run(["cc", "-O2", include, source, "-o", program], check=True)
        listening = CALLS.format(burst=BURST, pause=0.5)
        ignored = CALLS.format(burst=50 * BURST, pause=0)
        found = {
            "python": _readings([sys.executable, "-c", listening, str(rounds)], variables),
            "python, without assay": _readings([sys.executable, "-c", ignored, str(rounds)], {}),
            "c": _readings([program, str(rounds)], variables),
            "c, without assay": _readings([program, str(rounds)], {}),
        }
    return {what: statistics.median(times) / 1000 for what, times in found.items()}


def _used_s(how: str, records: int) -> float:
    """Return the CPU time of the program of the benchmark, in seconds."""
    argv = [sys.executable, "-m", "benchmarks.progress.reporter", how, str(records), str(PERIOD_S)]
    with channel() as variables:
        environment = _environment(variables if how == "records" else {})
        environment["PYTHONPATH"] += f":{ROOT}"
        options: dict[str, Any] = {"env": environment, "stderr": subprocess.PIPE, "text": True}
        if how != "lines":
            return float(subprocess.run(argv, check=True, **options).stderr)
        with subprocess.Popen(argv, stdout=subprocess.PIPE, **options) as program:
            reader = subprocess.Popen(
                ["cat"], stdin=program.stdout, stdout=subprocess.DEVNULL, env=environment
            )
            assert program.stdout is not None
            assert program.stderr is not None
            program.stdout.close()
            used = float(program.stderr.read())
        reader.wait()
    return used


def at_1000_per_s(rounds: int, seconds: float) -> dict[str, float]:
    """Return the share of a core of each kind of program, in per cent; medians.

    The programs of a round run one after the other, in alternating order.

    Args:
        rounds: number of runs of each kind.
        seconds: length of a run.
    """
    kinds = ["silent", "lines", "records"]
    used: dict[str, list[float]] = {kind: [] for kind in kinds}
    for number in range(rounds):
        for kind in kinds if number % 2 == 0 else reversed(kinds):
            used[kind].append(_used_s(kind, round(seconds / PERIOD_S)) / seconds * 100)
    shares = {kind: statistics.median(readings) for kind, readings in used.items()}
    differences = [
        records - lines for records, lines in zip(used["records"], used["lines"], strict=True)
    ]
    return {**shares, "records beyond lines": statistics.median(differences)}
