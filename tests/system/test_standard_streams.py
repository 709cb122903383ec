"""Standard streams that are closed, full or unread: no traceback, and no data are lost."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine

from cases import cases

pytestmark = pytest.mark.system

MEASURE = ("measure", "--runs", "8", "--", "sleep", "0.005")


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


def in_shell(cli: CommandLine, words: tuple[str, ...], behind: str) -> tuple[int, str, str]:
    """Return the exit status and the outputs of a command line followed by redirections."""
    line = f"{shlex.join(cli.argv(*words))} {behind}"
    done = subprocess.run(
        ["bash", "-c", line], env=cli.env, cwd=cli.folder, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.rotating
@pytest.mark.parametrize("behind", cases(["2>&-", "<&- >&- 2>&-"], slow=[">&-", ">&- 2>&-"]))
def test_closed_streams_are_tolerated(cli: CommandLine, behind: str) -> None:
    """They behave like the null device; the store does not reuse their descriptors."""
    status, out, err = in_shell(cli, MEASURE, behind)
    assert status == 0
    assert (out.startswith("wall_s: ")) == (behind == "2>&-")
    assert ("assay: surveying" in err) == (behind == ">&-")
    assert "fault" not in err
    (study,) = cli.studies()
    assert (study["status"], study["launches"]) == ("done", 8)
    for words, expected in (
        (("study", "show", "last"), 0),
        (("study", "list", "--json"), 0),
        (("run", "--", "sh", "-c", "exit 7"), 7),
        (("measure", "--", "no-such-command"), 2),
    ):
        status, out, err = in_shell(cli, words, behind)
        assert status == expected, err
        assert "fault" not in err


@pytest.mark.rotating
@pytest.mark.parametrize(
    "words", [("study", "list"), ("settings", "list"), ("doctor",), MEASURE], ids=lambda w: w[0]
)
def test_unread_answer_ends_quietly(cli: CommandLine, words: tuple[str, ...]) -> None:
    status, _, err = in_shell(cli, words, "| (exit 0); exit ${PIPESTATUS[0]}")
    assert status == 141
    assert all(line.startswith(("assay: surveying", "assay: conf")) for line in err.splitlines())


@pytest.mark.rotating
def test_study_with_unread_progress_can_be_resumed(cli: CommandLine) -> None:
    line = "2>&1 | head -n 1; exit ${PIPESTATUS[0]}"
    status, out, err = in_shell(cli, MEASURE, line)
    assert status == 141
    assert out.startswith("assay: surveying") and out.count("\n") == 1
    assert err == ""
    (study,) = cli.studies()
    assert study["status"] in ("interrupted", "done")
    assert cli("study", "resume", "last").status == 0
    assert cli.studies()[0]["status"] == "done"


@pytest.mark.rotating
def test_export_needs_no_reader(cli: CommandLine) -> None:
    words = (*MEASURE[:3], "--export", "x.json", *MEASURE[3:])
    assert in_shell(cli, words, "| (exit 0); exit ${PIPESTATUS[0]}")[0] == 141
    assert json.loads((cli.folder / "x.json").read_text())["summary"]["wall_s"]["n"] > 0


@pytest.mark.rotating
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_full_output_device_is_reported(cli: CommandLine) -> None:
    """A lost answer is an error; lost progress is not."""
    status, out, _ = in_shell(cli, MEASURE, "2>/dev/full")
    assert (status, out.startswith("wall_s: ")) == (0, True)
    for words, expected, made_study in (
        (MEASURE, 3, True),
        (("study", "list"), 3, False),
        (("run", "--explain", "--", "true"), 125, False),
        (("--version",), 3, False),
        (("tune", "--help"), 3, False),
        (("run", "--help"), 125, False),
    ):
        status, _, err = in_shell(cli, words, ">/dev/full")
        assert status == expected
        assert "Standard output cannot be written: No space left on device." in err
        assert ("The study is kept: `assay study show " in err) == made_study
        assert "fault" not in err and "Traceback" not in err
    assert [study["status"] for study in cli.studies()] == ["done", "done"]


INHERITED = "3</etc/passwd 4</etc/group 7</etc/hostname"
LISTED = "for n in 3 4 7; do readlink /proc/$$/fd/$n; done >>seen"


@pytest.mark.parametrize("words", [("run",), ("run", "--with", "nice=1"), ("measure", "--runs=2")])
def test_descriptors_of_caller_are_inherited(cli: CommandLine, words: tuple[str, ...]) -> None:
    """The lowest numbers too: the pipe of `make -j` has 3 and 4."""
    _, _, err = in_shell(cli, (*words, "--", "sh", "-c", LISTED), INHERITED)
    seen = (cli.folder / "seen").read_text().split()
    assert seen[:3] == ["/etc/passwd", "/etc/group", "/etc/hostname"], err
    assert seen == seen[:3] * (len(seen) // 3)


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_nested_make_shares_jobs(cli: CommandLine) -> None:
    (cli.folder / "inner.mk").write_text("all: a b\na b:\n\t@true\n")
    line = shlex.join(cli.argv("run", "--")) + " $(MAKE) -f inner.mk"
    (cli.folder / "outer.mk").write_text(f"all:\n\t+@{line}\n")
    done = subprocess.run(
        ["make", "-j2", "-f", "outer.mk"],
        env=cli.env,
        cwd=cli.folder,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


MODULES = ("json", "numpy", "platform", "queue", "signal", "statistics", "types")
FOUND_ELSEWHERE = """
import sys
sys.path.insert(1, sys.argv.pop(1))
from assay.__main__ import entry
entry()
"""


def test_user_modules_are_not_imported_by_assay(cli: CommandLine) -> None:
    """PYTHONPATH is for the program: it may lead to NumPy for another Python, or to a json.py."""
    modules = cli.folder / "modules"
    modules.mkdir()
    for name in MODULES:
        (modules / f"{name}.py").write_text("raise ImportError('of the user')")
    source = cli.env["PYTHONPATH"].split(":")[0]
    words = ("measure", "--runs=3", "--", "sh", "-c", "echo $PYTHONPATH >seen")
    done = subprocess.run(
        [sys.executable, "-c", FOUND_ELSEWHERE, source, *words],
        env={**cli.env, "PYTHONPATH": str(modules)},
        cwd=cli.folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (cli.folder / "seen").read_text() == f"{modules}\n"


def test_program_of_pipeline_ends_as_without_assay(cli: CommandLine) -> None:
    status, out, err = in_shell(cli, ("run", "--", "yes"), "| head -n 1; exit ${PIPESTATUS[0]}")
    assert (status, out, err) == (141, "y\n", "")


@pytest.mark.rotating
def test_report_is_written_to_standard_output(cli: CommandLine) -> None:
    assert cli(*MEASURE).status == 0
    page = cli("report", "last", "-o", "-")
    assert page.status == 0
    assert page.err == ""
    assert cli("report", "-o", "page.html", "last").status == 0
    assert page.out == (cli.folder / "page.html").read_text()
    assert not (cli.folder / "-").exists()
    for words, says in (
        (("-o", "-", "--json"), "both"),
        (("-o", "."), "that is a folder"),
        (("-o", "no/page.html"), "no folder no"),
    ):
        answer = cli("report", "last", *words)
        assert (answer.status, answer.out) == (2, "")
        assert says in answer.err
        assert answer.err.count("\n") == 2
