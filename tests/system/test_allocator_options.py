"""Options of allocators in real launches, verified by the reports of the allocators."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from command_line import CommandLine

from assay.machine.reader import read_machine

pytestmark = pytest.mark.system

WAIT = "import time; time.sleep(0.3)"
LIBRARIES = read_machine().libraries


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


def needs(allocator: str) -> None:
    if allocator not in LIBRARIES:
        pytest.skip(f"{allocator} is not installed")


def test_jemalloc_keeps_options_of_user(cli: CommandLine) -> None:
    needs("jemalloc")
    cli.more["MALLOC_CONF"] = "stats_print:true,narenas:9"
    given = [
        "malloc=jemalloc",
        "malloc.arenas=3",
        "malloc.decay_ms=1234",
        "malloc.background=on",
        "malloc.tcache=off",
        "jemalloc.oversize_threshold=65536",
        "malloc.hugepages=metadata",
    ]
    found = cli("run", "--with", *given, "--", "true")
    assert found.status == 0, found.err
    reported = dict(re.findall(r"^ +opt\.(\w+): (\S+)", found.err, re.MULTILINE))
    assert reported["narenas"] == "3"
    assert (reported["dirty_decay_ms"], reported["muzzy_decay_ms"]) == ("1234", "1234")
    assert (reported["background_thread"], reported["tcache"]) == ("true", "false")
    assert reported["oversize_threshold"] == "65536"
    assert reported["metadata_thp"] == '"auto"'


def test_mimalloc_applies_options(cli: CommandLine) -> None:
    needs("mimalloc")
    cli.more["MIMALLOC_VERBOSE"] = "1"
    given = ["malloc=mimalloc", "malloc.decay_ms=321", "malloc.hugepages=thp"]
    found = cli("run", "--with", *given, "--", "true")
    assert found.status == 0, found.err
    reported = dict(re.findall(r"option '(\w+)': (-?\d+)", found.err))
    assert "321" in (reported.get("decommit_delay"), reported.get("purge_delay"))
    assert "1" in (reported.get("large_os_pages"), reported.get("allow_large_os_pages"))


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("allocator", "given"),
    [
        ("glibc", ["malloc.arenas=1", "glibc.top_pad=1048576", "glibc.mutex_spin_count=7"]),
        ("jemalloc", ["malloc.arenas=1", "malloc.tcache=off"]),
        ("tcmalloc", ["tcmalloc.release_rate=5", "tcmalloc.thread_cache=1048576"]),
    ],
)
def test_study_grants_options(cli: CommandLine, allocator: str, given: list[str]) -> None:
    if allocator != "glibc":
        needs(allocator)
    found = cli(
        "measure",
        "--json",
        "--runs",
        "7",
        "--with",
        f"malloc={allocator}",
        *given,
        "--",
        sys.executable,
        "-c",
        WAIT,
    )
    assert found.status == 0, found.err
    for sample in found.document["samples"]:
        assert {g["status"] for g in sample["settings"].values()} == {"granted"}, sample["settings"]


@pytest.mark.rotating
def test_glibc_respects_arena_limit(cli: CommandLine) -> None:
    """malloc_info(3) counts the heaps of threads."""
    (cli.folder / "heaps.py").write_text(
        "import ctypes, threading\n"
        "libc = ctypes.CDLL(None)\n"
        "libc.malloc.restype = ctypes.c_void_p\n"
        "libc.malloc.argtypes = [ctypes.c_size_t]\n"
        "gate = threading.Barrier(4)\n"
        "def work():\n"
        "    gate.wait(); libc.malloc(5000); gate.wait()\n"
        "team = [threading.Thread(target=work) for _ in range(4)]\n"
        "[t.start() for t in team]; [t.join() for t in team]\n"
        "libc.fopen.restype = ctypes.c_void_p\n"
        "out = ctypes.c_void_p(libc.fopen(b'/dev/stdout', b'w'))\n"
        "libc.malloc_info(0, out); libc.fflush(out)\n"
    )
    counts = {}
    for arenas in (1, 8):
        given = ["malloc=glibc", f"malloc.arenas={arenas}"]
        found = cli("run", "--with", *given, "--", sys.executable, "heaps.py")
        assert found.status == 0, found.err
        counts[arenas] = found.out.count("<heap nr=")
    assert counts[1] == 1
    assert counts[8] > 1


@pytest.mark.rotating
def test_glibc_obtains_huge_pages(cli: CommandLine) -> None:
    modes = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not modes.exists() or "[madvise]" not in modes.read_text():
        pytest.skip("the system does not give huge pages where a program asks")
    if (os.confstr("CS_GNU_LIBC_VERSION") or "") < "glibc 2.35":
        pytest.skip("glibc 2.35 has the tunable")
    fill = f"kept = [bytes(1000) for _ in range(65536)]; {WAIT}"
    asked = ["--with", "malloc=glibc", "malloc.hugepages=thp", "malloc.arenas=2"]
    found = cli("measure", "--json", "--runs", "5", *asked, "--", sys.executable, "-c", fill)
    assert found.status == 0, found.err
    for sample in found.document["samples"]:
        grant = sample["settings"]["malloc.hugepages"]
        assert (grant["status"], grant["level"]) == ("granted", "effective"), grant


def test_unsupported_option_names_supporting_allocators(cli: CommandLine) -> None:
    found = cli("run", "--with", "malloc=glibc", "malloc.decay_ms=5", "--", "true")
    assert found.status != 0
    assert "jemalloc or mimalloc" in found.err


@pytest.mark.rotating
def test_tune_varies_options_of_active_allocator(cli: CommandLine) -> None:
    needs("jemalloc")
    asked = ["malloc=glibc,jemalloc", "malloc.decay_ms=0,10000"]
    found = cli("tune", *asked, "--dry-run", "--", "true")
    assert found.status == 0, found.err
    assert "malloc.decay_ms=0,10000 when malloc == 'jemalloc'" in " ".join(found.out.split())
