"""Reports of tools on programs that use a known amount of memory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from . import tools
from .bench import BALLAST_MIB, Bench
from .native import TIMEOUT_S
from .reading import Key, Reading
from .schedule import Unusable, Visit
from .server import ROOT, Server

NAME = "memory"
FILE_MIB = 400
ASSAY = "assay"
LARGE = f"assay, itself {BALLAST_MIB} MiB"
WAIT4 = f"wait4 in Python, itself {BALLAST_MIB} MiB"


def key(case: str, tool: str, quantity: str) -> Key:
    """Return the key of a figure of this part."""
    return Key(NAME, case, tool, quantity)


@dataclass(frozen=True)
class Case:
    """Program whose memory is known.

    Attributes:
        name: description.
        words: arguments of `touch`.
        anonymous_mib: peak without files.
        charged_mib: peak with the page cache that the program fills.
    """

    name: str
    words: tuple[str, ...]
    anonymous_mib: int
    charged_mib: int


CASES = (
    Case("holds 10 MiB", ("hold", "10", "100"), 10, 10),
    Case("holds 100 MiB", ("hold", "100", "100"), 100, 100),
    Case("holds 500 MiB", ("hold", "500", "100"), 500, 500),
    Case("touches 100 MiB and ends at once", ("hold", "100", "0"), 100, 100),
    Case("four processes, 50 MiB each", ("tree", "4", "50", "100"), 200, 200),
    Case("holds 200 MiB, frees them", ("free", "200", "100", "100"), 200, 200),
    Case("touches 200 MiB, frees them at once", ("free", "200", "0", "100"), 200, 200),
    Case(f"maps {FILE_MIB} MiB of a file, cold", ("file",), 0, FILE_MIB),
)


def visits(bench: Bench) -> list[Visit]:
    """Return all visits of this part, each with one launch."""
    file = bench.folder / "cold"
    return [
        Visit(case.name, tool, _visit(tool, case, measure, bench, file), bench.scale.seldom)
        for number, case in enumerate(CASES)
        for tool, measure in _tools(bench).items()
        if bench.wanted(tool, number)
    ]


Measured = Callable[[list[str]], dict[str, float]]
"""Function from a command to its memory in bytes, by quantity."""


def _visit(
    tool: str, case: Case, measure: Measured, bench: Bench, file: Path
) -> Callable[[], Iterable[Reading]]:
    def readings() -> Iterable[Reading]:
        words = [bench.programs.touch, *case.words]
        if case.words == ("file",):
            _make_cold(file)
            words.append(str(file))
        for quantity, value in measure(words).items():
            yield Reading(key(case.name, tool, quantity), value)

    return readings


def _make_cold(file: Path) -> None:
    """Create the file if it is missing, and drop it from the page cache."""
    if not file.exists():
        with file.open("wb") as stream:
            for _ in range(FILE_MIB):
                stream.write(bytes(1 << 20))
    with file.open("rb") as stream:
        os.fsync(stream.fileno())  # dirty pages cannot be dropped
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _tools(bench: Bench) -> dict[str, Measured]:
    folder, peers, benchexec = bench.folder, bench.peers, bench.benchexec
    found: dict[str, Measured] = {
        ASSAY: lambda argv: _assay(bench.assay, argv),
        LARGE: lambda argv: _assay(bench.large, argv),
        WAIT4: _wait4,
    }
    if benchexec is not None:
        found["BenchExec"] = lambda argv: _charge(
            benchexec.ask(job="runs", argv=argv, launches=1, container=False)["memory_bytes"]
        )
    if "GNU time" in peers:
        found["GNU time"] = lambda argv: _resident(tools.gnu_time(peers, argv, folder))
    if "pyperf" in peers:
        found["pyperf"] = lambda argv: _resident(tools.pyperf(peers, argv, 2, folder, memory=True))
    if "hyperfine" in peers:
        found["hyperfine"] = lambda argv: _resident(tools.hyperfine(peers, argv, 2, folder))
    return found


def _assay(server: Server, argv: list[str]) -> dict[str, float]:
    answer = server.ask(job="launch", argv=argv)
    wanted = {"anonymous_bytes": "peak_anon_bytes", "charged_bytes": "peak_bytes"}
    return {name: answer[key] for name, key in wanted.items() if answer[key] is not None}


def _charge(memory_bytes: list[float | None]) -> dict[str, float]:
    """Return the peak of a control group; BenchExec reports none without such a group."""
    return {"charged_bytes": max(known)} if (known := [m for m in memory_bytes if m]) else {}


def _resident(report: tools.Report) -> dict[str, float]:
    """Return the peak of one process; none for tools that report no memory."""
    return {"resident_bytes": max(report.memory_bytes)} if report.memory_bytes else {}


def _wait4(argv: list[str]) -> dict[str, float]:
    words = [sys.executable, "-m", "benchmarks.overhead.ballast", str(BALLAST_MIB), "wait4", *argv]
    answer = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S)
    if answer.returncode != 0:
        raise Unusable(f"status {answer.returncode}")
    return {"resident_bytes": float(answer.stdout)}
