"""Libraries that change while a study runs."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import msgspec._core
import pytest
from command_line import CommandLine

pytestmark = pytest.mark.system

PROGRAM = "import ctypes, time; ctypes.CDLL('./libplug.so'); time.sleep(0.3)"


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


def notes(cli: CommandLine, *hooks: str) -> list[str]:
    shutil.copyfile(msgspec._core.__file__, cli.folder / "libplug.so")
    words = ("--runs", "8", *hooks, "--", sys.executable, "-c", PROGRAM)
    found = cli("measure", "--json", *words)
    assert found.status == 0, found.err
    return [note for note in found.document["notes"] if "libplug.so" in note]


@pytest.mark.rotating
def test_study_reports_changed_libraries(cli: CommandLine) -> None:
    build = "sh -c 'test ! -e begun || touch libplug.so; touch begun'"
    (note,) = notes(cli, "--prepare", build)
    assert note.startswith("some launches ran before a change of ")
    assert "--new-stratum" in note


@pytest.mark.rotating
@pytest.mark.parametrize("hooks", [(), ("--cleanup", "rm libplug.so")])
def test_unchanged_libraries_are_not_reported(cli: CommandLine, hooks: tuple[str, ...]) -> None:
    assert notes(cli, *hooks) == []
