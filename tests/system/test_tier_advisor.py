"""The advisor: ``assay tier run`` with the kernel's swap, and its selection."""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Answer, CommandLine
from swapping import others, swap_file, without_swap

from native_build import native_build

pytestmark = [pytest.mark.system, pytest.mark.alone]

MIB = 1 << 20
BYTES, DRAM = 200 * MIB, 64 * MIB
NOBODY = 65534
AS_NOBODY = (
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    # Other users may not be able to read the directories of Python or assay.
    *("--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"),
)
UNPRIVILEGED = Path("/proc/sys/vm/unprivileged_userfaultfd")

WALK = """
import hashlib, mmap, sys, time
how, size, most_mib, step = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), 1 << 20
def resident_mib():
    with open("/proc/self/status") as stream:
        return next(int(line.split()[1]) >> 10 for line in stream if line.startswith("RssAnon:"))
def settled():
    end = time.monotonic() + 30
    while resident_mib() > most_mib and time.monotonic() < end:
        time.sleep(0.05)
    return resident_mib()
if how == "mmap":
    data = memoryview(mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
else:
    data = memoryview(bytearray(size))
block = bytes(range(256)) * 4096
for at in range(0, size, step):
    data[at : at + step] = block
    data[at : at + 8] = at.to_bytes(8, "little")
filled = settled()
digest = hashlib.blake2b()
for places in (range(0, size, step), reversed(range(0, size, step))):
    for at in places:
        digest.update(data[at : at + step])
        time.sleep(0.001)
print(digest.hexdigest(), filled, settled())
"""
"""Fill memory, wait until little is resident, and sweep it forwards and backwards."""


@pytest.fixture
def cli(assay_exec: Path, disk: Path) -> CommandLine:
    if not (assay_exec.parent / "libassay-tier.so").exists():
        pytest.skip("the tier is not built here: liburing or xxHash is missing")
    disk.chmod(0o777)
    return CommandLine(assay_exec, disk, more={"LC_ALL": "C", "HOME": str(disk)})


@pytest.fixture
def swap(disk: Path) -> Iterator[None]:
    with swap_file(disk, 512 * MIB):
        yield


def advised(cli: CommandLine, *command: str, **env: str) -> Answer:
    words = ("tier", "run", "--how", "advisor", "--dram", "64M")
    return cli(*words, "--", *command, **env)


def python(program: str, *more: str) -> tuple[str, ...]:
    return (sys.executable, "-c", program, *more)


def walked(answer: Answer) -> tuple[str, int, int]:
    assert answer.status == 0, answer
    digest, filled, after = answer.out.split()
    return digest, int(filled), int(after)


def result(report: Path) -> dict[str, Any]:
    """Return the report of the last process that ended."""
    return dict(json.loads(report.read_text().splitlines()[-1]))


@pytest.mark.rotating
@pytest.mark.parametrize("how", ["bytearray", "mmap"])
@pytest.mark.usefixtures("swap")
def test_advisor_preserves_data_and_meets_budget(cli: CommandLine, disk: Path, how: str) -> None:
    words = python(WALK, how, str(BYTES), "90")
    plain = subprocess.run(
        python(WALK, how, str(BYTES), "1000"), capture_output=True, text=True, check=True
    )
    report = disk / "report"
    digest, filled, after = walked(advised(cli, *words, ASSAY_TIER_REPORT=str(report)))
    expected, whole, _ = plain.stdout.split()
    assert digest == expected
    assert int(whole) > 200
    assert filled <= 90 and after <= 90
    counts = result(report)
    assert counts["mechanism"] == "advisor"
    assert counts["paged_out_bytes"] > BYTES - DRAM - 16 * MIB, counts
    # Two sweeps over memory in swap: most of it was resident at its access.
    assert counts["used_bytes"] > 100 * MIB, counts
    assert counts["used_bytes"] + counts["unused_bytes"] <= counts["requested_bytes"], counts


@pytest.mark.rotating
@pytest.mark.usefixtures("swap")
def test_advisor_setting_is_granted_in_each_verb(cli: CommandLine, disk: Path) -> None:
    record = disk / "record.json"
    program = python(WALK, "mmap", str(MIB), "90")
    settings = ("mem.dram=64M", "mem.tier=swap")
    answer = cli("run", "--with", *settings, "--record", record, "--", *program)
    assert answer.status == 0, answer
    granted = json.loads(record.read_text())["settings"]
    assert [granted[name]["status"] for name in ("mem.dram", "mem.tier")] == ["granted"] * 2
    arms = ("--arm", "mem.dram=64M mem.tier=swap", "--arm", "mem.dram=32M mem.tier=swap")
    result = cli("compare", *arms, "--runs", "14", "--json", "--", *program)
    assert result.status == 0, result
    assert len(result.document["arms"]) == 2


