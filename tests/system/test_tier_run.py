"""``assay tier run`` with real programs: results, limitations, and exit."""

from __future__ import annotations

import hashlib
import json
import random
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path
from statistics import median

import pytest
from command_line import Answer, CommandLine

from assay.tier.efficiency import Cell
from assay.tier.meter import read_meters
from narrow import narrow_program
from rotation import rows_in_turns

MIB = 1 << 20
BYTES = 200 * MIB

WALK = """
import hashlib, mmap, resource, sys
how, size, step = sys.argv[1], int(sys.argv[2]), 1 << 20
if how == "mmap":
    data = memoryview(mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
elif how == "array":
    import array
    data = memoryview(array.array("q", bytes(8)) * (size // 8)).cast("B")
else:
    data = memoryview(bytearray(size))
block = bytes(range(256)) * 4096
for at in range(0, size, step):
    data[at : at + step] = block
    data[at : at + 8] = at.to_bytes(8, "little")
digest = hashlib.blake2b()
for places in (range(0, size, step), reversed(range(0, size, step))):
    for at in places:
        digest.update(data[at : at + step])
print(digest.hexdigest(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
"""
"""Fill memory, sweep it forwards and backwards, and print a digest and the peak in MiB."""

LARGE = """
import ctypes, mmap, os, resource, signal, subprocess, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
size, page = 100 << 20, mmap.PAGESIZE
data = bytearray(size)
data[::page] = bytes(i % 250 + 1 for i in range(size // page))
def wrong():
    return sum(data[i * page] != i % 250 + 1 for i in range(size // page))
def address():
    whole = ctypes.addressof((ctypes.c_char * size).from_buffer(data))
    return (whole + page - 1) // page * page
libc = ctypes.CDLL(None, use_errno=True)
libc.mremap.restype = libc.syscall.restype = ctypes.c_ssize_t
number = ctypes.c_size_t
"""
"""Program with 100 MiB and a known byte in each page."""


FAMILY = """
import subprocess, sys, time
size, step, children, own = 160 << 20, 4096, int(sys.argv[2]), sys.argv[1]
def filled():
    data = bytearray(size)
    data[::step] = bytes(i % 250 + 1 for i in range(size // step))
    return data
def wrong(data):
    return sum(a != b for a, b in zip(data[::step], (i % 250 + 1 for i in range(size // step))))
data = filled()
family = [
    subprocess.Popen([sys.executable, "-c", sys.argv[3], own, "0", "", how], stdout=subprocess.PIPE)
    for how in sys.argv[5:]
]
for child in family:
    child.stdout.read(1)
found = 0
if sys.argv[4] == "waits":
    print(end=".", flush=True)
    time.sleep(100)
for child, how in zip(family, sys.argv[5:]):
    if how == "waits":
        child.kill()
    found += child.wait() not in (0, -9)
end = time.monotonic() + 3
while time.monotonic() < end:
    found += wrong(data)
    print(end=".", flush=True)
sys.exit(found != 0)
"""
"""Use 160 MiB, start children that do the same, and sweep it for a while after their end."""


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path, tier_allowed: None) -> CommandLine:
    return CommandLine(assay_exec, tmp_path, more={"LC_ALL": "C"})


class Tiered:
    """Run programs with 64 MiB of DRAM, or as much as the arguments say."""

    def __init__(self, cli: CommandLine, disk: Path) -> None:
        self.cli, self.disk = cli, disk

    def __call__(
        self, *command: str | Path, dram: str = "64M", words: tuple[str, ...] = (), **env: str
    ) -> Answer:
        tier = ("tier", "run", "--dram", dram, "--path", self.disk)
        return self.cli(*tier, *words, "--", *command, **env)

    def python(self, program: str, *more: str, **env: str) -> Answer:
        return self(sys.executable, "-c", program, *more, **env)


@pytest.fixture
def tiered(cli: CommandLine, disk: Path) -> Tiered:
    return Tiered(cli, disk)


def lines(answer: Answer) -> list[str]:
    assert answer.status == 0, answer
    return answer.out.splitlines()


@pytest.mark.rotating
@pytest.mark.parametrize("exchange", ["move", "copy"])
@pytest.mark.parametrize("how", ["bytearray", "mmap", "array"])
def test_data_larger_than_dram_are_preserved(tiered: Tiered, how: str, exchange: str) -> None:
    words = (sys.executable, "-c", WALK, how, str(BYTES))
    plain = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    digest, peak_mib = lines(tiered(*words, ASSAY_TIER_EXCHANGE=exchange))[0].split()
    assert digest == plain[0]
    assert int(plain[1]) > 200
    assert int(peak_mib) < 150


@pytest.mark.rotating
def test_tier_is_granted_and_counted(tiered: Tiered, tmp_path: Path) -> None:
    record, report = tmp_path / "record.json", tmp_path / "report.json"
    words = ("--record", str(record))
    program = (sys.executable, "-c", WALK, "bytearray", str(BYTES))
    lines(tiered(*program, words=words, ASSAY_TIER_REPORT=str(report)))
    sample = json.loads(record.read_text())
    for name, value in (("mem.dram", "64M"), ("mem.tier", str(tiered.disk))):
        assert sample["settings"][name]["status"] == "granted", sample["settings"]
        assert sample["settings"][name]["value"] == value
    (message,) = map(json.loads, report.read_text().splitlines())
    assert message["zero_fill_faults"] >= BYTES // (2 * MIB)
    assert message["written_bytes"] >= BYTES - 64 * MIB
    assert message["read_bytes"] >= BYTES - 64 * MIB
    assert message["clean_evictions"] > 0


