"""Studies leave no core files with any limit of the caller; `assay run` keeps them."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import CommandLine

TOLD = "import resource; print('core', resource.getrlimit(resource.RLIMIT_CORE)[0])"
ABORTS = "import os; os.environ.get('BAD') and os.abort()"


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> Iterator[CommandLine]:
    """Provide a command line that may write cores without limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    if hard == 0:
        pytest.skip("core files are not allowed here")
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    yield CommandLine(assay_exec, tmp_path)
    resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


@pytest.mark.system
@pytest.mark.rotating
def test_aborting_arm_leaves_no_core_and_is_reported(cli: CommandLine) -> None:
    words = ("--arm", "", "--arm", "env.BAD=1", "--runs", "8", "--json")
    answer = cli("compare", *words, "--", sys.executable, "-S", "-c", ABORTS)
    ended = [one for one in cli.documents() if one["launch"]["arm"] == "env.BAD=1"]
    assert ended and all(one["message"] == "ended by SIGABRT" for one in ended)
    assert "SIGABRT" in answer.out + answer.err
    assert not list(cli.folder.glob("*core*"))


@pytest.mark.system
def test_run_keeps_core_limit_of_caller(cli: CommandLine) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    kept = cli("run", "--", sys.executable, "-S", "-c", TOLD)
    assert kept.out.split() == ["core", str(hard)]
    read = ("--metric", "limit=core (-?[0-9]+)", "--objective", "wall_s", "--json")
    measured = cli("measure", "--runs", "3", *read, "--", sys.executable, "-S", "-c", TOLD)
    assert measured.status == 0, measured.err
    assert {one["metrics"]["limit"] for one in cli.documents()} == {1.0}