@pytest.mark.rotating
@pytest.mark.parametrize("allowed", ["0", "1"])
@pytest.mark.usefixtures("swap")
def test_unprivileged_user_falls_back_to_advisor(
    cli: CommandLine, disk: Path, allowed: str
) -> None:
    if not shutil.which("setpriv") or not UNPRIVILEGED.exists():
        pytest.skip("there is no setpriv, or no userfaultfd")
    cli.prefix = AS_NOBODY
    report = disk / "report"
    env = {"ASSAY_TIER_REPORT": str(report)}
    words = ("tier", "run", "--dram", "64M", "--path", disk)
    before = UNPRIVILEGED.read_text()
    UNPRIVILEGED.write_text(allowed)
    try:
        doctor = cli("tier", "doctor", "--json")
        answer = cli(*words, "--", *python(WALK, "mmap", str(BYTES), "90"), **env)
    finally:
        UNPRIVILEGED.write_text(before)
    _, _, after = walked(answer)
    assert after <= 90
    how = result(report)["mechanism"]
    assert (doctor.document["usable"], how) == (
        (True, "pager") if allowed == "1" else (False, "advisor")
    )
    assert doctor.document["advisable"]
    assert ("advising on swap" in answer.err) is (allowed == "0")
    assert ("this user cannot handle page faults within system calls" in answer.err) is (
        allowed == "0"
    )


@pytest.mark.rotating
@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM])
@pytest.mark.usefixtures("swap")
def test_kernel_without_userfaultfd_falls_back_to_advisor(
    cli: CommandLine, programs: Path, disk: Path, number: int
) -> None:
    cli.prefix = (str(programs / "no_userfaultfd"), str(number))
    report = disk / "report"
    words = ("--dram", "64M", "--path", disk)
    walk = python(WALK, "mmap", str(BYTES), "90")
    answer = cli("tier", "run", *words, "--", *walk, ASSAY_TIER_REPORT=str(report))
    _, filled, _ = walked(answer)
    assert filled <= 90
    assert result(report)["mechanism"] == "advisor"
    assert f"advising on swap instead of using {disk}: userfaultfd" in answer.err
    pager = cli("tier", "run", "--how", "pager", *words, "--", "echo", "ran")
    assert (pager.status, pager.out) == (125, "")
    doctor = cli("tier", "doctor")
    assert doctor.status == 1
    assert doctor.out.splitlines()[-1].startswith("advisor: assay tier run --how")


@pytest.mark.rotating
def test_missing_swap_reports_next_step(cli: CommandLine, programs: Path, disk: Path) -> None:
    hidden = without_swap(disk)
    cli.prefix = (*hidden, str(programs / "no_userfaultfd"), str(errno.ENOSYS))
    for how in (("--path", disk), ("--how", "advisor")):
        answer = cli("tier", "run", "--dram", "64M", *how, "--", "echo", "ran")
        assert (answer.status, answer.out) == (125, "")
        assert "no swap is in use" in answer.err and "swapon FILE" in answer.err
    doctor = cli("tier", "doctor")
    assert doctor.status == 1
    assert "advisor not available either: no swap is in use" in doctor.out
    refused = cli("run", "--with", "mem.dram=64M", "mem.tier=swap", "--", "echo", "ran")
    assert (refused.status, refused.out) == (125, "")
    assert "swapon" in refused.err