@pytest.mark.rotating
@pytest.mark.parametrize("numa", ["follow", "local", "interleave"])
def test_numa_policy_preserves_data(tiered: Tiered, tmp_path: Path, numa: str) -> None:
    record = tmp_path / "record.json"
    program = (sys.executable, "-c", WALK, "bytearray", str(BYTES))
    words = ("--numa", numa, "--record", str(record))
    digest, peak_mib = lines(tiered(*program, words=words))[0].split()
    assert digest == lines(tiered(*program))[0].split()[0]
    assert int(peak_mib) < 150
    sample = json.loads(record.read_text())
    assert sample["settings"]["mem.numa"]["status"] == "granted", sample["settings"]
    assert sample["settings"]["mem.numa"]["value"] == numa


@pytest.mark.rotating
def test_unavailable_nodes_are_reported(tiered: Tiered) -> None:
    answer = tiered("echo", "ran", ASSAY_TIER_NUMA="near")
    assert (answer.status, answer.out) == (125, "")
    assert 'invalid NUMA policy "near": use follow, local or' in answer.err
    answer = tiered("echo", "ran", words=("--numa", "local", "--with", "mem.policy=interleave:all"))
    assert (answer.status, answer.out) == (125, "")
    assert "mem.policy already selects the nodes of all memory" in answer.err


def test_unknown_map_method_is_reported(tiered: Tiered) -> None:
    answer = tiered("echo", "ran", ASSAY_TIER_EXCHANGE="swap")
    assert (answer.status, answer.out) == (125, "")
    assert "invalid ASSAY_TIER_EXCHANGE: swap (use move or copy)" in answer.err


@pytest.mark.rotating
def test_preloaded_allocator_serves_small_allocations(tiered: Tiered) -> None:
    program = (sys.executable, "-c", WALK, "bytearray", str(BYTES))
    answer = tiered(*program, words=("--with", "malloc=jemalloc"))
    if "jemalloc is not installed" in answer.err:
        pytest.skip("jemalloc is not installed")
    assert int(lines(answer)[0].split()[1]) < 150


@pytest.mark.rotating
def test_several_directories_share_chunks(tiered: Tiered, disk: Path) -> None:
    (disk / "other").mkdir()
    paths = f"{disk},{disk / 'other'}"
    words = ("tier", "run", "--dram", "64M", "--path", paths, "--", sys.executable, "-c", WALK)
    digest, peak_mib = lines(tiered.cli(*words, "mmap", str(BYTES)))[0].split()
    again, _ = lines(tiered(sys.executable, "-c", WALK, "mmap", str(BYTES)))[0].split()
    assert digest == again
    assert int(peak_mib) < 150
    assert sorted(path.name for path in disk.iterdir() if path.name != "studies.db") == ["other"]


@pytest.mark.rotating
@pytest.mark.parametrize("exchange", ["move", "copy"])
def test_sort_program_sorts(tiered: Tiered, disk: Path, exchange: str) -> None:
    if not shutil.which("sort"):
        pytest.skip("there is no sort")
    given = random.Random(1)
    words = sorted(b"%032x\n" % given.getrandbits(128) for _ in range(900_000))
    expected = hashlib.blake2b(b"".join(words)).digest()
    given.shuffle(words)
    (disk / "words").write_bytes(b"".join(words))
    order = ("sort", "-S", "128M", "-o", disk / "sorted", disk / "words")
    report = disk / "report"
    env = {"ASSAY_TIER_THRESHOLD": str(MIB), "ASSAY_TIER_REPORT": str(report)}
    env["ASSAY_TIER_EXCHANGE"] = exchange
    lines(tiered(*order, dram="64M", **env))
    assert hashlib.blake2b((disk / "sorted").read_bytes()).digest() == expected
    assert json.loads(report.read_text())["written_bytes"] > 0


