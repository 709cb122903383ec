"""A program built from a branch is rebuilt after the branch moved, and the commit is reported."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import CommandLine

PERSON = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")


def commit(folder: Path, seconds: str) -> str:
    """Commit a program of the given duration; return the commit."""
    (folder / "prog").write_text(f"#!/bin/sh\nsleep {seconds}\n")
    (folder / "prog").chmod(0o755)
    for words in (("add", "prog"), (*PERSON, "commit", "-q", "-m", seconds)):
        subprocess.run(["git", *words], cwd=folder, check=True)
    result = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True
    )
    return result.stdout.strip()


@pytest.mark.rotating
def test_moved_branch_is_rebuilt_and_reported(assay_exec: Path, tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    cli = CommandLine(assay_exec, tmp_path, more={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    folder = tmp_path / "repository"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "work"], cwd=folder, check=True)
    first = commit(folder, "0.01")
    subprocess.run(["git", "branch", "old"], cwd=folder, check=True)
    build = ("--build", """sh -c 'git archive "$1" | tar -xC "$0"' {build} {rev}""")
    asked = ("measure", "--runs", "3", "--with", "build.rev=work", *build, "--", "{build}/prog")
    answer = cli(*asked, cwd=folder)
    assert answer.status == 0, answer.err
    assert f"build.rev=work is commit {first[:12]}" in answer.out
    second = commit(folder, "0.2")
    export = tmp_path / "answer.md"
    answer = cli(*asked[:3], "--export", str(export), *asked[3:], cwd=folder)
    assert answer.status == 0, answer.err
    assert f"build.rev=work is commit {second[:12]}" in answer.out
    assert second[:12] in export.read_text()
    assert min(one["wall_s"] for one in cli.documents()[-3:]) > 0.15
    report = tmp_path / "report.html"
    assert cli("report", "last", "-o", str(report)).status == 0
    assert second[:12] in report.read_text()
    commit(folder, "0.3")
    resumed = cli("study", "resume", "last", "--runs", "1", cwd=folder)
    assert resumed.status != 0 and "program" in resumed.err
