"""Studies on a machine that other processes use."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine

from assay.search.history.disturbance_sources import MAX_NAMED

pytestmark = [pytest.mark.system, pytest.mark.alone]

TICK_S = 0.01
"""Longest tick, in which the kernel counts the busy time of a CPU."""
COMPARED = ("compare", "--json", "--runs", "16", "sleep 0.3", "sleep 0.2")


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


DUTY = """
import time
while True:
    begin = time.monotonic()
    while time.monotonic() - begin < 0.06: pass
    time.sleep(0.04)
"""
"""Takes six tenths of a CPU."""
ON_DEMAND = """
import pathlib, sys, time
flag = pathlib.Path(sys.argv[1])
while True:
    if not flag.exists(): time.sleep(0.005)
"""
"""Takes a CPU while a file exists."""


@contextmanager
def other_process(*words: str, times: int = 1) -> Iterator[int]:
    """Run another program meanwhile; yields its process id."""
    with ExitStack() as stack:
        for _ in range(times):
            other = subprocess.Popen([sys.executable, "-c", *words])
            stack.callback(other.wait)
            stack.callback(other.kill)
        yield other.pid


def busy_cpus() -> AbstractContextManager[int]:
    """Keep every CPU that the tests may use busy."""
    return other_process("while True: pass", times=len(os.sched_getaffinity(0)))


@pytest.mark.rotating
def test_slow_down_under_another_load_is_slower_and_closes_the_gate(cli: CommandLine) -> None:
    """A gate must not pass because other processes use the machine."""
    before, after = (
        f"{sys.executable} -S -c 'for _ in range({count}): pass'"
        for count in (5 * 10**5, 3 * 10**6)
    )
    names = ("--name", "before", "--name", "after")
    with other_process(DUTY):
        found = cli(
            *("compare", "--json", "--runs", "36", "--disturbed-above", "10%"),
            *("--fail-if", "slower", *names, before, after),
            timeout_s=180.0,
        )
    assert found.status == 1, found.err
    (claim,) = found.document["claims"]
    assert claim["verdict"] == "slower"
    assert claim["beyond_margin"] is True
    assert "status 1 by --fail-if slower: after against before" in found.err
    assert all(arm["summary"]["wall_s"]["n"] > 0 for arm in found.document["arms"])


@pytest.mark.rotating
def test_load_on_all_cpus_is_named_and_leaves_a_verdict(cli: CommandLine) -> None:
    with busy_cpus() as pid:
        found = cli(*COMPARED, "--disturbed-above", "10%")
    assert found.status == 0, found.err
    document = found.document
    assert document["disturbed_blocks"] == document["blocks"] > 0
    (claim,) = document["claims"]
    assert claim["verdict"] == "faster"
    assert claim["disturbed_blocks"] == claim["blocks"]
    assert all(
        arm["disturbed_launches"] == arm["summary"]["wall_s"]["n"] for arm in document["arms"]
    )
    named = [one["name"] for one in document["disturbers"]]
    # If further programs use this host, three of them may use it more.
    assert any(f"process {pid}" in name for name in named) or len(named) == MAX_NAMED
    assert any("the table includes them" in note for note in document["notes"])


def _foreign_share(cli: CommandLine, document: dict[str, Any], arm: str) -> float:
    """Return the CPU share of other processes while an arm ran."""
    shown = cli("study", "show", "--json", document["study"]).document
    taken_s = capacity_s = 0.0
    for sample in shown["samples"]:
        figures = {e["kind"]: e.get("value") for e in sample["evidence"]}
        if sample["launch"]["arm"] == arm and sample["launch"]["stage"] == "confirm":
            taken_s += figures["foreign_load"]
            capacity_s += sample["wall_s"] * figures["host_cpus"]
    return taken_s / capacity_s


@pytest.mark.rotating
def test_load_that_follows_an_arm_is_named_and_withholds_the_verdict(
    cli: CommandLine, tmp_path: Path
) -> None:
    flag = tmp_path / "flag"
    follower = f"sh -c 'touch {flag}; sleep 0.3; rm {flag}'"
    with other_process(ON_DEMAND, str(flag)):
        found = cli(
            *("compare", "--json", "--runs", "26", "--disturbed-above", "10%"),
            *("sleep 0.3", follower),
        )
    (claim,) = found.document["claims"]
    if "verdict_withheld" not in claim and _foreign_share(cli, found.document, "sleep 0.3") > 0.2:
        pytest.skip("other programs use this machine too much to tell one apart")
    assert claim["verdict_withheld"] is True
    assert claim["verdict"] == "unclear"
    assert claim["correlated_load"]["b"] > claim["correlated_load"]["a"] + 0.1


@pytest.mark.rotating
def test_other_load_is_accepted_on_request(cli: CommandLine) -> None:
    with busy_cpus():
        found = cli(*COMPARED, "--disturbed-above", "never")
    assert found.document["disturbed_blocks"] == 0
    assert [claim["verdict"] for claim in found.document["claims"]] == ["faster"]


@pytest.mark.rotating
def test_own_load_of_launch_is_not_counted_as_other(cli: CommandLine) -> None:
    """A program that keeps every CPU busy does not disturb its own blocks.

    Other tests may run at the same time. All readings of a launch lie between its start and the
    next one, so its own time and that of others fit into this span.
    """
    spin = "import os; [os.fork() for _ in range(2)]; sum(range(8 * 10**6))"
    found = cli("measure", "--json", "--runs", "9", "--", sys.executable, "-c", spin)
    for sample, following in itertools.pairwise(found.document["samples"]):
        evidence = {e["kind"]: e.get("value") for e in sample["evidence"]}
        own_s = sample["user_s"] + sample["sys_s"]
        span_s = following["started_at"] - sample["started_at"]
        assert own_s + evidence["foreign_load"] <= (span_s + TICK_S) * evidence["host_cpus"]


def test_invalid_share_is_refused(cli: CommandLine) -> None:
    found = cli("measure", "--disturbed-above", "lots", "--", "true")
    assert found.status == 2
    assert "--disturbed-above" in found.err
