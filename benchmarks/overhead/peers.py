"""Peers: the other tools, where they are."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Peer:
    """A tool that is here."""

    name: str
    path: str
    version: str


VERSION_OF = {
    "taskset": ("taskset", "--version"),
    "numactl": ("numactl", "--version"),
    "timeout": ("timeout", "--version"),
    "GNU time": ("time", "--version"),
    "hyperfine": ("hyperfine", "--version"),
    "perf stat": ("perf", "--version"),
    "PostgreSQL": ("pgbench", "--version"),
    "pyperf": ("pyperf", "--version"),
    "BenchExec": ("runexec", "--version"),
    "ReBench": ("rebench", "--version"),
}
"""Program of each, and the option that makes it tell its version."""


@dataclass(frozen=True)
class Peers:
    """Peers found, by name."""

    found: dict[str, Peer]

    def __contains__(self, name: str) -> bool:
        return name in self.found

    def path(self, name: str) -> str:
        """Return the path of its program."""
        return self.found[name].path

    def python(self, name: str) -> str:
        """The interpreter of the virtual environment that a tool lies in."""
        return str(Path(self.path(name)).parent / "python3")

    def without(self, name: str) -> Peers:
        """The same, but for one that does not work here."""
        return Peers({other: peer for other, peer in self.found.items() if other != name})

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of those that are not here."""
        return tuple(name for name in VERSION_OF if name not in self.found)


def find_peers(folder: Path) -> Peers:
    """Look in the programs of a virtual environment, then along the path."""
    path = os.pathsep.join((str(folder / "bin"), os.environ.get("PATH", os.defpath)))
    found = {}
    for name, (program, option) in VERSION_OF.items():
        where = shutil.which(program, path=path)
        if where is not None:
            found[name] = Peer(name, str(Path(where).absolute()), _version(where, option))
    return Peers(found)


def _version(path: str, option: str) -> str:
    """Return the version that it prints, else that of pip; numactl prints none before 2.0.17."""
    beside = Path(path).parent / "python3"
    asked = f"import importlib.metadata as m; print(m.version({Path(path).name!r}))"
    for words in ([path, option], [str(beside), "-c", asked]):
        try:
            answer = subprocess.run(
                words, capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        match = re.search(r"\d+(\.\d+)+", answer.stdout + answer.stderr)
        if match and answer.returncode == 0:
            return match[0]
    return ""
