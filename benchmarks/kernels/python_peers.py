"""Libraries for Python and the kernels, measured by the programs in ``peers``."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.records.codec import Record
from assay.workloads.kernels import Kernel

from .pieces import Piece

OPTIONS = {"kmeans": ("points", "centres"), "pca": ("n", "p"), "log-product": ("n",)}
"""Parameters of these programs, by kernel."""


class PythonPeer(Record, frozen=True, kw_only=True):
    """Times of libraries and of a kernel's variants, measured in alternating rounds.

    Attributes:
        kernel, case: piece of work.
        threads: number of threads of both sides.
        times: seconds of each round, by name.
    """

    kernel: str
    case: str
    threads: int
    times: dict[str, list[float]]

    def own(self, kernel: Kernel) -> str:
        """Return the name of the catalogue's fastest variant."""
        names = {one.variant for one in kernel.available if not one.library}
        return min((n for n in self.times if n in names), key=self.median_s)

    def libraries(self, kernel: Kernel) -> list[str]:
        """Return the names of the libraries for Python."""
        names = {one.variant for one in kernel.variants}
        return [name for name in self.times if name not in names]

    def median_s(self, name: str) -> float:
        """Return the median time of one way, in seconds."""
        return statistics.median(self.times[name])

    def ratio(self, library: str, own: str) -> float:
        """Return the time of a library divided by that of a variant, as the median over rounds."""
        pairs = zip(self.times[library], self.times[own], strict=True)
        return statistics.median(a / b for a, b in pairs)


def measured_peers(
    found: Sequence[Piece], python: Path, threads: Sequence[int], rounds: int
) -> list[PythonPeer]:
    """Measure the libraries of all pieces with a program.

    Args:
        found: pieces of work.
        python: interpreter of an environment with the libraries.
        threads: numbers of threads.
        rounds: number of rounds.
    """
    peers = []
    for piece in found:
        name = piece.kernel.kernel
        for count in threads if name in OPTIONS else ():
            print(f"Python: {name}, {piece.name}, {count} threads", file=sys.stderr, flush=True)
            times = _times(piece, python, count, rounds)
            if times:
                peers.append(PythonPeer(kernel=name, case=piece.name, threads=count, times=times))
    return peers


def _times(piece: Piece, python: Path, threads: int, rounds: int) -> dict[str, list[float]]:
    name = piece.kernel.kernel
    words: list[object] = [
        *(python, "-m", f"benchmarks.kernels.peers.{name.replace('-', '_')}", piece.program),
        *("--json", "--threads", threads, "--rounds", rounds),
        *(w for key in OPTIONS[name] for w in (f"--{key}", piece.kernel.parameters[key])),
    ]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = (done.stderr.splitlines() or ["no output"])[-1]
        print(f"{name}: libraries for Python not available ({reason})", file=sys.stderr, flush=True)
        return {}
    times: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {key: list(values) for key, values in times.items()}
