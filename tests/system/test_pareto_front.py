"""``assay tune`` with several objectives: a real program that trades memory for time."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import CommandLine, leaves, nothing_left

pytestmark = pytest.mark.system

PROGRAM = """
import os, time
block = int(os.environ["BLOCK"])
table = b"x" * (block << 20)
time.sleep(1.2 / block)
"""
ASKED = ("--objective", "wall_s", "--objective", "peak_anon_bytes", "--seed", "3")


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.fixture
def words(tmp_path: Path) -> tuple[str, ...]:
    """A study of four sizes, of which 8 is the default."""
    program = tmp_path / "trade.py"
    program.write_text(PROGRAM)
    command = ("--", sys.executable, "-S", str(program))
    return ("tune", "env.BLOCK=8,4,16,32", *ASKED, "--runs", "90", *command)


@pytest.mark.rotating
def test_pareto_front_is_found_run_reported_and_exported(
    cli: CommandLine, words: tuple[str, ...]
) -> None:
    answer = cli(*words[:1], "--json", *words[1:])
    assert answer.status == 0, answer.err
    found = answer.document
    study = found["study"]
    assert found["objectives"] == ["wall_s", "peak_anon_bytes"]
    sizes = [point["settings"]["env.BLOCK"] for point in found["pareto_front"]]
    assert len(sizes) >= 1
    assert sizes == sorted(sizes, reverse=True), "the quickest first"
    assert set(sizes) <= {4, 16, 32}
    for point, size in zip(found["pareto_front"], sizes, strict=True):
        wall, memory = point["claims"]
        assert (wall["metric"], memory["metric"]) == ("wall_s", "peak_anon_bytes")
        assert (wall["ratio"] < 1) == (size > 8)
        assert (memory["ratio"] > 1) == (size > 8)
        assert f"BLOCK={size}" in point["script"]

    text = cli("study", "show", study).out
    assert "against the default, all intervals together 95 %:" in text
    last = len(sizes)
    ran = cli("run", "--from", study, "--point", str(last), "--explain")
    assert f"BLOCK={sizes[-1]}" in ran.out
    named = cli("run", "--from", study, "--point", f"env.BLOCK={sizes[0]}", "--explain")
    assert f"BLOCK={sizes[0]}" in named.out
    wrong = cli("run", "--from", study, "--point", "9")
    assert wrong.status == 125
    assert "has no point 9" in wrong.err
    script = cli.folder / "point.sh"
    script.write_text(found["pareto_front"][-1]["script"])
    assert subprocess.run(["sh", str(script)], check=False).returncode == 0

    page = cli("report", study, "-o", "page.html")
    assert page.status == 0, page.err
    assert 'id="front"' in (cli.folder / "page.html").read_text()

    bundle = cli("study", "export", study, "--bundle", "front.zip")
    assert bundle.status == 0, bundle.err
    checked = cli("study", "verify", "front.zip")
    assert checked.status == 0, checked.out + checked.err
    assert "verified" in checked.out.splitlines()[0]


@pytest.mark.slow
def test_killed_search_resumes_to_pareto_front(cli: CommandLine, words: tuple[str, ...]) -> None:
    """It is killed in the search and in the confirmation; no launch is repeated."""
    before = leaves()
    for words_now, samples in ((words, 8), (("study", "resume", "last"), 45)):
        with cli.begun(*words_now) as process:
            cli.wait_for(samples)
            process.send_signal(signal.SIGKILL)
            process.wait()
        nothing_left(cli, before, 15.0)
        time.sleep(0.05)
    answer = cli("study", "resume", "last", "--json")
    assert answer.status == 0, answer.err
    assert answer.document["pareto_front"]
    places = cli.samples()
    assert len(places) == len(set(places)) <= 90
    again = cli("study", "resume", "last", "--json").document
    assert again["pareto_front"] == answer.document["pareto_front"]


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("options", "cause"),
    [
        (("--objective", "wall_s", "--objective", "wall_s"), "is given twice"),
        (("--objective", "wall_s", "--objective", "user_s:median"), "compared by their means"),
        ((*ASKED[:4], "--goal", "higher"), "does not name its objective"),
        (("--objective", "wall_s", "--objective", "peak_bytes"), "page cache"),
        (("--objective", "wall_s", "--objective", "fps"), "Unknown metric: 'fps'"),
        ((*ASKED[:4], "--objective", "user_s", "--objective", "sys_s"), "There are 4 objectives"),
        (
            ("--objective", "wall_s", "--objective", "page_faults", "--runs", "12"),
            "too small for a claim",
        ),
    ],
)
def test_invalid_objectives_are_refused(
    cli: CommandLine, options: tuple[str, ...], cause: str
) -> None:
    answer = cli("tune", "env.X=1,2", *options, "--", "true")
    assert answer.status in (2, 3), answer.err
    assert cause in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.rotating
def test_other_verbs_accept_one_objective(cli: CommandLine) -> None:
    several = ("--objective", "wall_s", "--objective", "user_s")
    for words in (("measure", *several, "--", "true"), ("compare", *several, "true", "false")):
        answer = cli(*words)
        assert answer.status == 2
        assert f"`assay {words[0]}` takes one --objective." in answer.err


@pytest.mark.rotating
def test_point_option_requires_pareto_front(cli: CommandLine) -> None:
    answer = cli("run", "--point", "1", "--", "true")
    assert answer.status == 125
    assert "--point selects a point of a study." in answer.err
    tuned = cli("tune", "env.X=1,2", "--runs", "40", "--json", "--", "true").document
    answer = cli("run", "--from", tuned["study"], "--point", "1")
    assert answer.status == 125
    assert "has no Pareto front" in answer.err
