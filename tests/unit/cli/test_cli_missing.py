"""Errors on commands that cannot be started."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.api.options.missing import demand_in_path, missing_program_error
from assay.cli.main import main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def script(folder: Path, name: str, text: str, mode: int) -> None:
    (folder / name).write_text(text)
    (folder / name).chmod(mode)


@pytest.mark.parametrize(
    ("name", "text", "interpreter"),
    [
        ("a.py", "", "python3"),
        ("a.sh", "", "sh"),
        ("a", "#!/usr/bin/env perl\n", "perl"),
        ("b.py", "#! /opt/bin/pypy3 -u\n", "pypy3"),
    ],
)
def test_a_file_that_is_not_executable_is_said_to_be_there(
    folder: Path, name: str, text: str, interpreter: str
) -> None:
    script(folder, name, text, 0o644)
    error = missing_program_error(f"./{name}")
    assert error.cause == f"The command './{name}' is there, but it is not executable."
    assert f"`chmod +x ./{name}`" in (error.remedy or "")
    assert f"`{interpreter} ./{name}`" in (error.remedy or "")


def test_a_program_in_the_folder_is_not_in_the_path(folder: Path) -> None:
    script(folder, "app", "#!/bin/sh\n", 0o755)
    demand_in_path("./app")
    error = missing_program_error("app")
    assert "not found in PATH" in error.cause
    assert error.remedy == "Write ./app to run that."


def test_a_folder_is_no_command(folder: Path) -> None:
    (folder / "app").mkdir()
    assert "is a folder" in missing_program_error("./app").cause
    assert "was not found" in missing_program_error("app").cause


@pytest.mark.parametrize("hook", ["--setup", "--prepare", "--cleanup"])
def test_a_hook_that_is_not_there_is_wrong_input(
    hook: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["measure", "--db", "kept.db", hook, "no-such x", "--runs", "3", "--", "true"]) == 2
    told = capsys.readouterr().err
    assert f"{hook}: The command 'no-such' was not found." in told
    assert not Path("kept.db").exists()


def test_setup_may_make_what_prepare_runs(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--setup", "true", "--prepare", "./made", "--runs", "x", "--", "true"]
    assert main(["measure", *words]) == 2
    assert "--runs" in capsys.readouterr().err  # --setup is valid, and another option is not
