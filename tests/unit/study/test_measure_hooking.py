"""Commands around the launches."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from assay.errors import WorkloadFailed
from assay.measure.hooking import Hooking
from assay.records import Hooks, Workload


def appending(folder: Path, word: str) -> tuple[str, ...]:
    return (sys.executable, "-c", f"open({str(folder / 'log')!r}, 'a').write('{word} ')")


def hooking(folder: Path, **commands: tuple[str, ...]) -> Hooking:
    workload = Workload(argv=("true",), cwd=str(folder), hooks=Hooks(**commands))
    return Hooking(workload, os.environ)


def test_each_runs_when_it_is_due(tmp_path: Path) -> None:
    found = hooking(
        tmp_path, **{n: appending(tmp_path, n) for n in ("setup", "prepare", "cleanup")}
    )
    for _ in range(2):
        found.before_launch()
    found.after_last()
    found.after_last()
    assert (tmp_path / "log").read_text() == "setup prepare prepare cleanup "


def test_nothing_is_cleaned_up_that_was_not_begun(tmp_path: Path) -> None:
    hooking(tmp_path, cleanup=appending(tmp_path, "cleanup")).after_last()
    assert not (tmp_path / "log").exists()


def test_they_run_in_the_folder_of_the_workload(tmp_path: Path) -> None:
    write = (sys.executable, "-c", "open('here', 'w')")
    hooking(tmp_path, prepare=write).before_launch()
    assert (tmp_path / "here").exists()


def test_a_failure_names_the_option_and_shows_the_last_words(tmp_path: Path) -> None:
    broken = (sys.executable, "-c", "import sys; print('no disc', file=sys.stderr); sys.exit(3)")
    with pytest.raises(WorkloadFailed, match=r"--prepare ended with status 3.\n    no disc"):
        hooking(tmp_path, prepare=broken).before_launch()


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkloadFailed, match=r"--setup cannot be run.*/no/such"):
        hooking(tmp_path, setup=("/no/such",)).before_launch()
