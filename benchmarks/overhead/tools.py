"""Whole commands of assay and its peers: run, timed, and their results read."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .native import run_quietly
from .peers import Peers
from .schedule import Unusable


@dataclass(frozen=True)
class Told:
    """What a tool told of its launches, and how long the whole command took."""

    took_s: float
    wall_s: tuple[float, ...] = ()
    memory_bytes: tuple[float, ...] = ()


def assay_measure(argv: Sequence[str], launches: int, folder: Path) -> Told:
    """``assay measure``: the whole command."""
    words = [*assay(), "measure", "-q", "--db", str(folder / "assay.db")]
    words += ["--runs", str(launches), "--precision", "0.0001%", "--", *argv]
    return Told(_timed(words))


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


def _document(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Unusable(f"its result cannot be read: {error}") from error
    return found
