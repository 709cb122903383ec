"""A search on a partition, and its confirmation on the system as it is."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import CommandLine
from partitions import run_folder

CPUS = sorted(os.sched_getaffinity(0))

pytestmark = [
    pytest.mark.system,
    pytest.mark.alone,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes partitions"),
    pytest.mark.skipif(len(CPUS) < 2, reason="one CPU is set apart"),
]

TUNED = ("env.D=0.05,0.02", "--runs", "40", "--json")
PROGRAM = ("--", "sh", "-c", "sleep ${D:-0.05}")


@pytest.fixture
def cli(
    assay_exec: Path, assay_broker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[CommandLine]:
    monkeypatch.setenv("ASSAY_BROKER", str(assay_broker))
    monkeypatch.setenv("ASSAY_STATE", str(tmp_path / "state"))
    with run_folder() as folder:
        monkeypatch.setenv("ASSAY_RUN", str(folder))
        yield CommandLine(assay_exec, tmp_path)


@pytest.fixture
def partition(cli: CommandLine) -> Iterator[str]:
    made = cli("partition", "create", "quiet", "--cpus", str(CPUS[-1]))
    assert made.status == 0, made.err
    try:
        yield "quiet"
    finally:
        cli("partition", "delete", "quiet", "--force")


@pytest.mark.rotating
def test_search_on_partition_is_confirmed_on_system(cli: CommandLine, partition: str) -> None:
    answer = cli("tune", "--search-on", partition, *TUNED, *PROGRAM)
    assert answer.status == 0, answer.err
    document = json.loads(answer.out)
    assert document["recommendation"]["settings"] == {"env.D": 0.02}
    study = document["study"]

    shown = json.loads(cli("study", "show", study, "--json").out)
    assert shown["spec"]["reserve"] == {"specification": "all", "partition": "quiet"}
    shares = [e["note"] for s in shown["samples"] for e in s["evidence"] if e["kind"] == "share"]
    assert shares and all(f"CPU {CPUS[-1]} " in note for note in shares)

    early = cli("study", "confirm", study)
    assert early.status == 3
    assert "The partition quiet exists" in early.err

    assert cli("partition", "delete", "quiet").status == 0
    answer = cli("study", "confirm", study, "--runs", "16", "--disturbed-above", "never", "--json")
    assert answer.status == 0, answer.err
    confirmed = json.loads(answer.out)
    assert confirmed["claims"][0]["verdict"] == "faster"
    found = confirmed["cross_environment"]["earlier_recommendation"]
    assert (found["study"], found["partition"]) == (study, "quiet")
    assert found["claim"]["ratio"] == document["recommendation"]["claim"]["ratio"]
    assert found["launches"] == document["launches"]


@pytest.mark.rotating
def test_deleted_partition_leaves_resumable_study(
    cli: CommandLine, partition: str, tmp_path: Path
) -> None:
    started = tmp_path / "started"
    program = ("--", "sh", "-c", f"echo >> {started}; sleep 2")
    words = ("tune", "--search-on", partition, "env.D=1,2,3", "--budget", "10m", *program)
    with subprocess.Popen(cli.argv(*words), env=cli.env, stderr=-1, cwd=cli.folder) as tune:
        while not started.exists() or len(started.read_text()) < 2:
            assert tune.poll() is None
            time.sleep(0.02)
        assert cli("partition", "delete", partition, "--force").status == 0
        result = tune.communicate(timeout=30)[1].decode()
    assert tune.returncode == 3
    kept = re.search(r"study (\S+) is kept, with .*`assay study resume \1` continues it", result)
    assert kept is not None, result
    assert "The share of partition quiet was lost" in result
    resumed = cli("study", "resume", kept[1])
    assert resumed.status == 3
    assert "This host has no partition named 'quiet'" in resumed.err


@pytest.mark.rotating
def test_invalid_search_on_options_are_refused(cli: CommandLine) -> None:
    both = cli("tune", "--search-on", "a", "--partition", "b", *TUNED, *PROGRAM)
    assert both.status == 2
    assert "both name a partition" in both.err
    none = cli("tune", "--search-on", "a", *TUNED, *PROGRAM)
    assert none.status == 3
    assert "no partition" in none.err
    flat = cli("measure", "--runs", "5", "--json", "--", "sleep", "0")
    study = json.loads(flat.out)["study"]
    nothing = cli("study", "confirm", study)
    assert nothing.status == 2
    assert "has no recommendation" in nothing.err
