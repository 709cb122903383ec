"""Studies whose launches run side by side, each in CPUs of its own, with real programs."""

from __future__ import annotations

import os
import signal
import time
from collections import defaultdict
from pathlib import Path

import pytest
from command_line import CommandLine, leaves, nothing_left
from marks import end_marked

from assay.machine.cpulist import format_list
from assay.machine.reader import read_machine
from assay.machine.slots import slots
from cases import cases

pytestmark = pytest.mark.system

RUNS = 70
TUNE = (
    "tune",
    "arg.t=0.03,0.01",
    "nice=0,5",
    "--runs",
    str(RUNS),
    "--margin",
    "60%",
    "--seed",
    "3",
)
"""With this wide margin, noise of a busy host does not prevent parallel launches."""
PROGRAM = (
    "sh",
    "-c",
    'allowed=$(sed -n "s/^Cpus_allowed_list:\\s*//p" /proc/self/status);'
    ' echo "begin $ASSAY_SLOT $allowed $$" >> log; setsid sleep 99 & sleep {t};'
    ' echo "end $ASSAY_SLOT $allowed $$" >> log',
)
"""Prints its CPUs, and leaves a process in a session of its own, as daemons do."""

SHOWN = ("sed", "-n", "s/^Cpus_allowed_list:.//p", "/proc/self/status")


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return on_two_cores(assay_exec, tmp_path)


def on_two_cores(assay_exec: Path, folder: Path) -> CommandLine:
    if len(read_machine().cores) < 2:
        pytest.skip("side by side takes two cores")
    return CommandLine(assay_exec, folder)


def lines(cli: CommandLine) -> list[list[str]]:
    return [line.split() for line in (cli.folder / "log").read_text().splitlines()]


def killed(cli: CommandLine) -> int:
    """Count the launches without an end in the log, since they were stopped at their limit."""
    return sum(sample["outcome"] == "timed_out" for sample in cli.documents())


@pytest.mark.rotating
def test_search_launches_run_concurrently_in_own_slots(cli: CommandLine) -> None:
    before = leaves()
    found = cli(*TUNE, "--parallel", "2", "--json", "--", *PROGRAM)
    assert found.status == 0, found.err
    nothing_left(cli, before)
    interference = found.document["interference"]
    result = {
        "concurrent_launches",
        "blocks",
        "ratio",
        "ci",
        "exclusive_sd_log",
        "concurrent_sd_log",
        "noise_ratio",
    }
    assert set(interference) == result, "as docs/reference/cli.md has them"
    assert interference["concurrent_launches"] == 2
    assert interference["blocks"] >= 4
    assert "sequential_reason" not in interference, "or the next lines tell nothing"
    of_slot = [format_list(slot) for slot in slots(read_machine().usable, 2)]
    most, running = 0, set()
    for word, slot, allowed, pid in lines(cli):
        assert allowed == of_slot[int(slot)]
        if word == "begin":
            running.add(pid)
        else:
            running.discard(pid)
        most = max(most, len(running))
    assert 2 <= most <= 2 + killed(cli)
    documents = cli.documents()
    neighbours: dict[str, set[float]] = defaultdict(set)
    for sample in documents:
        launch = sample["launch"]
        assert launch.get("cpu_slot") in (0, 1)
        evidence = {e["kind"]: e.get("value") for e in sample["evidence"]}
        if launch["stage"] != "survey":
            neighbours[launch["stage"]].add(evidence["neighbours"])
        assert evidence["host_cpus"] == len(slots(read_machine().usable, 2)[0])
    assert neighbours["search"] == {0.0, 1.0}
    assert neighbours["confirm"] == {0.0}
    confirmed = defaultdict(set)
    for sample in documents:
        if sample["launch"]["stage"] == "confirm":
            confirmed[sample["launch"]["block"]].add(sample["launch"]["cpu_slot"])
    assert confirmed
    assert all(len(used) == 1 for used in confirmed.values())


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("after", "number"),
    cases(
        [(5, signal.SIGINT), (25, signal.SIGKILL)],
        slow=[(25, signal.SIGINT), (5, signal.SIGKILL), (5, signal.SIGTERM), (25, signal.SIGTERM)],
    ),
)
def test_interrupted_parallel_study_resumes(
    cli: CommandLine, number: signal.Signals, after: int
) -> None:
    """All launches end, no process remains, and the study resumes to its end."""
    before = leaves()
    with cli.begun(*TUNE, "--parallel", "2", "--", *PROGRAM) as process:
        cli.wait_for(after)
        time.sleep(0.01)
        if number is signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        process.wait(timeout=20)
    nothing_left(cli, before)
    kept = cli.documents()
    answer = cli("study", "resume", "last", "--json")
    assert answer.status == 0, answer.err
    nothing_left(cli, before)
    assert cli.documents()[: len(kept)] == kept
    places = cli.samples()
    assert len(set(places)) == len(places) <= RUNS
    assert [block for _, block, _, _ in places] == sorted(block for _, block, _, _ in places)
    assert answer.document["interference"]["blocks"] >= 4
    end_marked(cli.mark)


