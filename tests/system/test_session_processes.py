"""Sessions over several real processes: proofs, crashes, and the command line on their studies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import assay
from assay.records import Stage, Status

pytestmark = pytest.mark.system
SRC = Path(assay.__file__).parents[1]
WORK = """\
import sys
import time

import assay

study = sys.argv[1] if len(sys.argv) > 1 else None
session = assay.Session(None if study else {"size": [90_000, 30_000]}, study=study, runs=10)
for trial in session:
    began = time.perf_counter()
    total = sum(number * number for number in range(trial["size"]))
    trial.report(wall_ms=1000.0 * (time.perf_counter() - began))
print(session.id)
"""
SAME_WORDS = """\
import sys

import assay

session = assay.Session(
    {"batch": [32, 64, 128]},
    study=sys.argv[1] if len(sys.argv) > 1 else None,
    runs=40,
    progress=assay.Progress("sps", goal="higher"),
    constraints="batch <= 64",
    default={"batch": 32},
)
for trial in session:
    for step in range(30):
        trial.report(step=step, sps=trial["batch"] * (0.5 if step < 5 else 1.0 + step % 3 / 1000))
print(session.id)
"""
ALIKE = """\
import random
import sys

import assay

study = sys.argv[1] if len(sys.argv) > 1 else None
rng = random.Random(f"{sys.argv[2:]}")
errors = {32: rng.gauss(0.0, 0.03), 64: rng.gauss(0.0, 0.03)}
session = assay.Session(None if study else {"batch": [32, 64]}, study=study, runs=14)
for trial in session:
    trial.report(sps=300.0 * (1.0 + errors[trial["batch"]] + rng.gauss(0.0, 0.001)))
print(session.id)
"""
CRASHING = """\
import os
import signal

import assay

session = assay.Session({"batch": [32, 64]}, runs=20)
for trial in session:
    trial.report(sps=300.0)
    if trial.number == 4:
        print(session.id, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "studies.db"))
    monkeypatch.setenv("PYTHONPATH", str(SRC))
    monkeypatch.chdir(tmp_path)


def run(script: str, *words: str) -> str:
    """Run a script in a process of its own, and return the id that it prints."""
    path = Path("train.py")
    path.write_text(script)
    done = subprocess.run(
        [sys.executable, str(path), *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def cli(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "assay", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_six_processes_prove_a_real_effect_and_one_does_not() -> None:
    study = run(WORK)
    first = assay.load_study(study)
    assert first.verdict == "unproven"
    assert first.claims[0].verdict == "unclear"
    for _ in range(5):
        run(WORK, study)
    result = assay.load_study(study)
    assert result.verdict == "proven"
    assert dict(result.recommendation.settings) == {"size": 30_000}
    (claim,) = result.claims
    assert claim.blocks == 6
    assert claim.processes
    assert {sample.launch.process for sample in result.samples} == set(range(6))


@pytest.mark.rotating
def test_script_that_is_run_again_with_all_its_keywords_reaches_a_claim() -> None:
    study = run(SAME_WORDS)
    for _ in range(6):  # the first process searches; six confirm
        run(SAME_WORDS, study)
    result = assay.load_study(study)
    assert result.verdict == "proven"
    assert dict(result.recommendation.settings) == {"batch": 64}


@pytest.mark.rotating
def test_six_processes_with_identical_arms_prove_nothing() -> None:
    study = run(ALIKE)
    for number in range(6):
        run(ALIKE, study, str(number))
    result = assay.load_study(study)
    assert result.verdict != "proven"
    assert len({s.launch.process for s in result.samples if s.launch.stage is Stage.CONFIRM}) == 7


def test_killed_process_leaves_a_study_that_the_next_one_continues() -> None:
    Path("train.py").write_text(CRASHING)
    done = subprocess.run(
        [sys.executable, "train.py"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == -signal.SIGKILL
    study = done.stdout.strip()
    killed = assay.load_study(study)
    assert killed.status is Status.INTERRUPTED
    assert len(killed.samples) == 4
    # A changed script is another program, unless the user says otherwise.
    Path("train.py").write_text(WORK)
    refused = subprocess.run(
        [sys.executable, "train.py", study],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "the program" in refused.stderr
    assert "new_stratum=True" in refused.stderr
    session = assay.Session(study=study, runs=8, new_stratum=True)
    for trial in session:
        trial.report(sps=300.0)
    assert session.result.status is Status.DONE


def test_command_line_shows_a_session_and_refuses_to_launch_it() -> None:
    study = run(WORK)
    assert "(session)" in cli("study", "list").stdout
    shown = cli("study", "show", study)
    assert shown.returncode == 0
    assert f'assay.Session(study="{study}") continues it in the next process' in shown.stdout
    assert "assay run --from" not in shown.stdout
    assert cli("report", study, "-o", "r.html").returncode == 0
    assert "process of the user ran the trials" in Path("r.html").read_text()
    for words in (
        ("run", "--from", study, "--unproven"),
        ("study", "resume", study),
        ("study", "confirm", study),
    ):
        refused = cli(*words)
        assert refused.returncode in (3, 125)  # `run` keeps low numbers for its program
        assert "is a session" in refused.stderr
        assert f'assay.Session(study="{study}")' in refused.stderr


def test_forked_workers_share_the_identity_of_their_parent() -> None:
    from assay.api.trials.own_process import own_process

    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writing, own_process().identity.encode())
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(reading, 100).decode() == own_process().identity
    script = "from assay.api.trials.own_process import own_process; print(own_process().identity)"
    other = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert other.stdout.strip() != own_process().identity
