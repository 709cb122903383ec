"""Scratch folders: what a killed process left goes, what lives or is somebody else's stays."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.executors import scratch
from assay.executors.scratch import PREFIX, ScratchFolder, remove_stale

HOLDER = """
import sys
from pathlib import Path
from assay.executors.scratch import ScratchFolder
held = ScratchFolder(Path(sys.argv[1]))
held.stdout.write_text("output")
held.stderr.write_text("")
print("ready", flush=True)
sys.stdin.read()
"""


def stale(parent: Path, name: str = "x") -> Path:
    folder = parent / f"{PREFIX}{name}"
    folder.mkdir(mode=0o700)
    (folder / "stdout").write_text("left")
    return folder


def test_a_closed_one_is_gone(tmp_path: Path) -> None:
    made = ScratchFolder(tmp_path)
    made.stdout.write_text("x")
    assert len(list(tmp_path.iterdir())) == 1
    made.close()
    made.close()
    assert list(tmp_path.iterdir()) == []


def test_fifo_of_progress_is_removed(tmp_path: Path) -> None:
    made = ScratchFolder(tmp_path)
    for _ in range(2):
        os.mkfifo(made.progress)
        made.renew()
    os.mkfifo(made.progress)
    made.close()
    assert list(tmp_path.iterdir()) == []


def test_scratch_of_killed_process_is_removed_at_next_start(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        (theirs,) = tmp_path.iterdir()
        mine = ScratchFolder(tmp_path)
        assert (theirs / "stdout").read_text() == "output", "it lives"
        mine.close()
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert theirs.is_dir()
    ScratchFolder(tmp_path).close()
    assert list(tmp_path.iterdir()) == []


def test_only_what_assay_made_is_removed(tmp_path: Path) -> None:
    full = stale(tmp_path, "full")
    (full / "thesis.tex").write_text("years of work")
    linked = tmp_path / f"{PREFIX}link"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "stdout").write_text("mine")
    linked.symlink_to(elsewhere)
    other = tmp_path / "assay-notes"
    other.mkdir()
    file = tmp_path / f"{PREFIX}file"
    file.write_text("")
    remove_stale(tmp_path)
    assert (full / "thesis.tex").exists()
    assert (elsewhere / "stdout").exists()
    assert linked.is_symlink() and other.is_dir() and file.exists()


def test_another_users_folder_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = stale(tmp_path)
    monkeypatch.setattr(scratch.os, "geteuid", lambda: os.getuid() + 1)
    remove_stale(tmp_path)
    assert (folder / "stdout").exists()
    monkeypatch.undo()
    remove_stale(tmp_path)
    assert not folder.exists()


def test_a_new_one_that_another_start_took_for_stale_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = scratch._open
    swept: list[Path] = []

    def open_late(folder: Path) -> int:
        fd = opened(folder)
        if not swept:
            swept.append(folder)
            folder.rmdir()
        return fd

    monkeypatch.setattr(scratch, "_open", open_late)
    made = ScratchFolder(tmp_path)
    assert made.stdout.parent != swept[0]
    made.stdout.write_text("x")
    made.close()
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_looked_at_is_no_error(tmp_path: Path) -> None:
    remove_stale(tmp_path / "missing")


def as_nobody(function: Callable[[], None]) -> None:
    """Call it in a process without root's right to ignore permissions."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            if os.geteuid() == 0:
                os.setresgid(65534, 65534, 65534)
                os.setresuid(65534, 65534, 65534)
            function()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may reach and write to."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


def test_it_can_be_used_again_whatever_a_program_did_to_it(open_folder: Path) -> None:
    def meddle() -> None:
        made = ScratchFolder(open_folder)
        for spoil in (
            lambda: made.stdout.chmod(0),
            lambda: made.stdout.parent.chmod(0),
            lambda: shutil.rmtree(made.stdout.parent),
            lambda: made.stdout.unlink(),
        ):
            made.stdout.write_text("output")
            spoil()
            made.renew()
            made.stdout.write_text("output")
            made.stderr.write_text("")
        made.stdout.parent.chmod(0)
        made.close()

    as_nobody(meddle)
    assert list(open_folder.iterdir()) == []


def test_a_closed_folder_that_was_left_goes_with_the_next_start(open_folder: Path) -> None:
    def leave() -> None:
        left = stale(open_folder)
        left.chmod(0)
        remove_stale(open_folder)

    as_nobody(leave)
    assert list(open_folder.iterdir()) == []


def test_files_of_the_next_launch_are_others(tmp_path: Path) -> None:
    made = ScratchFolder(tmp_path)
    with made.stdout.open("w") as survivor:
        made.renew()
        made.stdout.write_text("next")
        survivor.write("late")
    assert made.stdout.read_text() == "next"
    made.close()


def test_a_folder_that_cannot_be_made_anew_is_for_the_launch_to_report(tmp_path: Path) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    made = ScratchFolder(place)
    shutil.rmtree(place)
    made.renew()
    assert not made.stdout.parent.exists()
    made.close()