def test_missing_swap_is_reported_by_library(cli: CommandLine, disk: Path) -> None:
    env = {**cli.env, "LD_PRELOAD": str(cli.launcher.with_name("libassay-tier.so"))}
    env |= {"ASSAY_TIER_HOW": "advisor", "ASSAY_TIER_DRAM": str(DRAM)}
    set_ = [f"{name}={env[name]}" for name in ("LD_PRELOAD", "ASSAY_TIER_HOW", "ASSAY_TIER_DRAM")]
    words = [*without_swap(disk), "env", *set_, "echo", "ran"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (125, "")
    assert "assay tier: no swap is in use, so memory cannot be paged out: create one" in done.stderr


FULL = WALK.replace("end = time.monotonic() + 30", "end = time.monotonic() + 5")


@pytest.mark.rotating
def test_full_swap_is_reported_and_preserves_data(cli: CommandLine, disk: Path) -> None:
    if others():
        pytest.skip("this host has swap of its own")
    with swap_file(disk, 32 * MIB):
        answer = advised(cli, *python(FULL, "mmap", str(BYTES), "90"))
    _, filled, _ = walked(answer)
    assert filled > 150
    assert "memory beyond the DRAM budget cannot be paged out: swap is full" in answer.err


@pytest.mark.usefixtures("swap")
def test_top_shows_advised_memory(cli: CommandLine) -> None:
    hold = "import time; a = bytearray(100 << 20); a[::4096] = b'1' * 25600; time.sleep(60)"
    words = ("tier", "run", "--how", "advisor", "--dram", "32M")
    with cli.begun(*words, "--", *python(hold)):
        end = time.monotonic() + 30
        while True:
            answer = cli("tier", "top", "--json")
            every = answer.document["processes"] if answer.status == 0 else []
            mine = [one for one in every if "a[::4096]" in one["command"] and one["regions"]]
            if mine and mine[0]["regions"][0]["resident_bytes"] <= 34 * MIB:
                break
            assert time.monotonic() < end, answer
            time.sleep(0.1)
    assert (mine[0]["mechanism"], mine[0]["dram_bytes"]) == ("advisor", 32 * MIB)
    assert mine[0]["regions"][0]["written_bytes"] >= 60 * MIB


MANY = """
import ctypes, mmap, os, random, threading, time
rng, page = random.Random(1), 4096
libc = ctypes.CDLL(None)
def stamps(n, seed):
    return bytes((i * 7 + seed) % 251 for i in range(n // page))
class Block:
    def __init__(self, seed):
        self.size, self.seed = rng.randrange(64 << 20, 90 << 20) // page * page, seed
        self.map = mmap.mmap(-1, self.size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.fill()
    def fill(self):
        marks = stamps(self.size, self.seed)
        for i in range(len(marks)):
            self.map[i * page] = marks[i]
    def right(self):
        marks = stamps(self.size, self.seed)
        return all(self.map[i * page] == marks[i] for i in range(len(marks)))
    def grow(self):
        self.size += 16 << 20
        self.map.resize(self.size)
        self.fill()
blocks, end, turns, wrong = [], time.monotonic() + 8, 0, 0
while time.monotonic() < end or turns < 5:
    turns += 1
    if len(blocks) < 4:
        blocks.append(Block(turns))
    one = rng.choice(blocks)
    what = turns % 6
    if what == 0:
        blocks.remove(one)
        one.map.close()
        continue
    if what == 1:
        one.grow()
    elif what == 2:
        one.map.madvise(mmap.MADV_DONTNEED, 0, one.size // 2 // page * page)
        wrong += any(one.map[i * page] for i in range(one.size // 2 // page))
        one.fill()
    elif what == 3:
        child = os.fork()
        if child == 0:
            os._exit(0 if all(b.right() for b in blocks) else 1)
        wrong += os.waitpid(child, 0)[1] != 0
    elif what == 4:
        read, write = os.pipe()
        def pour():
            at = 0
            while at < one.size:
                at += os.write(write, memoryview(one.map)[at : at + 65536])
            os.close(write)
        thread = threading.Thread(target=pour)
        thread.start()
        got = b"".join(iter(lambda: os.read(read, 1 << 20), b""))
        thread.join()
        os.close(read)
        wrong += got[::page] != stamps(one.size, one.seed)
        del got
    wrong += not one.right()
print(turns, wrong)
"""
"""Allocate, grow, discard, free, fork, write to pipes, and verify each page."""


@pytest.mark.rotating
@pytest.mark.usefixtures("swap")
def test_advised_program_memory_calls_preserve_data(cli: CommandLine, disk: Path) -> None:
    report = disk / "report"
    env = {"ASSAY_TIER_REPORT": str(report)}
    answer = advised(cli, *python(MANY), **env)
    assert answer.status == 0, answer
    turns, wrong = map(int, answer.out.split())
    assert turns >= 5 and wrong == 0
    assert result(report)["paged_out_bytes"] > DRAM


LOCKED = """
import ctypes, mmap, time
libc = ctypes.CDLL(None)
data = mmap.mmap(-1, 100 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
address = ctypes.addressof(ctypes.c_char.from_buffer(data))
print(libc.mlock(ctypes.c_void_p(address), ctypes.c_size_t(100 << 20)), flush=True)
data[::4096] = b"1" * (100 << 8)
time.sleep(4)
with open("/proc/self/status") as stream:
    print(next(int(line.split()[1]) >> 10 for line in stream if line.startswith("RssAnon:")) >= 100)
print(data[::4096] == b"1" * (100 << 8))
"""


@pytest.mark.rotating
@pytest.mark.usefixtures("swap")
def test_locked_memory_stays_resident(cli: CommandLine) -> None:
    answer = advised(cli, *python(LOCKED))
    if answer.out.startswith("-1"):
        pytest.skip("so much may not be locked here")
    assert answer.status == 0, answer
    assert answer.out.splitlines() == ["0", "True", "True"]
    assert "or memory is locked" in answer.err


@pytest.mark.usefixtures("swap")
def test_advised_program_exit_status_and_signal_are_passed_on(cli: CommandLine) -> None:
    answer = advised(cli, "sh", "-c", "echo out; echo err >&2; exit 7")
    assert (answer.status, answer.out, answer.err) == (7, "out\n", "err\n")
    assert advised(cli, "sh", "-c", "kill -SEGV $$").status == -11


@pytest.mark.rotating
@pytest.mark.usefixtures("cli", "swap")
def test_advised_threads_mapping_and_unmapping_preserve_words() -> None:
    target = "assay-tier-advised"
    program = native_build([target], "address,undefined") / "tier" / target
    command = [program, "--ms", "4000"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    counts = json.loads(done.stdout)
    assert counts["wrong"] == 0
    assert counts["turns"] > 10 and counts["paged_out_bytes"] > 32 * MIB, counts
