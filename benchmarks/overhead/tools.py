"""Whole commands of assay and its peers: run, timed, and their results read."""

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
class Told:
    """Report of a tool on its launches, and the duration of the whole command."""

    took_s: float
    wall_s: tuple[float, ...] = ()
    memory_bytes: tuple[float, ...] = ()


def assay_measure(argv: Sequence[str], launches: int, folder: Path) -> Told:
    """``assay measure``: the whole command."""
    words = [*assay(), "measure", "-q", "--db", str(folder / "assay.db")]
    words += ["--runs", str(launches), "--precision", "0.0001%", "--", *argv]
    return Told(_timed(words))


def measured(argv: Sequence[str], launches: int, folder: Path) -> list[dict[str, Any]]:
    """Return the samples of ``assay measure``, in order, of the launches that count.

    Args:
        argv: the command.
        launches: that count; one more, the first of all, warms up.
        folder: for the store.
    """
    words = [*assay(), "measure", "-q", "--json", "--db", str(folder / "assay.db")]
    words += ["--runs", str(launches + 1), "--warmup", "0", "--precision", "0.0001%"]
    document = _answer([*words, "--", *argv])
    samples = [one for one in document["samples"] if one["launch"]["stage"] == "confirm"]
    if any(sample["outcome"] != "ok" for sample in samples):
        raise Unusable("a launch of assay measure failed")
    return samples


def recommending(folder: Path) -> str:
    """Make a study that recommends a variable of the environment; return the store it is in."""
    store = str(folder / "recommending.db")
    words = [*assay(), "tune", "-q", "--runs", "60", "env.NAP=0.02,0.004", "--db", store]
    run_quietly([*words, "--", "/bin/sh", "-c", "sleep $NAP"], timeout_s=300.0)
    return store


def assay() -> list[str]:
    """The command line of this installation."""
    return [sys.executable, "-m", "assay"]


def hyperfine(peers: Peers, argv: Sequence[str], launches: int, folder: Path) -> Told:
    """``hyperfine -N``; versions from 1.20 on tell memory as well."""
    out = folder / "hyperfine.json"
    words = [peers.path("hyperfine"), "-N", "--style", "none", "--export-json", str(out)]
    took_s = _timed([*words, "--runs", str(launches), shlex.join(argv)])
    result = _document(out)["results"][0]
    return Told(took_s, tuple(result["times"]), tuple(result.get("memory_usage_byte", ())))


def perf_stat(peers: Peers, argv: Sequence[str], launches: int, folder: Path) -> list[float]:
    """``perf stat`` as it is: the seconds that it says elapsed, one command for each launch."""
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
) -> Told:
    """``pyperf command``, one launch a value; with ``memory`` the values are bytes."""
    out = folder / "pyperf.json"
    out.unlink(missing_ok=True)
    words = [peers.path("pyperf"), "command", "--quiet", "-p", "1", "-w", "0", "-l", "1"]
    words += ["-n", str(launches), "-o", str(out), *(["--track-memory"] if memory else [])]
    took_s = _timed([*words, "--", *argv])
    values = tuple(v for run in _document(out)["benchmarks"][0]["runs"] for v in run["values"])
    return Told(took_s, memory_bytes=values) if memory else Told(took_s, values)


def runexec(peers: Peers, argv: Sequence[str], folder: Path, *, container: bool) -> Told:
    """BenchExec's ``runexec``: one run a command."""
    words = [*runexec_words(peers, folder, container=container), "--", *argv]
    return Told(_timed(words))


def runexec_words(peers: Peers, folder: Path, *, container: bool) -> list[str]:
    """Its command up to the program's; a container may write in ``folder`` alone."""
    words = [peers.path("BenchExec"), "--quiet", "--output", str(folder / "runexec.log")]
    if container:
        # It hides /tmp, where this process may stand.
        words += ["--dir", str(folder), "--full-access-dir", str(folder)]
        return [*words, "--container", "--read-only-dir", "/"]
    return [*words, "--no-container"]


def rebench(peers: Peers, argv: Sequence[str], launches: int, folder: Path) -> Told:
    """ReBench with GNU time; it tells time in steps of 10 ms."""
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
    file.write_text(json.dumps(configuration))  # YAML holds JSON
    return Told(_timed([peers.path("ReBench"), "-c", "-D", str(file)]))


def gnu_time(peers: Peers, argv: Sequence[str], folder: Path) -> Told:
    """GNU time: the highest resident size of one process, as wait4 tells it."""
    out = folder / "time"
    words = [peers.path("GNU time"), "-f", "%M", "-o", str(out), *argv]
    return Told(_timed(words), memory_bytes=(float(int(out.read_text()) << 10),))


def _timed(words: Sequence[str]) -> float:
    began = time.perf_counter()
    run_quietly(words)
    return time.perf_counter() - began


def _answer(words: Sequence[str]) -> dict[str, Any]:
    """Run a command that answers by one JSON document."""
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
        raise Unusable(f"its result cannot be read: {error}") from error
    return found
