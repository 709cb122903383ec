"""A wrapper is distinguished from its program: by exec, as its parent, or during cleanup."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest
from command_line import CommandLine
from launching import Launcher

pytestmark = pytest.mark.system

BUSY = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
LARGE = "b = bytearray(300 << 20)\nfor i in range(3): b[::4096] = bytes(len(b) // 4096)"
NICE = min(19, os.nice(0) + 3)
"""Nice value of a program under ``nice -n 3``."""
CLEAN = 'env -i PATH="$PATH"'


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.mark.parametrize("how", ["exec {}", "{}; true"])
def test_work_is_attributed_to_state_of_process(launcher: Launcher, how: str) -> None:
    script = f"sleep 0.05; {how.format(f'{CLEAN} nice -n 3 sh -c {shlex.quote(BUSY)}')}"
    record = launcher.run(
        ["sh", "-c", script],
        readback=["status", "environ", "maps"],
        env_set={"ASSAY_TEST_VALUE": "1"},
        environ_names=["ASSAY_TEST_VALUE"],
        map_names=["ld-linux"],
    )
    first, *others = record["readback"]["workers"]
    assert (first["nice"], first["environ"]) == (NICE, {})
    assert first["cpu_s"] > sum(one["cpu_s"] for one in others)
    assert {"ASSAY_TEST_VALUE": "1"} in [one.get("environ") for one in others]


def test_processes_of_one_state_are_not_listed(launcher: Launcher) -> None:
    record = launcher.run(["sh", "-c", BUSY], readback=["status", "environ", "maps"])
    assert "workers" not in record["readback"]


MAPS_BELOW = """
import ctypes, time
kept = b"x" * (64 << 20)
time.sleep(0.25)
take = ctypes.CDLL(None).mmap
take.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
take(0x100000, 4096, 3, 0x32, -1, 0)
time.sleep(0.6)
"""
"""Maps memory below the executable (MAP_PRIVATE, MAP_ANONYMOUS, MAP_FIXED), as a JVM does."""


def test_memory_below_executable_adds_no_process(launcher: Launcher) -> None:
    program = f"{shlex.quote(sys.executable)} -S -c {shlex.quote(MAPS_BELOW)}"
    record = launcher.run(
        ["sh", "-c", f"sleep 0.05; exec nice -n 3 {program}"],
        readback=["status", "maps"],
        map_names=["ld-linux"],
    )
    (found,) = (one for one in record["readback"]["workers"] if one["nice"] == NICE)
    assert found["processes"] == 1
    assert 64 << 20 <= found["resident_bytes"] < 112 << 20


@pytest.mark.parametrize("setting", ["nice=3", "threads=2"])
def test_run_names_setting_lost_in_worker(cli: CommandLine, setting: str) -> None:
    script = f"exec {CLEAN} nice -n 2 sh -c {shlex.quote(BUSY)}"
    answer = cli("run", "--with", setting, "--", "sh", "-c", script)
    assert answer.status == 0
    (line,) = answer.err.splitlines()
    assert line.startswith(f"assay: {setting} was not in force: ")
    assert cli("run", "-q", "--with", setting, "--", "sh", "-c", script).err == ""


def test_run_reports_no_settings_in_force(cli: CommandLine) -> None:
    words = ("--with", "env.ASSAY_TEST_VALUE=1", "--with", "nice=3", "--with", "threads=2")
    answer = cli("run", *words, "--", "sh", "-c", f"sleep 0.02; sh -c {shlex.quote(BUSY)}; exit 4")
    assert (answer.status, answer.err) == (4, "")


def test_tier_run_names_worker_without_pager(
    cli: CommandLine, tier_allowed: None, disk: Path
) -> None:
    words = ("tier", "run", "--dram", "64M", "--path", disk, "--")
    program = f"{shlex.quote(sys.executable)} -S -c {shlex.quote(LARGE)}"
    answer = cli(*words, "sh", "-c", f"exec {CLEAN} {program}")
    assert answer.status == 0
    (line,) = answer.err.splitlines()
    assert line.startswith(f"assay: mem.dram=64M and mem.tier={disk} were not in force: not mapped")
    assert cli(*words, "sh", "-c", f"exec {program}").err == ""


@pytest.mark.rotating
def test_compare_reports_setting_never_in_force(cli: CommandLine) -> None:
    script = f"exec {CLEAN} sh -c {shlex.quote(BUSY)}"
    words = ("--arm", "", "--arm", "env.ASSAY_TEST_VALUE=1", "--runs", "14", "--json")
    answer = cli("compare", *words, "--", "sh", "-c", script, timeout_s=120)
    notes = " ".join(answer.document["notes"])
    assert "which never had env.ASSAY_TEST_VALUE=1" in notes
