"""A database server and its client, as one program that can be launched under anything.

    python -m benchmarks.overhead.pgload FOLDER OUT CLIENTS TRANSACTIONS

Starts PostgreSQL on the data in FOLDER, reached by a Unix socket in that folder alone, has pgbench
make TRANSACTIONS with each of CLIENTS clients, stops the server, and writes the CPU time and
the context switches of both together to OUT. As root it runs both as the owner of FOLDER, since
PostgreSQL refuses root.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DATABASE = "postgres"
USER = "bench"
STARTING_S = 30.0
STOPPING_S = 30.0
RUNNING_S = 120.0
OPTIONS = {
    "listen_addresses": "",
    "autovacuum": "off",
    "checkpoint_timeout": "1h",
    "max_wal_size": "4GB",
    "shared_buffers": "128MB",
}
"""No port is open, and nothing that comes and goes by itself falls into one run or another."""


def program(name: str) -> str | None:
    """A program of PostgreSQL: Debian keeps those of the server out of the path."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    path = os.pathsep.join([*map(str, folders), os.environ.get("PATH", os.defpath)])
    return shutil.which(name, path=path)


def user_of(folder: Path) -> dict[str, Any]:
    """Arguments of ``subprocess`` that give up root for the owner of the folder."""
    if os.geteuid() != 0:
        return {}
    status = folder.stat()
    return {"user": status.st_uid, "group": status.st_gid, "extra_groups": []}


@contextmanager
def server(folder: Path) -> Iterator[None]:
    """Run the server; it has ended afterwards."""
    options = [word for name, value in OPTIONS.items() for word in ("-c", f"{name}={value}")]
    words = [str(program("postgres")), "-D", str(folder), "-k", str(folder), *options]
    log = (folder / "log").open("ab")
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder, **user_of(folder)
    )
    try:
        _wait_until_ready(folder, process)
        yield
    finally:
        process.send_signal(signal.SIGINT)  # fast shutdown: no waiting for clients
        try:
            process.wait(STOPPING_S)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGQUIT)
            process.wait()
        log.close()


def _wait_until_ready(folder: Path, process: subprocess.Popen[bytes]) -> None:
    """The server says so in the last line of its lock file, so that nothing need be started."""
    lock = folder / "postmaster.pid"
    end = time.monotonic() + STARTING_S
    while process.poll() is None and time.monotonic() < end:
        if lock.exists() and "ready" in lock.read_text().split():
            return
        time.sleep(0.02)
    raise SystemExit(f"PostgreSQL did not start; see {folder / 'log'}")


def pgbench(folder: Path, *words: str) -> str:
    """Run the client, and return its output."""
    answer: subprocess.CompletedProcess[str] = subprocess.run(
        [str(program("pgbench")), "-h", str(folder), "-U", USER, *words, DATABASE],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUNNING_S,
        cwd=folder,
        check=False,
        **user_of(folder),
    )
    if answer.returncode != 0:
        raise SystemExit(answer.stderr)
    return answer.stdout


def main(words: list[str]) -> int:
    """Run both."""
    folder, out = Path(words[0]), Path(words[1])
    clients, transactions = int(words[2]), int(words[3])
    with server(folder):
        said = pgbench(folder, "-n", "-c", str(clients), "-t", str(transactions))
    rate = re.search(r"tps = ([0-9.]+)", said)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    made = clients * transactions
    out.write_text(
        json.dumps(
            {
                "transactions_per_s": float(rate[1]) if rate else None,
                "cpu_s": (usage.ru_utime + usage.ru_stime) / made,
                "switches": (usage.ru_nvcsw + usage.ru_nivcsw) / made,
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
