"""Low limits of open files."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import assay
from assay.cli.main import main
from assay.cli.process.descriptors import MIN_OPEN_FILES, descriptor_error
from assay.cli.verbs import settings as settings_verb


def limited(files: int, *words: str) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    return subprocess.run(
        [sys.executable, "-m", "assay", *words],
        env={**os.environ, "PYTHONPATH": str(Path(assay.__file__).parents[1])},
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("files", [12, MIN_OPEN_FILES - 1])
def test_too_few_are_refused_before_anything_is_done(files: int) -> None:
    done = limited(files, "measure", "--runs", "3", "--", "true")
    assert done.returncode == 3
    assert done.stderr.splitlines() == [
        f"assay: The limit of open files is {files} (`ulimit -n`), and assay needs "
        f"{MIN_OPEN_FILES}.",
        "  Raise the limit with `ulimit -n 1024` in the shell that starts assay.",
    ]


def test_as_many_as_are_asked_for_are_enough() -> None:
    done = limited(MIN_OPEN_FILES, "settings", "list")
    assert done.returncode == 0
    assert done.stderr == ""


def test_where_they_run_out_the_limit_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def out_of_files(parsed: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files", "/some/where")

    monkeypatch.setattr(settings_verb, "run", out_of_files)
    assert main(["settings"]) == 3
    told = capsys.readouterr().err
    assert "has reached its limit of" in told
    assert "ulimit -n" in told


def test_other_errors_are_others() -> None:
    assert descriptor_error(OSError(errno.ENOSPC, "No space left on device")) is None
    assert "file-max" in str(
        descriptor_error(OSError(errno.ENFILE, "Too many open files in system"))
    )
