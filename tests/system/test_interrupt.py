"""Studies interrupted at any moment, by any signal: only the running launch is lost.

Neither is anything left behind: no process, however it tried to get away, and no control group.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command_line import CommandLine, leaves, nothing_left

from cases import cases

pytestmark = pytest.mark.system

RUNS = 70
TUNE = ("tune", "arg.t=0.015,0.004", "nice=0,5", "--runs", str(RUNS), "--seed", "3", "--")
PROGRAM = ("sh", "-c", "setsid sleep 99 & exec sleep {t}")
"""Leaves a process behind in a session of its own, as daemons do."""


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


def cut_off(cli: CommandLine, number: signal.Signals, after: int, delay_s: float = 0.0) -> int:
    """Begin a study, send a signal after the given number of samples; return the wait status."""
    with cli.begun(*TUNE, *PROGRAM) as process:
        if after:
            cli.wait_for(after)
        time.sleep(delay_s)
        # Ctrl-C goes to the whole foreground group, everything else to the one process.
        if number is signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        return process.wait(timeout=20)


def go_on(cli: CommandLine, *more: str) -> dict[str, object]:
    answer = cli("study", "resume", "last", "--json", *more)
    assert answer.status == 0, answer.err
    return answer.document


def check_whole(cli: CommandLine, kept: list[dict[str, object]]) -> None:
    """Check that the study equals an uninterrupted one: kept samples first, none twice."""
    documents = cli.documents()
    assert documents[: len(kept)] == kept
    places = cli.samples()
    assert len(set(places)) == len(places) <= RUNS
    blocks = [block for _, block, _, _ in places]
    assert blocks == sorted(blocks)
    assert set(blocks) == set(range(max(blocks) + 1))
    (study,) = cli.studies()
    assert study["status"] == "done"
    assert study["launches"] == len(places)


STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGKILL: -9}


@pytest.mark.rotating
@pytest.mark.parametrize("seed", cases([0], slow=[1]))
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_study_killed_at_random_moment_resumes(cli: CommandLine, name: str, seed: int) -> None:
    rng = random.Random(f"{name}/{seed}")
    number = signal.Signals[name]
    before = leaves()
    after = rng.choice([1, 2, 3, rng.randrange(4, 40), rng.randrange(4, 40)])
    status = cut_off(cli, number, after, rng.uniform(0.0, 0.03))
    assert status == STATUS[number], cli.begun_err
    nothing_left(cli, before)
    kept = cli.documents()
    assert len(kept) >= after
    (study,) = cli.studies()
    assert study["status"] == "interrupted"
    err = cli.begun_err
    assert "Traceback" not in err
    if number is not signal.SIGKILL:
        assert f"assay study resume {study['id']}" in err
        assert f"with {len(kept)} launch" in err
    result = go_on(cli)["recommendation"]
    assert isinstance(result, dict)
    # On a busy machine, few launches may leave it open, but never with another verdict.
    assert result["settings"].get("arg.t", 0.004) == 0.004
    assert "arg.t" in result["settings"] or "Not decided" in result["sentence"], result
    check_whole(cli, kept)
    nothing_left(cli, before)


@pytest.mark.parametrize("delay_s", [0.05, 0.2, 0.35, 0.6])
def test_interrupt_during_start_leaves_no_partial_data(cli: CommandLine, delay_s: float) -> None:
    """Also before the study exists: a status, no traceback, no incomplete file."""
    before = leaves()
    status = cut_off(cli, signal.SIGTERM, 0, delay_s)
    assert status in (143, -15)
    err = cli.begun_err
    assert "Traceback" not in err
    nothing_left(cli, before)
    if cli.store.exists() and cli.studies():
        kept = cli.documents()
        go_on(cli)
        check_whole(cli, kept)


@pytest.mark.rotating
def test_study_interrupted_after_start_resumes(cli: CommandLine) -> None:
    """At any moment of its first launch: an exception raised there crashed the interpreter."""
    for step in range(60):
        status = cut_off(cli, signal.SIGTERM, 0, 0.05 + step * 0.003)
        assert status in (143, -15), (step, status)


@pytest.mark.rotating
def test_repeatedly_killed_study_completes(cli: CommandLine) -> None:
    """Each resumption adds samples."""
    before = leaves()
    cut_off(cli, signal.SIGKILL, 5)
    known = cli.documents()
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT):
        with cli.begun("study", "resume", "last") as process:
            cli.wait_for(len(known) + 5)
            process.send_signal(number)
            assert process.wait(timeout=20) == STATUS[number]
        documents = cli.documents()
        assert documents[: len(known)] == known
        known = documents
    go_on(cli)
    check_whole(cli, known)
    nothing_left(cli, before)


@pytest.mark.rotating
def test_running_launch_ends_with_study(cli: CommandLine) -> None:
    """Even a long launch ends, however it was started."""
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGHUP):
        before = leaves()
        script = "setsid sleep 97 & sleep 98 & exec sleep 99"
        with cli.begun("measure", "--", "sh", "-c", script) as process:
            wait_for_process(cli, "sleep 99")
            process.send_signal(number)
            assert process.wait(timeout=20) == STATUS[number]
        nothing_left(cli, before)


def wait_for_process(cli: CommandLine, text: str) -> None:
    end = time.monotonic() + 20
    while not any(text == line.strip() for line in cli.processes()):
        assert time.monotonic() < end, "the program was not started"
        time.sleep(0.02)


@pytest.mark.rotating
@pytest.mark.parametrize("name", cases(["SIGINT"], slow=["SIGHUP", "SIGTERM"]))
@pytest.mark.parametrize("verb", [("measure", "--runs", "4"), ("run",)], ids=lambda v: v[0])
def test_ignored_signal_does_not_end_study(
    cli: CommandLine, verb: tuple[str, ...], name: str
) -> None:
    """As by nohup: assay, both processes of the launcher and the program ignore it; a batch system
    signals them all."""
    number = signal.Signals[name]
    with subprocess.Popen(
        cli.argv(*verb, "--", "sleep", "0.7"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=cli.env,
        cwd=cli.folder,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_IGN),
    ) as process:
        wait_for_process(cli, "sleep 0.7")
        pids = cli.pids()
        assert len(pids) == (5 if verb[0] == "measure" else 4)
        for pid in pids:
            os.kill(pid, number)
        assert process.wait(timeout=30) == 0, process.stderr and process.stderr.read()
    if verb[0] == "measure":
        assert len(cli.samples()) == 4
        assert cli.studies()[0]["status"] == "done"


@pytest.mark.rotating
def test_study_has_one_owner(cli: CommandLine) -> None:
    """While one process runs it, another neither resumes nor deletes it."""
    endless = ("--runs", "100000", "--precision", "0.001%")
    with cli.begun("measure", *endless, "--", "sleep", "0.01") as process:
        cli.wait_for(3)
        for verb in ("resume", "delete"):
            answer = cli("study", verb, "last")
            assert answer.status == 3, answer.err
            assert "Traceback" not in answer.err
        (study,) = cli.studies()
        assert study["status"] == "running"
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=20)


class TestStrata:
    """Samples of a changed program are not pooled."""

    def _interrupted(self, cli: CommandLine, script: Path) -> None:
        script.write_text("#!/bin/sh\nsleep $1\n")
        script.chmod(0o755)
        words = ("arg.t=0.015,0.004", "--runs", "50", "--", f"./{script.name}", "{t}")
        with cli.begun("tune", *words) as process:
            cli.wait_for(8)
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=20)

    @pytest.mark.rotating
    def test_changed_program_is_named(self, cli: CommandLine) -> None:
        script = cli.folder / "program"
        self._interrupted(cli, script)
        kept = cli.documents()
        script.write_text("#!/bin/sh\nsleep $1 # another\n")
        answer = cli("study", "resume", "last")
        assert answer.status == 3
        assert "the program: " in answer.err
        assert "--new-stratum" in answer.err
        assert "Traceback" not in answer.err
        assert cli.documents() == kept

        found = go_on(cli, "--new-stratum")
        assert found["recommendation"]["settings"] == {"arg.t": 0.004}  # type: ignore[index]
        strata = [stratum for stratum, _, _, _ in cli.samples()]
        assert strata == sorted(strata)
        assert strata.count(0) == len(kept)
        assert found["launches"] == strata.count(1) > 40 // 2
        shown = cli("study", "show", "last", "--json").document["samples"]
        assert [sample["stratum"] for sample in shown] == strata
        assert [sample["launch"] for sample in shown] == [s["launch"] for s in cli.documents()]
        assert cli.documents()[: len(kept)] == kept

    @pytest.mark.rotating
    def test_restored_program_resumes_study(self, cli: CommandLine) -> None:
        script = cli.folder / "program"
        self._interrupted(cli, script)
        kept = cli.documents()
        before = script.read_text()
        script.write_text("#!/bin/sh\nexit 1\n")
        assert cli("study", "resume", "last").status == 3
        script.write_text(before)
        go_on(cli)
        assert cli.documents()[: len(kept)] == kept
        assert {stratum for stratum, _, _, _ in cli.samples()} == {0}

    @pytest.mark.rotating
    def test_study_resumes_from_other_folder(self, cli: CommandLine) -> None:
        """A program that was named relative to its folder is found there again."""
        self._interrupted(cli, cli.folder / "program")
        elsewhere = cli.folder / "elsewhere"
        elsewhere.mkdir()
        done = subprocess.run(
            cli.argv("study", "resume", "last"), env=cli.env, cwd=elsewhere, capture_output=True
        )
        assert done.returncode == 0, done.stderr

    @pytest.mark.rotating
    def test_change_of_any_command_is_detected(self, cli: CommandLine) -> None:
        for name in ("a", "b"):
            (cli.folder / name).write_text("#!/bin/sh\nsleep 0.01\n")
            (cli.folder / name).chmod(0o755)
        with cli.begun("compare", "./a", "./b", "--runs", "500") as process:
            cli.wait_for(6)
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=20)
        (cli.folder / "b").write_text("#!/bin/sh\nsleep 0.02\n")
        answer = cli("study", "resume", "last")
        assert answer.status == 3
        assert "the program: " in answer.err

    @pytest.mark.rotating
    def test_summary_uses_samples_of_one_stratum(self, cli: CommandLine) -> None:
        assert cli("measure", "--runs", "8", "--", "true").status == 0
        found = go_on(cli, "--new-stratum")
        samples = found["samples"]
        assert isinstance(samples, list) and len(samples) == 8
        assert len(cli.samples()) == 16
        values = [s["wall_s"] for s in samples if s["launch"]["stage"] == "confirm"]
        assert found["summary"]["wall_s"]["max"] == max(values)  # type: ignore[index]

    @pytest.mark.rotating
    def test_new_stratum_has_full_budget(self, cli: CommandLine) -> None:
        """This holds for time and launches."""
        assert cli("tune", "arg.t=0.02,0.01", "--budget", "3s", "--", "sleep", "{t}").status == 0
        first = len(cli.samples())
        found = go_on(cli, "--new-stratum")
        assert found["launches"] >= 8  # the rest of the first budget does not suffice  # type: ignore[operator]
        assert len(cli.samples()) == first + found["launches"]  # type: ignore[operator]


@pytest.mark.rotating
def test_decided_study_continues_with_additional_budget(cli: CommandLine) -> None:
    decided = cli("compare", "--json", "sleep 0.005", "sleep 0.02").document
    more = cli("study", "resume", "last", "--runs", "10", "--json").document
    assert more["launches"] == decided["launches"] + 10
    narrower = [document["claims"][0]["ci"] for document in (decided, more)]
    assert narrower[0] != narrower[1]
    assert cli("study", "resume", "last", "--json").document["launches"] == more["launches"]


@pytest.mark.rotating
def test_resumed_finished_study_repeats_answer(cli: CommandLine) -> None:
    first = cli("compare", "sleep 0.01", "true", "--runs", "40", "--json").document
    again = go_on(cli)
    assert again["claims"] == first["claims"]
    assert again["arms"] == first["arms"]
    assert len(cli.samples()) == first["launches"]


@pytest.mark.rotating
def test_stored_samples_reproduce_stored_conclusion(cli: CommandLine) -> None:
    """Analysis of the stored samples gives the stored conclusion."""
    import msgspec

    from assay.records import encode
    from assay.search.conclusion.conclude import conclude
    from assay.search.races.race import Ending, EndReason
    from assay.search.space.search_space import SearchSpace
    from assay.store import open_store
    from assay.testing.replay.tpe import TpeSearcher

    assert cli(*TUNE, "sleep", "{t}").status == 0
    with open_store(cli.store) as store:
        (head,) = store.studies()
        record = store.study(head.id)
        samples = store.samples(head.id)
    assert record.conclusion is not None
    done = Ending(EndReason(record.conclusion.stop_code), record.conclusion.stop_reason)
    found = conclude(record.spec, samples, SearchSpace(record.spec.space), TpeSearcher(), done)
    stored = record.conclusion.recommendation
    assert stored is not None
    assert found.recommendation is not None
    scripted = msgspec.structs.replace(
        found,
        recommendation=msgspec.structs.replace(found.recommendation, script=stored.script),
    )
    assert encode(scripted) == encode(record.conclusion)


@pytest.mark.rotating
def test_interrupted_trial_launch_reports_kept_data(cli: CommandLine) -> None:
    with cli.begun("tune", "arg.n=1,2", "--", "sh", "-c", "touch began; sleep 6{n}") as process:
        end = time.monotonic() + 30
        while not (cli.folder / "began").exists():
            assert time.monotonic() < end, "it never began"
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=20) == 130
    result = cli.begun_err
    assert "interrupted while inspecting the program; no study was begun" in result
