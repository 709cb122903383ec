"""assay killed by SIGKILL at random moments: no process survives, and no file is incomplete.

Moments are drawn from fixed seeds, over start-up, survey, launches, storing and conclusion, and
over resuming itself. One kill in ten hits a process that loads assay first; the others start with
assay loaded and hit its work. test_interrupt.py covers single interrupts by other signals.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from command_line import CommandLine, leaves, nothing_left
from forked import forked
from marks import end_marked, marked

from assay.records import Status, encode
from assay.search.conclusion.conclude import conclude
from assay.search.races.race import Ending, EndReason
from assay.search.space.search_space import SearchSpace
from assay.store import open_store
from assay.testing.replay.tpe import TpeSearcher
from cases import cases

pytestmark = pytest.mark.system

WITHIN_S = 15.0
"""Generous limit for the end of all processes of a killed assay, in seconds."""
STARTING_S = 0.5
LOADED_STARTING_S = 0.1
"""Approximate time until the first sample is stored, with and without loading assay; each campaign
measures it."""
LOADING = 10
"""One start in this number loads assay."""
DAEMON = ("sh", "-c", "setsid sleep 99 & exec sleep {t}")
SHORT = (
    ("tune", "arg.t=0.004,0.001", "--runs", "50", "--", *DAEMON),
    ("compare", "sleep 0.001", "true", "--runs", "30"),
    ("measure", "--runs", "20", "--", "sh", "-c", "setsid sleep 99 & exit 0"),
)
"""Studies that complete within one or two runs, so that kills also hit their ends."""
LONG = (("measure", "--precision", "0.0001%", "--runs", "100000", "--", "sleep", "0.001"),)
"""A study that is never decided: it is resumed repeatedly."""


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> Iterator[CommandLine]:
    line = command_line(assay_exec, tmp_path)
    yield line
    end_marked(line.mark)


def command_line(assay_exec: Path, folder: Path) -> CommandLine:
    """Return a command line with its own folder for temporary files."""
    (folder / "tmp").mkdir(parents=True)
    return CommandLine(assay_exec, folder, more={"TMPDIR": str(folder / "tmp")})


def is_of_tempfile(path: Path) -> bool:
    """Return whether Python's own search for a writable folder was interrupted.

    It writes a file with such a name and content, and removes it (``_get_default_tempdir`` of
    Lib/tempfile.py), independently of assay.
    """
    return len(path.name) == 8 and path.is_file() and path.read_bytes() in (b"", b"blat")


class Campaign:
    """Studies in one store, each killed and resumed until it is done."""

    def __init__(self, cli: CommandLine, seed: str, studies: tuple[tuple[str, ...], ...]) -> None:
        self._cli = cli
        self._moments = random.Random(seed)
        self._studies = studies
        self._starting_s = {True: STARTING_S, False: LOADED_STARTING_S}
        self._starts = 0
        self._begun = 0
        self._known: list[tuple[bytes, int | None]] = []
        self.kills = 0

    def cut_off(self, times: int) -> None:
        """Kill assay the given number of times, and check after each kill."""
        before = leaves()
        while self.kills < times:
            loads = self._starts % LOADING == 0
            self._starts += 1
            words, moment = self._next(), self._moment(loads=loads)
            stored = len(self._known)
            ended = self._ended(words, moment * self._starting_s[loads], loads=loads)
            if ended is None:
                self.kills += 1
            else:
                assert ended == 0, self._cli.begun_err
            nothing_left(self._cli, before, WITHIN_S)
            self._look()
            self._learn(moment, started=len(self._known) > stored, loads=loads)

    def _ended(self, words: tuple[str, ...], within_s: float, *, loads: bool) -> int | None:
        """Return the exit status of assay; ``None`` if it was killed."""
        if not loads:
            with forked(self._cli, *words) as fork:
                fork.join(within_s)
                return fork.exitcode
        with self._cli.begun(*words) as process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=within_s)
            ended = process.poll()
            process.kill()
        return ended

    def _next(self) -> tuple[str, ...]:
        """Resume an interrupted study, or begin another."""
        if self._open():
            return ("study", "resume", "last")
        words = self._studies[self._begun % len(self._studies)]
        self._begun += 1
        return words

    def _moment(self, *, loads: bool) -> float:
        """In units of the time until the first sample: later moments hit a running study."""
        if self._moments.random() < 0.4:
            return self._moments.uniform(0.0, 1.0)
        return self._moments.uniform(0.6, 1.5 if loads else 3.0)

    def _learn(self, moment: float, *, started: bool, loads: bool) -> None:
        """On a busy host assay would otherwise be killed during each start."""
        if started and moment < 1.0:
            self._starting_s[loads] *= 0.95
        elif not started and moment > 1.0:
            self._starting_s[loads] *= 1.1

    def _open(self) -> bool:
        """Return whether the newest study exists and is unfinished."""
        rows = self._cli.rows("SELECT status FROM study ORDER BY number DESC LIMIT 1")
        return bool(rows) and rows[0][0] != Status.DONE

    def _look(self) -> None:
        """Check that stored samples are unchanged, byte for byte, and new ones are complete."""
        rows = self._cli.rows("SELECT content, dictionary FROM sample ORDER BY number")
        assert rows[: len(self._known)] == self._known
        assert len(self._cli.documents()) >= len(rows)
        self._known = rows
        # Python tries a folder for temporary files by a file of eight letters, which a kill between
        # its two calls leaves behind (tempfile._get_default_tempdir).
        scratch = list((self._cli.folder / "tmp").glob("assay-*"))
        assert len(scratch) <= 1, "the one of the killed process; the next one removes it"

    def conclude(self) -> None:
        """Complete every study; then the state must equal that without kills."""
        before = leaves()
        # A finished study prints its answer again, or first now, if the kill came between.
        more = () if self._studies is SHORT else ("--runs", "20")
        for (study,) in self._cli.rows("SELECT id FROM study"):
            with forked(self._cli, "study", "resume", study, *more) as fork:
                fork.join(60.0)
                assert fork.exitcode == 0, self._cli.begun_err
        nothing_left(self._cli, before, WITHIN_S)
        left = (self._cli.folder / "tmp").iterdir()
        assert [one for one in left if not is_of_tempfile(one)] == []
        self._look()
        assert self._cli.rows("PRAGMA integrity_check") == [("ok",)]
        assert self._cli.rows("PRAGMA foreign_key_check") == []
        for (study,) in self._cli.rows("SELECT id FROM study"):
            self._judge(study)

    def _judge(self, study: str) -> None:
        """Check that blocks have no gap, and that the conclusion follows from the samples."""
        with open_store(self._cli.store) as store:
            record, samples = store.study(study), store.samples(study)
        launches = [sample.launch for sample in samples]
        places = [(at.block, at.position, at.attempt) for at in launches]
        assert len(set(places)) == len(places)
        blocks = [at.block for at in launches]
        assert blocks == sorted(blocks)
        assert set(blocks) == set(range(max(blocks) + 1))
        assert len(record.strata) == 1
        assert record.status is Status.DONE
        stored = record.conclusion
        assert stored is not None
        done = Ending(EndReason(stored.stop_code), stored.stop_reason)
        space = SearchSpace(record.spec.space)
        found = conclude(record.spec, samples, space, TpeSearcher(), done)
        if found.recommendation is not None:
            assert stored.recommendation is not None
            script = stored.recommendation.script  # made for the host, not from the samples
            found = msgspec.structs.replace(
                found, recommendation=msgspec.structs.replace(found.recommendation, script=script)
            )
        assert encode(found) == encode(stored)


@pytest.mark.rotating
@pytest.mark.parametrize("times", [60, pytest.param(200, marks=pytest.mark.slow)])
def test_repeatedly_killed_study_completes(assay_exec: Path, tmp_path: Path, times: int) -> None:
    """Use two stores concurrently, since most of the time is waiting."""
    lines = [command_line(assay_exec, tmp_path / name) for name in ("short", "long")]
    both = [Campaign(lines[0], "short", SHORT), Campaign(lines[1], "long", LONG)]

    def wear_down(campaign: Campaign) -> None:
        campaign.cut_off(times // 2)
        campaign.conclude()

    try:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(wear_down, both))
    finally:
        for line in lines:
            end_marked(line.mark)
    assert sum(campaign.kills for campaign in both) == times


# --- the launchers of a study -------------------------------------------------------------------


def children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(w) for w in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def kill_launcher(assay: int, whom: str) -> bool:
    """Kill the launcher of the current launch, its supervisor, or both; false if there is none.

    A launch may end meanwhile; its process id is not reused within this time.
    """
    for launcher in children(assay):
        supervisors = children(launcher)
        if not supervisors and whom != "launcher":
            continue
        targets = {
            "launcher": [launcher],
            "supervisor": supervisors[:1],
            "both": [*supervisors[:1], launcher],
        }[whom]
        with contextlib.suppress(ProcessLookupError):
            if whom == "both":
                os.kill(launcher, signal.SIGSTOP)
            for pid in targets:
                os.kill(pid, signal.SIGKILL)
            return True
    return False


@pytest.mark.rotating
@pytest.mark.parametrize("whom", cases(["both"], slow=["launcher", "supervisor"]))
def test_killed_launcher_costs_only_its_launch(cli: CommandLine, whom: str) -> None:
    moments = random.Random(whom)
    before = leaves()
    script = "setsid sleep 99 & exec sleep 0.03"
    words = ("measure", "--precision", "0.0001%", "--runs", "40", "--", "sh", "-c", script)
    # Not in a session of its own: see test_hostile_study.py about stopping a launcher in one.
    with cli.begun(*words, session=False) as process:
        cli.wait_for(3)
        for _ in range(6):
            stored = len(cli.samples())
            time.sleep(moments.uniform(0.0, 0.05))
            while process.poll() is None and not kill_launcher(process.pid, whom):
                time.sleep(0.001)
            with contextlib.suppress(AssertionError):
                cli.wait_for(stored + 4, timeout_s=10)
        assert process.wait(timeout=60) == 0, cli.begun_err
    nothing_left(cli, before, WITHIN_S)
    outcomes = [document["outcome"] for document in cli.documents()]
    assert len(outcomes) == 40
    assert set(outcomes) <= {"ok", "failed"}
    assert 1 <= outcomes.count("failed") <= 6
    assert list((cli.folder / "tmp").iterdir()) == []


# --- storms -------------------------------------------------------------------------------------

STORMS = {
    "SIGTERM": [signal.SIGTERM],
    "SIGINT": [signal.SIGINT],
    "all": [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGWINCH],
}


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("name", "group"),
    cases(
        [("SIGTERM", False), ("all", True)],
        slow=[("SIGINT", False), ("all", False), ("SIGTERM", True), ("SIGINT", True)],
    ),
)
def test_signal_storm_is_one_interruption(cli: CommandLine, name: str, group: bool) -> None:
    """Signal only assay, or its whole process group, launcher and program included."""
    moments = random.Random(f"{name}/{group}")
    before = leaves()
    known: list[dict[str, object]] = []
    words: tuple[str, ...] = (*SHORT[0][:2], "--runs", "60", "--", *DAEMON)
    for _ in range(3):
        with cli.begun(*words) as process:
            cli.wait_for(len(known) + 2)
            for _ in range(60):
                number = moments.choice(STORMS[name])
                with contextlib.suppress(ProcessLookupError):
                    (os.killpg if group else os.kill)(process.pid, number)
                time.sleep(moments.uniform(0.0, 0.004))
            assert process.wait(timeout=30) in (129, 130, 143, -1, -2, -3, -15)
        nothing_left(cli, before, WITHIN_S)
        documents = cli.documents()
        assert documents[: len(known)] == known
        known = documents
        words = ("study", "resume", "last")
    assert "Traceback" not in cli.begun_err
    assert cli("study", "resume", "last").status == 0
    assert cli.documents()[: len(known)] == known
    # A search stops the launch of a candidate that takes much longer than the best one.
    assert {document["outcome"] for document in cli.documents()} <= {"ok", "timed_out"}
    assert not marked(cli.mark)
    with contextlib.closing(sqlite3.connect(cli.store)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