@pytest.mark.parametrize("status", [0, 7, 255])
def test_exit_status_is_passed_on(tiered: Tiered, status: int) -> None:
    answer = tiered("sh", "-c", f"echo out; echo err >&2; exit {status}")
    assert (answer.status, answer.out, answer.err) == (status, "out\n", "err\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL])
def test_signal_is_passed_on(tiered: Tiered, number: signal.Signals) -> None:
    program = LARGE + f"os.kill(os.getpid(), {int(number)})"
    assert tiered.python(program).status == -number


def test_forked_child_reads_no_zeros(tiered: Tiered) -> None:
    program = """
def child(work):
    pid = os.fork()
    if pid == 0:
        os._exit(work())
    status = os.waitpid(pid, 0)[1]
    return os.waitstatus_to_exitcode(status)
def anew():
    own = bytearray(size)
    own[-1] = 5
    return own[-1] + own[0]
print(child(lambda: 10 + (data[0] == 0)))
print(child(lambda: 10 + (data[size // 2] == 0)))
print(child(anew))
print(wrong())
"""
    expected = [str(-signal.SIGSEGV), str(-signal.SIGSEGV), "5", "0"]
    assert lines(tiered.python(LARGE + program)) == expected


def test_child_programs_run_with_tier(tiered: Tiered) -> None:
    program = """
print(subprocess.run(["sh", "-c", "echo child"], capture_output=True, text=True).stdout.strip())
code = "x = bytearray(100 << 20); x[::4096] = b'1' * len(x[::4096]); print(x.count(b'1'))"
print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip())
pid = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 3"], os.environ)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
print(wrong())
"""
    assert lines(tiered.python(LARGE + program)) == ["child", "25600", "3", "0"]


def test_mlock_is_refused(tiered: Tiered) -> None:
    program = """
import errno
print(libc.mlock(number(address()), number(page)), errno.errorcode[ctypes.get_errno()])
print(libc.mlockall(1), errno.errorcode[ctypes.get_errno()])
small = ctypes.create_string_buffer(10)
print(libc.mlock(small, number(10)))
print(wrong())
"""
    answer = tiered.python(LARGE + program)
    assert lines(answer) == ["-1 ENOMEM", "-1 ENOMEM", "0", "0"]
    assert answer.err.count("tries to lock managed memory") == 1


@pytest.mark.rotating
def test_discarded_memory_is_zero(tiered: Tiered) -> None:
    program = """
half = size // 2 // page * page
print(libc.madvise(number(address()), number(half), 4))
print(sum(data[2 * page : half - page]), any(data[half + page :]))
"""
    assert lines(tiered.python(LARGE + program)) == ["0", "0 True"]


def test_mremap_preserves_content(tiered: Tiered) -> None:
    program = """
import errno, time
at = address()
print(libc.mremap(number(at), number(page), number(page), 3, number(at + page)),
      errno.errorcode[ctypes.get_errno()], wrong(), flush=True)
SYS_munmap = {"x86_64": 11, "aarch64": 215}[os.uname().machine]
SYS_mremap = {"x86_64": 25, "aarch64": 216}[os.uname().machine]
hole, length = at + (32 << 20), 16 << 20
print(libc.syscall(number(SYS_munmap), number(hole), number(length)), flush=True)
first = (hole - at) // page
print(sum(data[i * page] != i % 250 + 1 for i in range(first - 1)), flush=True)
libc.syscall(number(SYS_mremap), number(at + (64 << 20)), number(length), number(2 * length), 1)
# The caller continues as soon as the pager has read the event of the move. The source is gone,
# and accessing it before the pager has ended the program is an error of the program itself.
time.sleep(30)
print("came through", wrong())
"""
    answer = tiered.python(LARGE + program)
    assert answer.out.splitlines() == ["-1 EINVAL 0", "0", "0"]
    assert answer.status == -signal.SIGABRT
    assert "a direct system call (mremap)" in answer.err


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/nonexistent/folder", "cannot be used (No such file or directory)"),
        ("/dev/shm", "is on tmpfs, that is, in memory: use a directory on a disk"),
        ("/proc", "is on a file system without O_DIRECT or O_TMPFILE"),
    ],
)
def test_unusable_path_is_reported(cli: CommandLine, path: str, message: str) -> None:
    if path == "/dev/shm" and not Path(path).is_dir():
        pytest.skip("there is no /dev/shm")
    answer = cli("tier", "run", "--dram", "64M", "--path", path, "--", "echo", "ran")
    assert (answer.status, answer.out) == (125, "")
    assert f"assay tier: the path {path} {message}" in answer.err
    doctor = cli("tier", "doctor", "--path", path, "--json")
    assert doctor.status == 1 and not doctor.document["usable"]
    (found,) = doctor.document["findings"]
    assert found["problem"].startswith(f"the path {path} ") and message.startswith(
        found["problem"].removeprefix(f"the path {path} ")
    )


@pytest.mark.rotating
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_relative_path_is_kept_after_chdir(cli: CommandLine, disk: Path, shell: str) -> None:
    """For child programs; bash keeps an environment of its own."""
    (disk / "scratch").mkdir()
    script = (
        f"cd / && exec {shlex.quote(sys.executable)} -c {shlex.quote(LARGE + 'print(wrong())')}"
    )
    words = ("tier", "run", "--dram", "64M", "--path", "scratch", "--", shell, "-c")
    assert lines(cli(*words, script, cwd=disk)) == ["0"]
    handed = cli(*words, "cat /proc/self/environ | tr '\\0' '\\n'; exit", cwd=disk)
    found = dict(line.split("=", 1) for line in lines(handed) if line.startswith("ASSAY_TIER_"))
    assert found["ASSAY_TIER_PATH"] == str((disk / "scratch").resolve())
    assert found["ASSAY_TIER_BUDGET"]


def test_exhausted_address_space_is_reported(tiered: Tiered) -> None:
    """Too little address space for the data, and too little for the DRAM."""
    for limit in (8 << 20, 200 << 10):
        answer = tiered("sh", "-c", f'ulimit -v {limit} && exec "$@"', "sh", "cat", "/dev/null")
        assert answer.status == 125
        assert "ulimit -v" in answer.err and "ASSAY_TIER_ADDRESSES" in answer.err


SIZES = """
import errno
libc.malloc.restype = libc.realloc.restype = libc.mmap.restype = ctypes.c_ssize_t
libc.mremap.argtypes = [number, number, number, ctypes.c_int]
libc.realloc.argtypes = [number, number]
libc.madvise.argtypes = [number, number, ctypes.c_int]
block = libc.malloc(number(100 << 20))
print(libc.realloc(block, 0xcccccccccce00000), libc.realloc(block, (1 << 64) - 1))
at = libc.mmap(number(0), number(100 << 20), 3, 0x22, -1, number(0))
ctypes.memset(at, 7, 100 << 20)
print(libc.mremap(at, 100 << 20, 0, 1), errno.errorcode[ctypes.get_errno()])
print(libc.mremap(at, 100 << 20, (50 << 20) + 1, 1) == at)
last = at + (50 << 20)
print(ctypes.string_at(last, page) == bytes([7]) * page)
print(libc.madvise(last, page, 4), ctypes.string_at(last, page) == bytes(page))
"""


def test_odd_or_absurd_sizes_behave_like_malloc(tiered: Tiered) -> None:
    answer = tiered.python(LARGE + SIZES)
    assert lines(answer) == ["0 0", "-1 EINVAL", "True", "True", "0 True"]


def test_read_only_path_is_reported(cli: CommandLine, disk: Path) -> None:
    folder = disk / "read"
    folder.mkdir()
    mounted = f'mount --bind {folder} {folder} && mount -o remount,bind,ro {folder} && exec "$@"'
    cli.prefix = ("unshare", "--mount", "sh", "-c", mounted, "sh")
    if not shutil.which("unshare") or cli("--version").status != 0:
        pytest.skip("mounts of its own take root")
    answer = cli("tier", "run", "--dram", "64M", "--path", folder, "--", "echo", "ran")
    assert (answer.status, answer.out) == (125, "")
    assert f"assay tier: the path {folder} is read-only" in answer.err


