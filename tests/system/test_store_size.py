"""Pruning and compaction of a store of real studies, by the command line."""

from __future__ import annotations

import json
import mmap
import os
import signal
import time
from pathlib import Path

import pytest
from command_line import CommandLine
from mounting import mounted

from assay.store import open_store


@pytest.mark.rotating
def test_thinned_search_keeps_its_verdict_in_a_bundle(assay_exec: Path, tmp_path: Path) -> None:
    cli = CommandLine(assay_exec, tmp_path)
    answer = cli("tune", "--runs", "40", "env.A=0,1", "env.B=0,1", "--", "sh", "-c", "echo $A $B")
    assert answer.status in (0, 1), answer.err
    before = cli.documents()
    plan = cli("study", "prune", "--keep-last", "0", "--samples", "thin")
    assert "--yes" in plan.out, plan
    assert cli.documents() == before
    found = cli("study", "prune", "--keep-last", "0", "--samples", "thin", "--yes", "--json")
    assert found.document["studies"] and not found.document["kept"], found
    after = cli.documents()
    assert [one["launch"] for one in after] == [one["launch"] for one in before]
    assert len(json.dumps(after)) < len(json.dumps(before))
    assert cli("study", "export", "last", "--bundle", "thin.zip").status == 0
    assert cli("study", "verify", "thin.zip").status == 0
    assert cli("report", "last").status == 0
    assert cli("study", "compact").status == 0
    assert cli.documents() == after


@pytest.mark.rotating
def test_running_study_is_named_and_left_whole(assay_exec: Path, tmp_path: Path) -> None:
    cli = CommandLine(assay_exec, tmp_path)
    with cli.begun("measure", "--precision", "0.001%", "--budget", "60s", "--", "true") as process:
        cli.wait_for(samples=10)
        answer = cli("study", "prune", "--keep-last", "0", "--yes")
        assert answer.status == 0, answer
        assert "is left whole: it is running" in answer.out
        compacted = cli("study", "compact")
        assert "is left out: it is running" in compacted.out
        known = len(cli.samples())
        cli.wait_for(samples=known + 5)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
    time.sleep(0.1)
    with open_store(cli.store) as store:
        assert store.studies()[0].launches == len(cli.samples())


@pytest.mark.system
@pytest.mark.rotating
def test_store_larger_than_the_free_disk_is_not_compacted(assay_exec: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with mounted(disk, "-t", "tmpfs", "-o", "size=4m", "tmpfs"):
        cli = CommandLine(assay_exec, disk, more={"TMPDIR": str(disk)})
        assert cli("measure", "--runs", "6", "-q", "--", "true").status in (0, 1)
        before = cli.documents()
        (disk / "filling").write_bytes(
            bytes(os.statvfs(disk).f_bavail * mmap.PAGESIZE - (64 << 10))
        )
        answer = cli("study", "compact")
        assert answer.status == 3, answer
        assert "Nothing was changed" in answer.err
        assert "--no-vacuum" in answer.err
        assert cli.documents() == before
        assert cli("study", "compact", "--no-vacuum").status == 0
        assert cli.documents() == before
