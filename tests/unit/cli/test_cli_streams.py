"""Standard streams that are closed, full or without a reader."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.cli.process.streams import _ErrorOutput, _StandardOutput
from assay.errors import NotPossibleError

SOURCE = Path(__file__).resolve().parents[3] / "src"
FULL = Path("/dev/full")


@pytest.fixture
def full() -> Iterator[int]:
    """Provide a descriptor that takes nothing."""
    if not FULL.exists():
        pytest.skip("no /dev/full")
    descriptor = os.open(FULL, os.O_WRONLY)
    yield descriptor
    os.close(descriptor)


@pytest.fixture
def unread() -> Iterator[int]:
    """Return the end of a pipe without a reader."""
    read, write = os.pipe()
    os.close(read)
    yield write
    os.close(write)


def text(raw: io.FileIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(raw), line_buffering=True)


def test_progress_that_cannot_be_written_is_lost(full: int) -> None:
    print("a line", file=text(_ErrorOutput(full, "w", closefd=False)))


def test_an_answer_that_cannot_be_written_is_missed(full: int) -> None:
    stream = text(_StandardOutput(full, "w", closefd=False))
    with pytest.raises(NotPossibleError, match="Standard output cannot be written: No space left"):
        print("a line", file=stream)


@pytest.mark.parametrize("kind", [_StandardOutput, _ErrorOutput])
def test_a_reader_that_has_gone_is_told(kind: type[io.FileIO], unread: int) -> None:
    with pytest.raises(BrokenPipeError):
        print("a line", file=text(kind(unread, "w", closefd=False)))


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--version"], 3),
        (["tune", "--help"], 3),
        (["settings", "list"], 3),
        (["schema", "tune"], 3),
        (["run", "--help"], 125),
    ],
)
def test_text_without_study_on_full_output_is_error(
    words: list[str],
    status: int,
    full: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stream = text(_StandardOutput(full, "w", closefd=False))
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        try:
            assert main(words) == status
        except SystemExit as end:
            assert end.code == status
        os.dup2(os.open(os.devnull, os.O_WRONLY), full)
        stream.flush()
    told = capsys.readouterr().err
    assert told.startswith("assay: Standard output cannot be written: No space left on device.")
    assert "study" not in told


REPORT = """
import os, sys
from assay.cli.process.streams import open_streams, discard_streams
kept = os.dup(1)
for fd in {closed}: os.close(fd)
sys.stdout = sys.stderr = None
open_streams()
print("to nobody"); print("to nobody", file=sys.stderr)
for fd in {closed}: assert os.fstat(fd).st_rdev == os.stat(os.devnull).st_rdev
assert os.get_inheritable(0) and os.get_inheritable(1)
discard_streams()
os.write(kept, b"fine")
"""


@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)])
def test_a_closed_stream_is_the_null_device(closed: tuple[int, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", REPORT.format(closed=closed)],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(b"fine")


def test_the_status_of_bad_input_needs_no_reader(
    unread: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        stream = text(_ErrorOutput(unread, "w", closefd=False))
        patch.setattr(sys, "stderr", stream)
        assert main(["study", "list", "x"]) == 2
        with pytest.raises(BrokenPipeError):
            stream.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), unread)
        stream.flush()


def test_a_folder_that_is_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.setenv("ASSAY_EXEC", "/bin/true")
    monkeypatch.chdir(folder)
    folder.rmdir()
    try:
        assert main(["measure", "--", "true"]) == 3
        said = capsys.readouterr().err.splitlines()
        assert said[0] == "assay: The working directory no longer exists."
        assert "Change" in said[1]
    finally:
        os.chdir(tmp_path)