def test_static_program_is_refused(tiered: Tiered, assay_exec: Path) -> None:
    """The launcher itself is static."""
    answer = tiered(assay_exec, "--probe")
    assert (answer.status, answer.out) == (125, "")
    assert "is statically linked: nothing can be preloaded." in answer.err


SANITIZED = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    char* volatile all = malloc(100u << 20);
    all[99u << 20] = 1;
    free(all);
    free(malloc(9));
    return puts("ran") < 0;
}
"""


def sanitized(folder: Path, sanitizer: str) -> Path:
    """Build a program with 100 MiB and a heap block, with a sanitizer."""
    source, program = folder / "sanitized.c", folder / f"sanitized-{sanitizer}"
    source.write_text(SANITIZED)
    words = ["cc", f"-fsanitize={sanitizer}", "-o", program, source]
    done = subprocess.run(words, capture_output=True, check=False)
    ran = done.returncode == 0 and subprocess.run([program], capture_output=True).returncode == 0
    return program if ran else pytest.skip(f"no -fsanitize={sanitizer} here")


@pytest.mark.parametrize("sanitizer", ["address", "thread", "leak"])
def test_sanitized_program_is_refused(tiered: Tiered, tmp_path: Path, sanitizer: str) -> None:
    program = sanitized(tmp_path, sanitizer)
    answer = tiered(program)
    assert (answer.status, answer.out) == (125, "")
    assert f"{program} is built with -fsanitize={sanitizer}" in answer.err
    assert "nothing can be preloaded" in answer.err


@pytest.mark.parametrize("sanitizer", ["thread", "leak"])
def test_sanitized_child_program_has_ordinary_memory(
    tiered: Tiered, tmp_path: Path, sanitizer: str
) -> None:
    program = sanitized(tmp_path, sanitizer)
    answer = tiered("sh", "-c", f"{program}; echo $?")
    assert (answer.status, answer.out.split()) == (0, ["ran", "0"]), answer
    (message,) = answer.err.splitlines()
    assert f"built with -fsanitize={sanitizer}" in message
    assert "its memory is not managed" in message


def test_32_bit_program_is_refused(tiered: Tiered, tmp_path: Path) -> None:
    program = tmp_path / "narrow"
    program.write_bytes(narrow_program())
    program.chmod(0o755)
    answer = tiered(program)
    assert (answer.status, answer.out) == (125, "")
    assert f"{program} is a 32-bit" in answer.err


def test_predict_refuses_static_program(tiered: Tiered, assay_exec: Path) -> None:
    words = ("tier", "predict", "--dram", "32M", "--path", tiered.disk, "--for", "1s")
    answer = tiered.cli(*words, "--", assay_exec, "--probe")
    assert (answer.status, answer.out) == (3, "")
    assert "is statically linked: nothing can be preloaded." in answer.err


@pytest.mark.parametrize("kib", [100, 100 << 10])
def test_file_size_limit_is_reported(tiered: Tiered, kib: int) -> None:
    """The counters are files as well, and exceeding the limit would end the program."""
    program = """
try:
    bytearray(200 << 20)
except MemoryError:
    print("none", len(bytearray(50 << 20)))
"""
    limited = f'ulimit -f {kib} && exec "$@"'
    answer = tiered("bash", "-c", limited, "bash", sys.executable, "-c", program)
    assert (answer.status, answer.out) == (0, f"none {50 << 20}\n"), answer.err
    assert answer.err.count("the file size limit is too low (ulimit -f)") == 1


def test_unwritable_report_is_reported(tiered: Tiered, tmp_path: Path) -> None:
    answer = tiered.python("print(1)", ASSAY_TIER_REPORT=str(tmp_path / "none" / "report"))
    assert lines(answer) == ["1"]
    assert "the report of the memory counters cannot be written to" in answer.err


def test_allocation_beyond_address_space_returns_enomem(tiered: Tiered) -> None:
    program = """
try:
    bytearray(300 << 20)
except MemoryError:
    print("none", len(bytearray(200 << 20)))
"""
    answer = tiered.python(program, ASSAY_TIER_ADDRESSES=str(256 * MIB))
    assert lines(answer) == [f"none {BYTES}"]


def test_library_without_environment_is_inactive(cli: CommandLine) -> None:
    library = cli.launcher.with_name("libassay-tier.so")
    env = {k: v for k, v in cli.env.items() if not k.startswith("ASSAY_TIER_")}
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            LARGE + "print(wrong(), libc.mlock(number(address()), number(page)))",
        ],
        env={**env, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("0 0\n", "")


def test_program_closing_all_descriptors_keeps_memory(tiered: Tiered) -> None:
    program = """
before = sorted(int(name) for name in os.listdir("/proc/self/fd"))
os.closerange(3, 1 << 20)
for fd in range(3, 5000):
    try:
        os.close(fd)
    except OSError:
        pass
libc.closefrom(3)
print(wrong(), max(before) > 500, os.dup2(1, 9))
"""
    assert lines(tiered.python(LARGE + program)) == ["0 True 9"]


RAW_CLOSE = """
numbers = {"close_range": 436, "close": 3}
if os.uname().machine == "aarch64":
    numbers["close"] = 57
if sys.argv[1] == "close_range":
    assert libc.syscall(numbers["close_range"], 3, 0xFFFFFFFF, 0) == 0
else:
    for fd in range(3, 5000):
        libc.syscall(numbers["close"], fd)
files = [open("/dev/null") for _ in range(9)] + [os.open(sys.argv[2], os.O_RDWR | os.O_CREAT)]
for fd in range(4000, 4064):
    os.dup2(files[-1], fd)
