"""What others do on this machine while a study goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = [pytest.mark.system, pytest.mark.alone]

COMPARED = ("compare", "--json", "--runs", "16", "sleep 0.3", "sleep 0.2")


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@contextmanager
def busy_cpus() -> Iterator[None]:
    """Somebody else works on every CPU that the tests may use, for as long as it takes."""
    with ExitStack() as stack:
        for _ in os.sched_getaffinity(0):
            other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(other.wait)
            stack.callback(other.kill)
        yield


def test_no_verdict_while_others_use_the_machine(cli: CommandLine) -> None:
    with busy_cpus():
        found = cli(*COMPARED, "--disturbed-above", "10%")
    assert found.status == 0, found.err
    assert found.document["disturbed_blocks"] == found.document["blocks"] > 0
    assert not found.document["claims"]
    assert any("no verdict is given" in note for note in found.document["notes"])


def test_others_are_admitted_where_that_is_asked_for(cli: CommandLine) -> None:
    with busy_cpus():
        found = cli(*COMPARED, "--disturbed-above", "never")
    assert found.document["disturbed_blocks"] == 0
    assert [claim["verdict"] for claim in found.document["claims"]] == ["faster"]


def test_what_the_launch_itself_does_is_not_of_others(cli: CommandLine) -> None:
    """A program that keeps every CPU busy by itself disturbs no block of its own.

    The bound is wide: other tests may run at the same time.
    """
    spin = "import os; [os.fork() for _ in range(2)]; sum(range(4 * 10**6))"
    found = cli("measure", "--json", "--runs", "9", "--", sys.executable, "-c", spin)
    for sample in found.document["samples"]:
        evidence = {e["kind"]: e.get("value") for e in sample["evidence"]}
        own_s = sample["user_s"] + sample["sys_s"]
        capacity_s = sample["wall_s"] * evidence["host_cpus"]
        assert evidence["foreign_load"] <= capacity_s - own_s + 0.05 * evidence["host_cpus"]


def test_a_share_that_is_none_is_refused(cli: CommandLine) -> None:
    found = cli("measure", "--disturbed-above", "lots", "--", "true")
    assert found.status == 2
    assert "--disturbed-above" in found.err
