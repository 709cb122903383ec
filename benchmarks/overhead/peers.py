"""Other tools that assay is compared with."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Peer:
    """Installed tool."""

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
"""Program of each tool, and the option that prints its version."""


@dataclass(frozen=True)
class Peers:
    """Installed tools by name."""

    found: dict[str, Peer]

    def __contains__(self, name: str) -> bool:
        return name in self.found

    def path(self, name: str) -> str:
        """Return the path of a tool's program."""
        return self.found[name].path

    def python(self, name: str) -> str:
        """Return the interpreter of the virtual environment of a tool."""
        return str(Path(self.path(name)).parent / "python3")

    def without(self, name: str) -> Peers:
        """Return the tools without one that does not work here."""
        return Peers({other: peer for other, peer in self.found.items() if other != name})

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of missing tools."""
        return tuple(name for name in VERSION_OF if name not in self.found)


def find_peers(folder: Path) -> Peers:
    """Return the tools in a virtual environment, then those on the path."""
    path = os.pathsep.join((str(folder / "bin"), os.environ.get("PATH", os.defpath)))
    found = {}
    for name, (program, option) in VERSION_OF.items():
        where = shutil.which(program, path=path)
        if where is not None:
            found[name] = Peer(name, str(Path(where).absolute()), _version(where, option))
    return Peers(found)


def _version(path: str, option: str) -> str:
    """Return the version that a tool prints, or that of pip (numactl prints none before 2.0.17)."""
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
