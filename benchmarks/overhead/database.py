"""PostgreSQL and pgbench, server and client together, directly and under assay.

The program reads CPU time and context switches from its children, in the same way directly and
under assay. pgbench reports the throughput.
"""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path

from . import pgload, tools
from .bench import Bench
from .native import run_quietly
from .pgload import USER, pgbench, program, server, user_of
from .reading import Key, Reading
from .schedule import Unusable, Visit

NAME = "database"
ROUNDS = 15
CASE = "pgbench"
DIRECT = "directly"
UNDER = ("assay run", "assay measure")
QUANTITIES = ("cpu_s", "switches", "transactions_per_s")
CLIENTS = 4
OWNERS = ("postgres", "nobody")
"""Unprivileged users, for a benchmark that root starts."""


def key(tool: str, quantity: str) -> Key:
    """Return the key of a figure; all but the throughput are per transaction."""
    return Key(NAME, CASE, tool, quantity)


def visits(bench: Bench) -> list[Visit]:
    """Return all visits of this part; none if PostgreSQL is missing."""
    if program("postgres") is None or program("initdb") is None or program("pgbench") is None:
        return []
    folder = cache(lambda: _prepare(bench.folder / "database", bench.scale.accounts))
    return [Visit(CASE, way, partial(_readings, bench, folder, way)) for way in (DIRECT, *UNDER)]


def _prepare(folder: Path, accounts: int) -> Path:
    """Create a database; its owner may enter the folder above."""
    folder.mkdir()
    for owner in OWNERS if os.geteuid() == 0 else ():
        try:
            found = pwd.getpwnam(owner)
        except KeyError:
            continue
        os.chown(folder, found.pw_uid, found.pw_gid)
        folder.parent.chmod(0o711)
        break
    words = [str(program("initdb")), "-D", str(folder), "-U", USER, "--auth", "trust"]
    answer = subprocess.run(
        [*words, "--no-sync"], capture_output=True, text=True, check=False, **user_of(folder)
    )
    if answer.returncode != 0:
        raise Unusable(f"initdb: {answer.stderr.strip()}")
    with server(folder):
        pgbench(folder, "-i", "-q", "-s", str(accounts))
    return folder


def _readings(bench: Bench, prepared: Callable[[], Path], way: str) -> Iterable[Reading]:
    folder, out = prepared(), bench.folder / "pgload.json"
    out.unlink(missing_ok=True)
    words = [sys.executable, str(Path(pgload.__file__)), str(folder), str(out)]
    words += [str(CLIENTS), str(bench.scale.transactions)]
    if way == DIRECT:
        run_quietly(words)
    elif way == "assay run":
        run_quietly([*tools.assay(), "run", "-q", "--", *words])
    else:
        tools.measured(words, 1, bench.folder)
    found = json.loads(out.read_text())
    for quantity in QUANTITIES:
        if found[quantity] is not None:
            yield Reading(key(way, quantity), found[quantity])