@pytest.mark.rotating
def test_hooks_run_once_for_all_slots(cli: CommandLine) -> None:
    hooks = (
        ("--setup", "sh -c 'echo up >> hooks'"),
        ("--prepare", "sh -c 'echo slot $ASSAY_SLOT >> hooks'"),
        ("--cleanup", "sh -c 'echo down >> hooks'"),
    )
    words = [word for hook in hooks for word in hook]
    found = cli(*TUNE, *words, "--parallel", "2", "--", "sleep", "{t}")
    assert found.status == 0, found.err
    result = (cli.folder / "hooks").read_text().split("\n")[:-1]
    # The look at the program comes before the study, with hooks of its own.
    assert result[:3] == ["up", "slot 0", "down"]
    assert result.count("up") == result.count("down") == 2
    assert {"slot 0", "slot 1"} <= set(result)


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("--parallel", "0"), 2, "--parallel: '0' is not a number of slots"),
        (("--parallel", "x"), 2, "--parallel: 'x' is not a number of slots"),
        (("--parallel", "1"), 2, "--parallel takes a number from 2 on"),
        (("--parallel", "1000"), 3, "cannot be divided into 1000 equal slots"),
        (("--parallel", "2", "cache=warm,cold"), 2, "cache affects concurrent launches"),
        (("--parallel", "2", "vm.swappiness=57"), 2, "vm.swappiness affects concurrent launches"),
    ],
)
def test_invalid_parallel_options_are_refused_before_launches(
    cli: CommandLine, words: tuple[str, ...], status: int, message: str
) -> None:
    found = cli("tune", *words, "--", "true")
    assert found.status == status
    assert message in found.err
    assert not cli.store.exists()


@pytest.mark.rotating
def test_more_slots_than_cores_are_refused(cli: CommandLine) -> None:
    cores = len(read_machine().cores)
    found = cli("tune", "nice=0,5", "--parallel", str(cores + 1), "--", "true")
    assert found.status == 3
    assert f"cannot be divided into {cores + 1} equal slots" in found.err


@pytest.mark.rotating
def test_settings_use_slot_as_machine(cli: CommandLine) -> None:
    """A count beyond the slot, and a CPU of another one, cannot be granted."""
    slot, other = slots(read_machine().usable, 2)[:2]
    found = cli(
        "tune",
        f"cpus={len(slot)},{len(slot) + 1}",
        "--parallel",
        "2",
        "--dry-run",
        "--json",
        "--",
        "true",
    )
    assert found.status == 0, found.err
    assert list(found.document["excluded_settings"]) == [f"cpus={len(slot) + 1}"]
    named = cli(
        "tune", f'cpus="{other[0]},{slot[0]}"', "--parallel", "2", "--dry-run", "--", "true"
    )
    assert named.status == 3
    assert "not among the CPUs that assay may use" in named.err


@pytest.fixture(scope="module")
def searched(assay_exec: Path, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Return a store with a finished study of a program that prints its CPUs; it is only read."""
    line = on_two_cores(assay_exec, tmp_path_factory.mktemp("searched"))
    shown = 'sed -n "s/^Cpus_allowed_list:.//p" /proc/self/status; exec sleep {t}'
    found = line(*TUNE, "--parallel", "2", "--", "sh", "-c", shown)
    assert found.status == 0, found.err
    return line


@pytest.mark.rotating
def test_winner_runs_in_slot_again(searched: CommandLine) -> None:
    cli = searched
    found = cli("study", "resume", "last", "--json")
    words = [] if found.document["recommendation"]["settings"] else ["--", *SHOWN]
    again = cli("run", "--from", "last", *words)
    assert again.status == 0, again.err
    assert again.out.strip() == format_list(slots(read_machine().usable, 2)[0])
    if script := found.document["recommendation"]["script"]:
        assert "taskset" in script


@pytest.mark.rotating
def test_bundle_of_parallel_study_is_verified(searched: CommandLine) -> None:
    """The verdict, the findings about parallel launches, and the script."""
    cli = searched
    bundle = cli.folder / "b.zip"
    assert cli("study", "export", "last", "--bundle", bundle).status == 0
    verified = cli("study", "verify", bundle)
    assert verified.status == 0, verified.out + verified.err
    page = cli("report", "last", "-o", "-")
    assert page.status == 0
    assert "every launch is confined to one of 2 slots" in page.out


BUILD = """\
echo "build $$" >> log
sleep 0.05
test "$1" != 3 && cp prog "$2"
echo "built $$" >> log
"""
BUILT = """\
echo "begin $$" >> log
sleep "$1"
echo "end $$" >> log
"""


@pytest.mark.rotating
def test_builds_run_alone_and_once_per_program(cli: CommandLine) -> None:
    cli.more["XDG_CACHE_HOME"] = str(cli.folder / "cache")
    (cli.folder / "make").write_text(BUILD)
    (cli.folder / "prog").write_text(BUILT)
    found = cli(
        *("tune", "build.v=0,1,2,3", "arg.t=0.05,0.03", "--json"),
        *("--runs", "130", "--margin", "60%", "--parallel", "2"),
        *("--build", "sh make {v} {build}", "--build-input", "prog"),
        *("--", "sh", "{build}/prog", "{t}"),
    )
    assert found.status == 0, found.err
    assert "sequential_reason" not in found.document["interference"], (
        "or the next lines tell nothing"
    )
    running: set[str] = set()
    most, times_built, building = 0, 0, False
    for word, pid in lines(cli):
        match word:
            case "build":
                building, times_built = True, times_built + 1
                assert not running
            case "built":
                building = False
            case "begin":
                assert not building
                running.add(pid)
            case _:
                running.discard(pid)
        most = max(most, len(running))
    assert 2 <= most <= 2 + killed(cli)
    assert times_built == 4, "what cannot be built is tried once, whatever the slot"
    result = [e for s in cli.documents() for e in s["evidence"] if e["kind"] == "build"]
    whole = [piece["note"] for piece in result if "value" in piece]
    assert len(set(whole)) == 3
    assert len(whole) <= 4, "once in the survey and once in the study"
