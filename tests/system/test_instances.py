"""Several instances through the command line: processes, messages, and cleanup."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import CommandLine, leaves, nothing_left

from assay.machine.reader import read_machine

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.environ.get("ASSAY_TEST_SYSTEM") != "1", reason="ASSAY_TEST_SYSTEM=1"),
    pytest.mark.skipif(len(read_machine().cores) < 2, reason="needs two cores"),
]

REPORT = (
    "import os, sys, time; time.sleep(0.1); "
    "n = os.environ['ASSAY_INSTANCE']; assert n == sys.argv[1]; "
    "cpus = os.sched_getaffinity(0); "
    "print('rate=', 10 * (int(n) + 1), sep=''); print('on', *sorted(cpus))"
)
PROGRAM = (sys.executable, "-c", REPORT, "{instance}")


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.mark.rotating
def test_figures_are_summed_and_each_mask_is_read_back(cli: CommandLine) -> None:
    answer = cli(
        *("measure", "--runs", "3", "--json", "--metric", r"rate=rate=(\d+)", "--goal", "higher"),
        *("--check", "^on", "--with", "instances=2", "--", *PROGRAM),
    )
    assert answer.status == 0, answer.err
    samples = answer.document["samples"]
    assert {sample["metrics"]["rate"] for sample in samples} == {30}
    for sample in samples:
        assert sample["settings"]["instances"]["status"] == "granted"
        pieces = {e["kind"]: e for e in sample["evidence"]}
        masks = [pieces[f"instance.{i}"]["note"] for i in range(2)]
        assert all(mask.startswith("on CPU") for mask in masks)
        assert masks[0] != masks[1]
        assert all(0.1 <= pieces[f"instance.{i}"]["value"] <= sample["wall_s"] for i in range(2))


@pytest.mark.rotating
@pytest.mark.parametrize(("way", "expected"), [("max", 20), ("mean", 15), ("sum", 30)])
def test_figures_are_combined_as_requested(cli: CommandLine, way: str, expected: float) -> None:
    answer = cli(
        *("measure", "--runs", "2", "--json", "--metric", r"rate=rate=(\d+)"),
        *("--combine", f"rate={way}", "--with", "instances=2", "--", *PROGRAM),
    )
    assert answer.status == 0, answer.err
    assert {sample["metrics"]["rate"] for sample in answer.document["samples"]} == {expected}


@pytest.mark.rotating
def test_failed_instance_is_named(cli: CommandLine) -> None:
    fails = "import sys; sys.exit(7 * int(sys.argv[1]))"
    answer = cli(
        *("measure", "--runs", "5", "--with", "instances=2", "--"),
        *(sys.executable, "-c", fails, "{instance}"),
    )
    assert answer.status == 1
    assert "instance 1: exit status 7" in answer.err


@pytest.mark.rotating
def test_comparison_by_time_is_refused_and_by_instance_accepted(cli: CommandLine) -> None:
    arms = ("--arm", "instances=1", "--arm", "instances=2")
    refused = cli("compare", "--runs", "10", *arms, "--", *PROGRAM)
    assert refused.status == 2
    assert "The number of instances varies, and wall_s is the total of all instances" in refused.err
    assert not cli.store.exists() or not cli.rows("SELECT * FROM study")
    answer = cli(
        *("compare", "--runs", "14", "--json", "--objective", "wall_s_per_instance"),
        *(*arms, "--", *PROGRAM),
        timeout_s=120,
    )
    assert answer.status == 0, answer.err
    one, two = (arm["summary"]["wall_s_per_instance"]["median"] for arm in answer.document["arms"])
    assert two < one
    assert answer.document["metric"] == "wall_s_per_instance"


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tune", "--runs", "30", "instances=1,2", "--"], "The number of instances varies"),
        (
            ["measure", "--combine", "rate=most", "--metric", "rate=x", "--"],
            "unknown aggregation 'most'",
        ),
        (
            ["measure", "--combine", "wall_s=sum", "--"],
            "assay measures this metric for all instances together",
        ),
        (["measure", "--combine", "nothing=sum", "--"], "Unknown metric: 'nothing'"),
        (["measure", "--with", "instances=100000", "--"], "do not fit"),
        (["measure", "--with", "instances=some", "--"], "instances"),
        (["measure", "--with", "instances=1", "instances.rank=1", "--"], "there is 1 instance"),
        (["run", "--with", "instances.rank=1", "--"], "Add instances"),
        (["measure", "--with", "instances.rank=1", "--"], "Add instances"),
        (["compare", "--arm", "instances.rank=1", "--"], "Add instances"),
        (["tune", "instances.rank=0,1", "--"], "Add instances"),
    ],
)
def test_invalid_instances_are_reported(cli: CommandLine, words: list[str], message: str) -> None:
    answer = cli(*words, "true")
    assert answer.status in (2, 3, 125)
    assert message in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.rotating
def test_time_limit_ends_all_instances(cli: CommandLine) -> None:
    before = leaves()
    answer = cli(
        *("measure", "--runs", "2", "--timeout", "0.5s", "--json", "--with", "instances=2", "--"),
        *("sh", "-c", "sleep 60 & exec sleep 60"),
    )
    assert {sample["outcome"] for sample in cli.documents()} == {"timed_out"}
    nothing_left(cli, before)
    assert "Traceback" not in answer.err


def test_ctrl_c_ends_all_instances(cli: CommandLine) -> None:
    before = leaves()
    with cli.begun(
        *("measure", "--runs", "50", "--with", "instances=2", "--"),
        *("sh", "-c", "touch began.{instance}; sleep 60 & exec sleep 60"),
    ) as process:
        deadline = time.monotonic() + 30
        while not all((cli.folder / f"began.{i}").exists() for i in range(2)):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=30) == 130
    nothing_left(cli, before)


def test_run_records_each_instance_and_returns_status(cli: CommandLine) -> None:
    record = cli.folder / "r.json"
    shell = "cat; sleep 0.3; exit $((3 * ASSAY_INSTANCE))"
    answer = cli("run", "--with", "instances=2", "--record", record, "--", "sh", "-c", shell)
    assert answer.status == 3
    sample = json.loads(record.read_text())
    assert sample["settings"]["instances"]["status"] == "granted"


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("shell", "status", "message"),
    [
        # The second fails after the first has ended and has been waited for.
        (
            "if [ $ASSAY_INSTANCE = 0 ]; then echo $$ > new; exec mv new first; fi; "
            "until [ -e first ]; do sleep 0.01; done; "
            "while kill -0 $(cat first); do sleep 0.01; done 2> /dev/null; exit 3",
            3,
            "assay: instance 1: exit status 3.\n",
        ),
        (
            "[ $ASSAY_INSTANCE = 0 ] || exec sleep 60; kill -9 $$",
            -9,
            "assay: instance 0: ended by SIGKILL; 1 other was ended with it.\n",
        ),
        ("exit 0", 0, ""),
    ],
)
def test_run_names_failed_instance(cli: CommandLine, shell: str, status: int, message: str) -> None:
    answer = cli("run", "--with", "instances=2", "--", "sh", "-c", shell)
    assert (answer.status, answer.err) == (status, message)
    quiet = cli("run", "-q", "--with", "instances=2", "--", "sh", "-c", shell)
    assert (quiet.status, quiet.err) == (status, "")
    alone = cli("run", "--with", "instances=2", "instances.rank=0", "--", "sh", "-c", "exit 4")
    assert (alone.status, alone.err) == (4, "")


def test_script_starts_same_instances(cli: CommandLine) -> None:
    shell = "taskset -cp $$; echo $ASSAY_INSTANCE of $ASSAY_INSTANCES, {instance} > out.{instance}"
    words = ("--with", "instances=2", "--", "sh", "-c", shell)
    explained = cli("run", "--explain", *words)
    assert explained.status == 0
    done = subprocess.run(
        ["sh", "-c", explained.out], cwd=cli.folder, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    wrote = [(cli.folder / f"out.{i}").read_text() for i in range(2)]
    assert wrote == ["0 of 2, 0\n", "1 of 2, 1\n"]
    masks = {line.rpartition(": ")[2] for line in done.stdout.splitlines()}
    assert len(masks) == 2


def test_script_ends_instances_when_one_fails(cli: CommandLine) -> None:
    before = leaves()
    shell = "[ $ASSAY_INSTANCE = 1 ] || exit 9; exec sleep 60"
    explained = cli("run", "--explain", "--with", "instances=2", "--", "sh", "-c", shell)
    done = subprocess.run(
        ["sh", "-c", explained.out], env=cli.env, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 9
    nothing_left(cli, before)


@pytest.mark.rotating
def test_bundle_of_instances_is_verified(cli: CommandLine) -> None:
    made = cli(
        *("compare", "--runs", "14", "--metric", r"rate=rate=(\d+)", "--goal", "higher"),
        *("--arm", "instances=1", "--arm", "instances=2", "--", *PROGRAM),
        timeout_s=120,
    )
    assert made.status == 0, made.err
    bundle = cli.folder / "study.assay"
    exported = cli("study", "export", "last", "-o", bundle)
    assert exported.status == 0, exported.err
    verified = cli("study", "verify", bundle)
    assert verified.status == 0, verified.out + verified.err