more = bytearray(size)
more[::page] = bytes(i % 249 + 1 for i in range(size // page))
print(wrong(), sum(a != i % 249 + 1 for i, a in enumerate(more[::page])))
del more
print(libc.madvise(ctypes.c_void_p(address()), number(32 << 20), 4), os.path.getsize(sys.argv[2]))
print(sum(data[i * page] == 0 for i in range(size // page)) >= 8000)
program = "import sys; d = bytearray(100 << 20); d[::4096] = bytes(25600); print(max(d[::4096]))"
print(subprocess.check_output([sys.executable, "-c", program], text=True).strip())
"""
"""Close all descriptors by system calls, and reuse their numbers for other files."""


@pytest.mark.parametrize("how", ["close_range", pytest.param("close", marks=pytest.mark.rotating)])
def test_raw_close_of_descriptors_preserves_data(tiered: Tiered, tmp_path: Path, how: str) -> None:
    answer = tiered.python(LARGE + RAW_CLOSE, how, str(tmp_path / "other"))
    assert lines(answer) == ["0 0", "0 0", "True", "0"]
    assert not answer.err


ADVISED = """
import mmap, sys
memory = mmap.mmap(-1, 200 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, len(memory), 1 << 20):
    memory[at : at + (1 << 20)] = bytes([at >> 20 & 255]) * (1 << 20)
for advice in sys.argv[1:]:
    memory.madvise(int(advice))
for at in range(0, len(memory), 2 << 20):
    assert memory[at] == at >> 20 & 255
for at in range(0, len(memory), 1 << 20):
    assert memory[at + 77] == at >> 20 & 255
"""


@pytest.mark.parametrize(
    ("advice", "least", "most"),
    rows_in_turns(
        ([1], 0, 25),
        ([2], 200, 450),
        ([20], 30, 450),
        ([21], 30, 450),
        ([1, 0], 30, 450),
        ([21, 2], 200, 450),
    ),
)
def test_madvise_is_followed(
    tiered: Tiered, tmp_path: Path, advice: list[int], least: int, most: int
) -> None:
    """MADV_RANDOM, _SEQUENTIAL, _COLD, _PAGEOUT, then _NORMAL, each with the MiB it reads."""
    report = tmp_path / "report"
    lines(tiered.python(ADVISED, *map(str, advice), ASSAY_TIER_REPORT=str(report)))
    message = json.loads(report.read_text())
    # One byte of every chunk, then of every half: parts of 64 KiB after random advice, chunks of
    # 2 MiB after sequential advice, and otherwise parts once sampling has found sparse use.
    assert least * MIB <= message["read_bytes"] <= most * MIB, message


RECORDS = """
import mmap
memory = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, len(memory), 1 << 20):
    memory[at : at + (1 << 20)] = bytes([at >> 20 & 255]) * (1 << 20)
for turn in range(60):
    for at in range(turn % 18 * 4096, len(memory), 72 << 10):
        assert memory[at] == at >> 20 & 255
"""


@pytest.mark.rotating
def test_sparse_access_to_parts_fetches_pages(tiered: Tiered, tmp_path: Path) -> None:
    report = tmp_path / "report"
    lines(tiered.python(RECORDS, ASSAY_TIER_REPORT=str(report)))
    message = json.loads(report.read_text())
    touched = 60 * (64 << 20) // (72 << 10)
    assert message["read_bytes"] < 16384 * touched, message


@pytest.mark.rotating
def test_rows_slightly_larger_than_dram_fetch_parts(
    tiered: Tiered, assay_exec: Path, tmp_path: Path
) -> None:
    """Rows of 64 KiB at varying offsets within their chunks, which remain mostly unused."""
    report = tmp_path / "report"
    rows = (assay_exec.parent / "assay-kernel-traversal", "--variant", "rows")
    size = ("--size", str(384 << 20), "--seconds", "0.1", "--samples", "1", "--threads", "1")
    lines(tiered(*rows, *size, dram="256M", ASSAY_TIER_REPORT=str(report)))
    message = json.loads(report.read_text())
    assert message["prefetch_hits"] > 10 * message["demand_faults"], message
    # Observed: 0 to 6000 of 7500. With whole chunks it is 11 000 to 43 000 of 8500.
    assert message["unused_prefetches"] < 1.3 * message["prefetch_hits"], message


CYCLE = """
import mmap
import numpy
memory = numpy.frombuffer(mmap.mmap(-1, 192 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), int)
parts = range(0, memory.size, 1 << 17)
for at in parts:
    memory[at : at + parts.step] = at
for _ in range(12):
    assert memory.sum() == parts.step * sum(parts)
"""


@pytest.mark.rotating
def test_sweep_larger_than_dram_keeps_resident_part(tiered: Tiered, tmp_path: Path) -> None:
    """Two thirds are optimal, and FIFO eviction keeps nothing."""
    report = tmp_path / "report"
    program = ("-c", CYCLE)
    lines(tiered(sys.executable, *program, dram="128M", ASSAY_TIER_REPORT=str(report)))
    message = json.loads(report.read_text())
    held = 1 - message["read_bytes"] / (12 * 192 * MIB)
    assert held > 0.45, message
    assert message["unused_prefetches"] <= 8, message


HUGE = """
import mmap
import numpy
memory = numpy.frombuffer(mmap.mmap(-1, 128 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), int)
def huge():
    (line,) = (one for one in open("/proc/self/smaps_rollup") if one.startswith("AnonHugePages"))
    return int(line.split()[1]) >> 10
memory[:] = 1
print(huge())
for turn in range(60):
    assert memory[turn % 18 * 512 :: 9 << 10].all()
print(huge())
for _ in range(12):
    assert memory.sum() == memory.size
print(huge())
"""


@pytest.mark.rotating
def test_huge_pages_are_restored(tiered: Tiered) -> None:
    """The kernel splits each huge page that moves to an address with a page table."""
    first, few, again = map(int, lines(tiered.python(HUGE)))
    if first < 32:
        pytest.skip(f"of 64 MiB this host makes {first} of huge pages")
    assert few < 48, "the records were to be brought by themselves"
    assert again >= 48


BESIDE = """
import mmap
import numpy
def memory(mib):
    return numpy.frombuffer(mmap.mmap(-1, mib << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), int)
block, data = memory(24), memory(128)
block[:], data[:] = 1, 2
for _ in range(8):
    for at in range(0, data.size, 1 << 18):
        assert data[at : at + (1 << 18)].sum() == 2 << 18
        assert block[::512].all()
"""


@pytest.mark.rotating
def test_hot_chunks_stay_with_few_faults(tiered: Tiered, tmp_path: Path) -> None:
    report, threshold = tmp_path / "report", str(16 * MIB)
    env = {"ASSAY_TIER_REPORT": str(report), "ASSAY_TIER_THRESHOLD": threshold}
    lines(tiered(sys.executable, "-c", BESIDE, **env))
    message = json.loads(report.read_text())
    swept = 8 * 128 * MIB
    assert message["read_bytes"] < 1.1 * swept, message
    assert message["second_chance_hits"] < swept // (2 * MIB), message


@pytest.mark.rotating
def test_bench_measures_real_programs(tiered: Tiered, tmp_path: Path) -> None:
    picture = tmp_path / "heat.svg"
    words = ("--dram", "16M", "--path", str(tiered.disk), "--budget", "12s", "-o", picture)
    message = tiered.cli("tier", "bench", *words, "--json").document
    assert message["dram_bytes"] == 16 * MIB
    assert message["device"]["read"] > 0 < message["device"]["write"]
    cells = {(one["work"], one["dram_ratio"], one["intensity"]): one for one in message["cells"]}
    assert len(cells) == len(message["cells"]) >= 6
    one = cells["polynomial, read", 0.5, 0.25]
    # Data that fit in DRAM have no balance.
    assert set(one) == {*Cell.__struct_fields__, "efficiency", "model"} - {"balance_ratio"}
    assert one["model"] == 1.0
    assert len(one["memory_s"]) == len(one["tier_s"]) >= 1
    assert "polynomial, read" in picture.read_text()


def test_top_shows_running_program(tiered: Tiered) -> None:
    hold = "import sys, time; a = bytearray(100 << 20); print('ready', flush=True); time.sleep(60)"
    words = ("tier", "run", "--dram", "32M", "--path", str(tiered.disk), "--")
    with tiered.cli.begun(*words, sys.executable, "-c", hold):
        end = time.monotonic() + 30
        while True:
            answer = tiered.cli("tier", "top", "--json")
            mine = [
                one
                for one in (answer.document["processes"] if answer.status == 0 else ())
                if "bytearray(100" in one["command"] and one["regions"]
            ]
            if mine and mine[0]["regions"][0]["written_bytes"] > 60 * MIB:
                break
            assert time.monotonic() < end, answer
            time.sleep(0.1)
    assert mine[0]["dram_bytes"] == 32 * MIB
    assert mine[0]["regions"][0]["resident_bytes"] <= 32 * MIB


@pytest.mark.rotating
def test_predict_separates_compute_from_wait_bound_program(
    tiered: Tiered, assay_exec: Path
) -> None:
    words = ("tier", "predict", "--dram", "32M", "--path", tiered.disk, "--for", "4s", "--json")
    horner = (assay_exec.parent / "assay-kernel-horner", "--variant", "horner", "--degree", "1024")
    sweeps = (assay_exec.parent / "assay-kernel-traversal", "--variant", "forward")
    more = ("--size", "128M", "--threads", "1", "--seconds", "30")
    works = tiered.cli(*words, "--", *horner, *more).document
    waits = tiered.cli(*words, "--", *sweeps, *more).document
    assert works["efficiency"] > 0.8 > waits["efficiency"], (works, waits)
    assert works["compute_s_per_gib"] > 10 * waits["compute_s_per_gib"]
    assert "well suited for the memory tier" in " ".join(works["reasons"])
    assert waits["read_bytes"] > works["read_bytes"]


@pytest.mark.rotating
def test_predict_terminates_its_process_tree(tiered: Tiered) -> None:
    words = ("tier", "predict", "--dram", "32M", "--path", tiered.disk, "--for", "1s")
    answer = tiered.cli(*words, "--", "sh", "-c", "sleep 77 & sleep 78")
    assert answer.status == 3
    assert "The program had no large allocation" in answer.err
    assert not tiered.cli.processes()
    missing = tiered.cli(*words, "--", "/nonexistent")
    assert missing.status == 3
    assert "/nonexistent cannot be started" in missing.err


@pytest.mark.rotating
@pytest.mark.parametrize(
    "variable", ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "ASSAY_INSTANCES"]
)
def test_ranks_share_budget(tiered: Tiered, variable: str) -> None:
    show = (
        "import os; from assay.tier.meter import read_meters; a = bytearray(100 << 20); "
        "print([one.dram_bytes >> 20 for one in read_meters() if one.pid == os.getpid()])"
    )
    assert lines(tiered.python(show, **{variable: "4"})) == ["[16]"]
    assert lines(tiered.python(show)) == ["[64]"]
    answer = tiered.python(show, **{variable: "5"})
    assert answer.status == 125
    assert "DRAM for 6 chunks is too little" in answer.err


@pytest.mark.rotating
def test_instances_share_budget(tiered: Tiered) -> None:
    show = (
        "import os; from assay.tier.meter import read_meters; a = bytearray(100 << 20); "
        "found = [one.dram_bytes >> 20 for one in read_meters() if one.pid == os.getpid()]; "
        # Line-buffered, also with PYTHONUNBUFFERED: the other instance writes as well.
        "os.write(1, f'{found}\\n'.encode())"
    )
    words = ("--with", "instances=2")
    message = lines(tiered(sys.executable, "-c", show, words=words))
    assert message == ["[32]", "[32]"], message


ADVICE = """
for advice, at, length, wanted in (
    (4096, 0, page, errno.EINVAL),
    (102, 0, page, errno.EINVAL),
    (4, 1, page, errno.EINVAL),
    (4, page, 1, 0),
    (3, 0, 1 << 44, 0),
):
    found = libc.madvise(ctypes.c_void_p(address() + at), number(length), advice)
    assert (found, ctypes.get_errno() if found else 0) == (-1 if wanted else 0, wanted), advice
first = (address() - ctypes.addressof((ctypes.c_char * size).from_buffer(data))) + page
print(set(data[first : first + page]), wrong())
"""


def test_invalid_madvise_is_refused(tiered: Tiered) -> None:
    """Includes MADV_GUARD_INSTALL; partial pages count as whole, and any length is valid."""
    assert lines(tiered.python("import errno\n" + LARGE + ADVICE)) == ["{0} 1"]


PIPED = """
import threading
read, write = os.pipe()
class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
part = Part(address(), 8 * page)
assert libc.vmsplice(write, ctypes.byref(part), number(1), 0) == 8 * page
expected = ctypes.string_at(address(), 8 * page)
sweep = sum(data[::page])
print(os.read(read, 8 * page) == expected, sweep == sum(data[::page]))
import socket
with socket.socket() as one:
    try:
        one.setsockopt(socket.SOL_SOCKET, 60, 1)
    except OSError as error:
        print(error.errno == 95)
"""


def test_vmsplice_pages_are_copied(tiered: Tiered) -> None:
    """vmsplice(2) and MSG_ZEROCOPY do not pin pages, so that the pager could evict them."""
    assert lines(tiered.python(LARGE + PIPED)) == ["True True", "True"]


OVERLAPPING = """
libc.mmap.restype = ctypes.c_void_p
half = 64 << 20
first = libc.mmap(None, number(2 * half), 3, 0x22, -1, 0)
ctypes.memset(first + 96 * 1024 * 1024, 7, page)
libc.munmap(ctypes.c_void_p(first), number(half))
libc.munmap(ctypes.c_void_p(first + half // 2), number(half))
other = libc.mmap(None, number(2 * half), 3, 0x22, -1, 0)
ctypes.memset(other, 9, 2 * half)
print(ctypes.string_at(first + 96 * 1024 * 1024, 1)[0])
third = libc.mmap(None, number(half + page), 3, 0x22, -1, 0)
print(libc.munmap(ctypes.c_void_p(third + half // 2), number(half)))
"""


def test_double_munmap_keeps_other_memory(tiered: Tiered) -> None:
    """Nor does the part of a range behind a block keep it allocated."""
    assert lines(tiered.python(LARGE + OVERLAPPING, dram="64M")) == ["7", "0"]


WAITING = """
import random, threading, time
data[:] = b"\\1" * size
over = False
def read():
    while not over:
        data[random.randrange(size)]
readers = [threading.Thread(target=read) for _ in range(3)]
for one in readers: one.start()
end = time.monotonic() + 4
while time.monotonic() < end:
    at = random.randrange(size >> 21) << 21
    libc.madvise(ctypes.c_void_p(address() // (2 << 20) * (2 << 20) + at), number(2 << 20), 4)
over = True
for one in readers: one.join()
print("all ended")
"""


@pytest.mark.rotating
def test_thread_waiting_for_discarded_page_continues(tiered: Tiered) -> None:
    assert lines(tiered.python(LARGE + WAITING)) == ["all ended"]


GROWN = """
libc.realloc.restype = ctypes.c_void_p
step, at, bytes_ = 256 << 10, None, 0
while bytes_ < 300 << 20:
    bytes_ += step
    at = libc.realloc(ctypes.c_void_p(at), number(bytes_))
    ctypes.memset(at + bytes_ - step, bytes_ // step % 251, step)
for i in range(0, bytes_, step):
    assert ctypes.string_at(at + i, 1)[0] == (i // step + 1) % 251, i
smaller = libc.realloc(ctypes.c_void_p(at), number(200 << 20))
print(smaller == at, ctypes.string_at(at + (100 << 20), 1)[0] == ((100 << 20) // step + 1) % 251)
"""


@pytest.mark.rotating
def test_growing_block_is_rarely_copied(tiered: Tiered, tmp_path: Path) -> None:
    report = tmp_path / "report"
    env = {"ASSAY_TIER_REPORT": str(report)}
    assert lines(tiered.python("import ctypes\n" + LARGE + GROWN, **env)) == ["True True"]
    assert json.loads(report.read_text())["read_bytes"] < 3_000 * MIB


CHILD = """
child = os.fork()
if child == 0:
    blocks = [bytearray(40 << 20) for _ in range(10)]
    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(5):
        blocks = None
        blocks = [bytearray(40 << 20) for _ in range(10)]
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - taken
    os._exit(0 if more < 100 << 10 else 1)
print(os.waitpid(child, 0)[1])
child = os.fork()
if child == 0:
    data[50 << 20]
print(os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGSEGV)
"""


@pytest.mark.rotating
def test_forked_child_frees_its_allocations(tiered: Tiered) -> None:
    answer = tiered.python(LARGE + CHILD)
    assert lines(answer) == ["0", "True"]
    assert "a forked child accesses managed memory of its parent" in answer.err


class Seen:
    """Sample the memory of a family of processes while they run."""

    def __init__(self, mark: str) -> None:
        self.mark, self.over = mark, threading.Event()
        self.held: list[list[int]] = []
        self.thread = threading.Thread(target=self.look)

    def look(self) -> None:
        while not self.over.wait(0.05):
            found = [one for one in read_meters() if self.mark in one.command.split(" ")]
            self.held.append([sum(area.resident_bytes for area in one.regions) for one in found])

    def __enter__(self) -> Seen:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()


@pytest.mark.rotating
@pytest.mark.parametrize("how", ["goes", "waits"])
def test_processes_of_run_share_dram(tiered: Tiered, how: str) -> None:
    """Memory of a killed or replaced process also returns to the others."""
    mark = f"family-{uuid.uuid4().hex}"
    family = (sys.executable, "-c", FAMILY, mark, "3", FAMILY, "goes", how, how, how)
    with Seen(mark) as seen:
        lines(tiered("sh", "-c", 'exec "$@"', "sh", *family, dram="96M"))
    together = [one for one in seen.held if len(one) == 4]
    assert together, seen.held
    # Each process has eight chunks in any case.
    assert max(map(sum, seen.held)) <= (96 + 4 * 16) * MIB
    # While a process hands memory to another, less is in use for a moment.
    assert median(map(sum, together)) > 64 * MIB
    assert any(sum(one) <= 100 * MIB and min(one) > 8 * MIB for one in together), together
    alone = [one[0] for one in seen.held if len(one) == 1]
    assert max(alone[-len(alone) // 2 :]) > 72 * MIB, alone


def test_nested_run_has_own_budget(tiered: Tiered) -> None:
    """Its processes do not belong to the first run, although one of those started them."""
    program = (
        "import os; from assay.tier.meter import read_meters; data = bytearray(100 << 20);"
        "print(next(one.dram_bytes for one in read_meters() if one.pid == os.getpid()))"
    )
    inner = f"ASSAY_TIER_DRAM={32 * MIB} {shlex.join([sys.executable, '-c', program])}"
    same = shlex.join([sys.executable, "-c", program])
    assert lines(tiered("sh", "-c", f"{inner}; {same}")) == [str(32 * MIB), str(64 * MIB)]


STEP_BY_STEP = """
whole = libc.mmap(None, number(size), 3, 0x22, -1, number(0))
for at in range(0, size, page):
    ctypes.memset(whole + at, at // page % 250 + 1, 1)
for at in range(0, size - (4 << 20), int(sys.argv[1])):
    ctypes.memset(whole + at, 1, 1)
    assert libc.munmap(ctypes.c_void_p(whole + at), number(int(sys.argv[1]))) == 0
print(wrong(), wrong())
"""


@pytest.mark.rotating
@pytest.mark.parametrize("exchange", ["move", "copy"])
@pytest.mark.parametrize("step", [1 << 20, 4096 * 3])
def test_piecewise_munmap_frees_memory(tiered: Tiered, step: int, exchange: str) -> None:
    """More than the DRAM in total, each chunk while it is resident."""
    program = LARGE + "libc.mmap.restype = ctypes.c_size_t\n" + STEP_BY_STEP
    answer = tiered.python(program, str(step), ASSAY_TIER_EXCHANGE=exchange)
    assert lines(answer) == ["0 0"]


PROTECTED = """
block = address()
for round in range(3):
    for how in (1, 3):
        assert libc.mprotect(ctypes.c_void_p(block), number(48 << 20), how) == 0
        print(wrong())
other = bytearray(size)
other[::page] = bytes(size // page)
assert libc.mprotect(ctypes.c_void_p(block), number(80 << 20), 1) == 0
print(len(set(other[::page])), wrong())
"""
"""Protect and unprotect half of the memory, then exceed the DRAM by copying."""


@pytest.mark.rotating
def test_unprotected_memory_is_evicted_later(tiered: Tiered) -> None:
    program = LARGE + PROTECTED.replace("80 << 20", "32 << 20")
    assert lines(tiered.python(program)) == ["0"] * 6 + ["1 0"]


@pytest.mark.rotating
def test_protected_memory_is_copied_by_mremap(tiered: Tiered) -> None:
    answer = tiered.python(LARGE + PROTECTED, ASSAY_TIER_EXCHANGE="copy")
    assert lines(answer) == ["0"] * 6 + ["1 0"]
    assert not answer.err


@pytest.mark.rotating
def test_exec_releases_dram_to_other_processes(tiered: Tiered, tmp_path: Path) -> None:
    """The other program ignores the budget, because it is static."""
    source, sleeper = tmp_path / "sleeper.c", tmp_path / "sleeper"
    source.write_text("#include <unistd.h>\nint main(void) { return (int)sleep(20); }")
    subprocess.run(["cc", "-static", "-o", sleeper, source], check=True)
    first = (
        "import os, sys; data = bytearray(120 << 20); data[::4096] = bytes(30720);"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    second = (
        "import os, time; from assay.tier.meter import read_meters\n"
        "data = bytearray(120 << 20); end = time.monotonic() + 3; held = 0\n"
        "while time.monotonic() < end:\n"
        "    data[::4096] = bytes(30720)\n"
        "    mine = [one for one in read_meters() if one.pid == os.getpid()]\n"
        "    held = max([held, *(area.resident_bytes for one in mine for area in one.regions)])\n"
        "print(held >> 20)"
    )
    both = (
        f"{shlex.join([sys.executable, '-c', first, str(sleeper)])} & sleep 3;"
        f"{shlex.join([sys.executable, '-c', second])}; kill $!"
    )
    (held,) = lines(tiered("sh", "-c", both, dram="96M"))
    assert int(held) > 72


EMPTY_HANDED = """
import time
del data
first = time.process_time()
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]])
child.wait()
print(time.process_time() - first < 1.0)
"""


@pytest.mark.rotating
def test_process_without_regions_ignores_notifications(tiered: Tiered) -> None:
    """Other processes request memory continuously, and it spends no CPU time on them."""
    hungry = (
        "import time\ndata = bytearray(160 << 20); end = time.monotonic() + 4\n"
        "while time.monotonic() < end: data[::4096] = bytes(40960)"
    )
    # The first process has all of it before the second one starts.
    two = "import subprocess, sys, time\n" + (
        f"def begin(): return subprocess.Popen([sys.executable, '-c', {hungry!r}])\n"
        "first = begin(); time.sleep(1); second = begin(); first.wait(); second.wait()"
    )
    assert lines(tiered.python(LARGE + EMPTY_HANDED, two)) == ["True"]
