"""Database server and client as one program, which any launcher can launch.

    python -m benchmarks.overhead.pgload FOLDER OUT CLIENTS TRANSACTIONS

It starts PostgreSQL on the data in FOLDER, with a Unix socket in that folder only. pgbench makes
TRANSACTIONS with each of CLIENTS clients. Then it stops the server, and writes the CPU time and the
context switches of server and client together to OUT. As root it runs both as the owner of FOLDER,
since PostgreSQL refuses root.
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
START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 30.0
RUN_TIMEOUT_S = 120.0
OPTIONS = {
    "listen_addresses": "",
    "autovacuum": "off",
    "checkpoint_timeout": "1h",
    "max_wal_size": "4GB",
    "shared_buffers": "128MB",
}
"""Options without open ports and without background work that could disturb single runs."""


def program(name: str) -> str | None:
    """Return the path of a program of PostgreSQL; Debian has those of the server elsewhere."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    path = os.pathsep.join([*map(str, folders), os.environ.get("PATH", os.defpath)])
    return shutil.which(name, path=path)


def user_of(folder: Path) -> dict[str, Any]:
    """Return arguments of ``subprocess`` that drop root for the owner of the folder."""
    if os.geteuid() != 0:
        return {}
    status = folder.stat()
    return {"user": status.st_uid, "group": status.st_gid, "extra_groups": []}


@contextmanager
def server(folder: Path) -> Iterator[None]:
    """Run the server; stop it afterwards."""
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
        process.send_signal(signal.SIGINT)  # fast shutdown, without waiting for clients
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGQUIT)
            process.wait()
        log.close()


def _wait_until_ready(folder: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait for the last line of the server's lock file, which needs no further process."""
    lock = folder / "postmaster.pid"
    end = time.monotonic() + START_TIMEOUT_S
    while process.poll() is None and time.monotonic() < end:
        if lock.exists() and "ready" in lock.read_text().split():
            return
        time.sleep(0.02)
    raise SystemExit(f"PostgreSQL did not start; see {folder / 'log'}")


def pgbench(folder: Path, *words: str) -> str:
    """Run the client and return its output."""
    answer: subprocess.CompletedProcess[str] = subprocess.run(
        [str(program("pgbench")), "-h", str(folder), "-U", USER, *words, DATABASE],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_S,
        cwd=folder,
        check=False,
        **user_of(folder),
    )
    if answer.returncode != 0:
        raise SystemExit(answer.stderr)
    return answer.stdout


def main(words: list[str]) -> int:
    """Run server and client, and write the figures."""
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
