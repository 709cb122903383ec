"""Whole commands of assay and other tools: their times and results."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .native import TIMEOUT_S, run_quietly
from .peers import Peers
from .schedule import Unusable


@dataclass(frozen=True)
class Report:
    """Report of a tool on its launches, and the duration of the whole command."""

    took_s: float
    wall_s: tuple[float, ...] = ()
    memory_bytes: tuple[float, ...] = ()


def assay_measure(argv: Sequence[str], launches: int, folder: Path) -> Report:
    """Time the whole command ``assay measure``."""
    words = [*assay(), "measure", "-q", "--db", str(folder / "assay.db")]
    words += ["--runs", str(launches), "--precision", "0.0001%", "--", *argv]
    return Report(_timed(words))


def measured(argv: Sequence[str], launches: int, folder: Path) -> list[dict[str, Any]]:
    """Return the samples of the counted launches of ``assay measure``, in order.

    Args:
        argv: command to measure.
        launches: number of counted launches; a warm-up precedes them.
        folder: folder for the store.
    """
    words = [*assay(), "measure", "-q", "--json", "--db", str(folder / "assay.db")]
    words += ["--runs", str(launches + 1), "--warmup", "0", "--precision", "0.0001%"]
    document = _answer([*words, "--", *argv])
    samples = [one for one in document["samples"] if one["launch"]["stage"] == "confirm"]
    if any(sample["outcome"] != "ok" for sample in samples):
        raise Unusable("a launch of assay measure failed")
    return samples


def recommending(folder: Path) -> str:
    """Make a study that recommends an environment variable; return its store."""
    store = str(folder / "recommending.db")
    words = [*assay(), "tune", "-q", "--runs", "60", "env.NAP=0.02,0.004", "--db", store]
    run_quietly([*words, "--", "/bin/sh", "-c", "sleep $NAP"], timeout_s=300.0)
    return store


def assay() -> list[str]:
    """Return the command of this installation."""
    return [sys.executable, "-m", "assay"]


def hyperfine(peers: Peers, argv: Sequence[str], launches: int, folder: Path) -> Report:
    """Run ``hyperfine -N``; versions from 1.20 on also report memory."""
    out = folder / "hyperfine.json"
    words = [peers.path("hyperfine"), "-N", "--style", "none", "--export-json", str(out)]
    took_s = _timed([*words, "--runs", str(launches), shlex.join(argv)])
    result = _document(out)["results"][0]
    return Report(took_s, tuple(result["times"]), tuple(result.get("memory_usage_byte", ())))


def perf_stat(peers: Peers, argv: Sequence[str], launches: int, folder: Path) -> list[float]:
    """Return the elapsed seconds that ``perf stat`` reports, one command for each launch."""
    out = folder / "perf.txt"
    found = []
    for _ in range(launches):
        run_quietly([peers.path("perf stat"), "stat", "-o", str(out), "--", *argv])
        match = re.search(r"([0-9.]+) seconds time elapsed", out.read_text())
        if match is None:
            raise Unusable("perf stat does not say how long it took")
        found.append(float(match[1]))
    return found


def pyperf(
    peers: Peers, argv: Sequence[str], launches: int, folder: Path, *, memory: bool = False
) -> Report:
    """Run ``pyperf command`` with one launch per value; with ``memory`` the values are bytes."""
    out = folder / "pyperf.json"
    out.unlink(missing_ok=True)
    words = [peers.path("pyperf"), "command", "--quiet", "-p", "1", "-w", "0", "-l", "1"]
    words += ["-n", str(launches), "-o", str(out), *(["--track-memory"] if memory else [])]
    took_s = _timed([*words, "--", *argv])
    values = tuple(v for run in _document(out)["benchmarks"][0]["runs"] for v in run["values"])
    return Report(took_s, memory_bytes=values) if memory else Report(took_s, values)


def runexec(peers: Peers, argv: Sequence[str], folder: Path, *, container: bool) -> Report:
    """Run BenchExec's ``runexec``, with one run per command."""
    words = [*runexec_words(peers, folder, container=container), "--", *argv]
    return Report(_timed(words))


def runexec_words(peers: Peers, folder: Path, *, container: bool) -> list[str]:
    """Return the command up to the program; a container may write to ``folder`` only."""
    words = [peers.path("BenchExec"), "--quiet", "--output", str(folder / "runexec.log")]
    if container:
        # The container hides /tmp, which may be the working directory.
        words += ["--dir", str(folder), "--full-access-dir", str(folder)]
        return [*words, "--container", "--read-only-dir", "/"]
    return [*words, "--no-container"]


def rebench(peers: Peers, argv: Sequence[str], launches: int, folder: Path) -> Report:
    """Run ReBench with GNU time, which reports time in steps of 10 ms."""
    program = Path(argv[0])
    suite = {
        "gauge_adapter": "Time",
        "command": shlex.join(argv[1:]),
        "invocations": launches,
        "benchmarks": ["true"],
    }
    configuration = {
        "default_experiment": "Bench",
        "default_data_file": str(folder / "rebench.data"),
        "benchmark_suites": {"Suite": suite},
        "executors": {"Program": {"path": str(program.parent), "executable": program.name}},
        "experiments": {"Bench": {"suites": ["Suite"], "executions": ["Program"]}},
    }
    file = folder / "rebench.conf"
    file.write_text(json.dumps(configuration))  # YAML includes JSON
    return Report(_timed([peers.path("ReBench"), "-c", "-D", str(file)]))


def gnu_time(peers: Peers, argv: Sequence[str], folder: Path) -> Report:
    """Return the largest resident size of one process that GNU time reports, as wait4 does."""
    out = folder / "time"
    words = [peers.path("GNU time"), "-f", "%M", "-o", str(out), *argv]
    return Report(_timed(words), memory_bytes=(float(int(out.read_text()) << 10),))


def _timed(words: Sequence[str]) -> float:
    began = time.perf_counter()
    run_quietly(words)
    return time.perf_counter() - began


def _answer(words: Sequence[str]) -> dict[str, Any]:
    """Run a command and return its output, one JSON document."""
    answer = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False
    )
    if answer.returncode != 0:
        last = answer.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise Unusable(f"status {answer.returncode}: {' '.join(last)}")
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def _document(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Unusable(f"cannot read its result: {error}") from error
    return found
