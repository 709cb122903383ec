"""The command line in a process of its own, with a store of its own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from marks import MARK, marked

from assay.records import to_builtins
from assay.store import open_store

SOURCE = Path(__file__).resolve().parents[2] / "src"


@dataclass(frozen=True)
class Answer:
    """Result of one command line."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Its standard output, which holds one JSON document and nothing else."""
        found = json.loads(self.out)
        assert found["schema"] == 2
        return dict(found)


@dataclass
class CommandLine:
    """Runs ``assay``; all that it starts, however deep, carries a mark in its environment."""

    launcher: Path
    folder: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    more: dict[str, str] = field(default_factory=dict)
    """Further variables."""
    prefix: tuple[str, ...] = ()
    """Command in front of the command line."""

    @property
    def store(self) -> Path:
        return self.folder / "studies.db"

    @property
    def env(self) -> dict[str, str]:
        path = os.pathsep.join(filter(None, (str(SOURCE), os.environ.get("PYTHONPATH"))))
        # pytest names the test in hand there; a study is resumed under the same variables only.
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        return {
            **inherited,
            "PYTHONPATH": path,
            "ASSAY_EXEC": str(self.launcher),
            "ASSAY_DB": str(self.store),
            # The end of a study must not depend on other load of this host.
            "ASSAY_DISTURBED_ABOVE": "never",
            MARK: self.mark,
            **self.more,
        }

    def __call__(
        self, *words: str | Path, timeout_s: float = 60.0, cwd: Path | None = None, **env: str
    ) -> Answer:
        done = subprocess.run(
            self.argv(*words),
            capture_output=True,
            env={**self.env, **env},
            cwd=cwd or self.folder,
            timeout=timeout_s,
            process_group=0,  # signals to the whole group do not reach this process
        )
        return Answer(
            done.returncode,
            done.stdout.decode(errors="replace"),
            done.stderr.decode(errors="replace"),
        )

    def argv(self, *words: str | Path) -> list[str]:
        """Return the whole command line."""
        return [*self.prefix, sys.executable, "-m", "assay", *map(str, words)]

    @contextmanager
    def begun(self, *words: str | Path, session: bool = True) -> Iterator[subprocess.Popen[bytes]]:
        """Start the command line as the leader of its own process group and session."""
        with (
            (self.folder / "begun.err").open("ab") as err,
            subprocess.Popen(
                self.argv(*words),
                stdout=subprocess.DEVNULL,
                stderr=err,
                env=self.env,
                cwd=self.folder,
                start_new_session=session,
                process_group=None if session else 0,
            ) as process,
        ):
            try:
                yield process
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)

    def samples(self) -> list[tuple[int, int, int, int]]:
        """Return stratum, block, position and attempt of every stored sample, in order."""
        return self.rows("SELECT stratum, block, position, attempt FROM sample ORDER BY number")

    def documents(self) -> list[dict[str, Any]]:
        """Return every stored sample, in order."""
        if not self.rows("SELECT number FROM study"):
            return []
        with open_store(self.store) as store:
            return [
                to_builtins(sample)
                for head in store.studies()
                for sample in store.iterate_samples(head.id)
            ]

    def output_sizes(self) -> list[int]:
        """Return the bytes that each launch wrote to its standard output, in order."""
        with open_store(self.store) as store:
            return [
                output.size_bytes
                for head in store.studies()
                for stratum in store.strata(head.id)
                for outputs in store.outputs(head.id, stratum.number)
                for output in outputs
                if output.stream == "stdout"
            ]

    def rows(self, query: str) -> list[Any]:
        """Return the rows of a query of the store; none while the store is missing."""
        if not self.store.exists():
            return []
        try:
            with closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)) as database:
                return list(database.execute(query))
        except sqlite3.OperationalError:  # not made yet, or locked for a moment
            return []

    def wait_for(self, samples: int, timeout_s: float = 30.0) -> None:
        """Wait until the given number of samples is stored."""
        end = time.monotonic() + timeout_s
        while len(self.samples()) < samples:
            assert time.monotonic() < end, f"the study does not go on: {self.begun_err}"
            time.sleep(0.005)

    @property
    def begun_err(self) -> str:
        """Return the standard error of programs that were ``begun``."""
        return (self.folder / "begun.err").read_text()

    def studies(self) -> list[dict[str, Any]]:
        """Return the studies of ``study list``."""
        return list(self("study", "list", "--json").document["studies"])

    def processes(self) -> list[str]:
        """Return the command lines of living descendants of this process."""
        return list(marked(self.mark).values())

    def pids(self) -> list[int]:
        """Return the command lines of living descendants by process id."""
        return list(marked(self.mark))


def leaves() -> set[str]:
    """Return the control groups of launchers of studies, in every hierarchy.

    Their names contain the launcher's process id. Groups named by tests, and groups of launchers
    that other users run on this host, are left out.
    """
    found = set()
    for folder, _, _ in os.walk("/sys/fs/cgroup"):
        named = re.fullmatch(r"assay-(\d+)-\d+", Path(folder).name)
        if named and not _of_somebody_else(int(named[1])):
            found.add(folder)
    return found


def _of_somebody_else(launcher: int) -> bool:
    """Return whether a launcher has a parent, and this process is not an ancestor of it.

    A launcher without a parent is an orphan of a killed assay, which these tests may have started.
    """
    pid, line = launcher, []
    with contextlib.suppress(OSError):
        while pid > 1 and pid != os.getpid():
            line.append(pid)
            # After the name in brackets: state, parent (proc(5)).
            stat = Path(f"/proc/{pid}/stat").read_text()
            pid = int(stat.rpartition(")")[2].split()[1])
    return pid == 1 and len(line) > 1


def nothing_left(cli: CommandLine, before: set[str], within_s: float = 5.0) -> None:
    """Wait until neither process nor control group of a study is left.

    Other launchers may be at work on this host: a leaf counts as left when it stays.
    """
    end = time.monotonic() + within_s
    left: set[str] = leaves() - before
    alive = cli.processes()
    while (left or alive) and time.monotonic() < end:
        time.sleep(0.05)
        left &= leaves()
        alive = cli.processes()
    assert not alive, alive
    assert not left, left
