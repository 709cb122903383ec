"""Commands, timed from their spawn to the first moment of the program that they start."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.launch.driver import find_launcher
from benchmarks.overhead import tools
from benchmarks.overhead.native import run_quietly
from benchmarks.overhead.peers import Peers
from benchmarks.overhead.reading import Key, Reading

from .firsts import FIRST, Firsts

NAME = "start"
PROGRAM = "a program"
PLAIN = "plain spawn"
PYTHON = "Python interpreter of assay, then the program"
RUN = "assay run"
WITH = "assay run --with threads=1 nice=5"
FROM = "assay run --from STUDY"
AGAIN = f"{FROM} -- COMMAND"
PROSE = (PLAIN, PYTHON)
"""Names that are descriptions rather than commands."""
HELP = "help"
NAPS = "env.NAP=0.02,0.004"
"""Setting of a study, which always recommends the shorter time."""


def key(command: str, quantity: str = FIRST, case: str = PROGRAM) -> Key:
    """Return the key of a figure of this part."""
    return Key(NAME, case, command, quantity)


@dataclass(frozen=True)
class Stores:
    """Stores with one study each.

    Attributes:
        own: study of the program that records its first moment.
        other: study of another program; it recommends an environment variable.
    """

    own: str
    other: str


def prepare(folder: Path, program: Sequence[str]) -> Stores:
    """Run the studies and return their stores."""
    stores = Stores(str(folder / "own.db"), str(folder / "other.db"))
    tune = [*tools.assay(), "tune", "-q", "--runs", "60"]
    own = [*tune, "nice=0,5", "--db", stores.own, "--", *program]
    other = [*tune, NAPS, "--db", stores.other, "--", "/bin/sh", "-c", "sleep $NAP"]
    for words in (own, other):
        run_quietly(words, timeout_s=300.0)
    return stores


def visit(firsts: Firsts, peers: Peers, stores: Stores, launches: int) -> Iterable[Reading]:
    """Launch every command a few times and return the times."""
    yield from firsts.readings(NAME, PROGRAM, launches, _starting(firsts, peers, stores))
    yield from firsts.readings(NAME, HELP, launches, _helping(peers))


def _starting(firsts: Firsts, peers: Peers, stores: Stores) -> dict[str, list[str]]:
    assay, program = tools.assay(), firsts.noting
    found = {PLAIN: program}
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    if "taskset" in peers:
        found["taskset"] = [peers.path("taskset"), "-c", cpus, *program]
    if "numactl" in peers:
        found["numactl"] = [peers.path("numactl"), "--localalloc", *program]
    if "hyperfine" in peers:
        words = [peers.path("hyperfine"), "-N", "--style", "none", "--runs", "2"]
        found["hyperfine -N"] = [*words, " ".join(program)]
    found["assay-exec"] = [str(find_launcher(os.environ)), "--record", os.devnull, "--", *program]
    found[PYTHON] = [sys.executable, "-c", "import os, sys; os.execv(sys.argv[1], sys.argv[1:])"]
    found[PYTHON] += program
    found[RUN] = [*assay, "run", "--", *program]
    found[WITH] = [*assay, *WITH.split()[1:], "--", *program]
    found[FROM] = [*assay, "run", "--from", "last", "--db", stores.own]
    found[AGAIN] = [*assay, "run", "--from", "last", "--db", stores.other, "--", *program]
    return found


def _helping(peers: Peers) -> dict[str, list[str]]:
    assay = tools.assay()
    found = {
        "assay --version": [*assay, "--version"],
        "assay --help": [*assay, "--help"],
        "assay run --help": [*assay, "run", "--help"],
    }
    if "hyperfine" in peers:
        found["hyperfine --help"] = [peers.path("hyperfine"), "--help"]
    return found
