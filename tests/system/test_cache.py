"""``cache=cold`` and ``cache=warm`` around real launches, verified by the programs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine

from assay.executors.page_cache import count_cached, evict_file

pytestmark = pytest.mark.system

LOOK = """
import sys
from pathlib import Path
from assay.executors.page_cache import count_cached
print("cached=%d" % count_cached([Path(sys.argv[1])]).cached_bytes)
Path(sys.argv[1]).read_bytes()
"""
SIZE = 4 * 2**20


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    data = tmp_path / "data"
    data.write_bytes(os.urandom(SIZE))
    evict_file(data)
    if count_cached([data]).cached_bytes:
        pytest.skip("files here lie in memory only")
    (tmp_path / "look.py").write_text(LOOK)
    return CommandLine(assay_exec, tmp_path)


# DAMON, if a host uses it to reclaim memory, may evict pages that are read but not mapped at any
# moment: 6 % of a file within 0.3 s, on a host with nine tenths of its memory free.
@pytest.mark.parametrize(("value", "least", "most"), [("cold", 0, 0), ("warm", SIZE // 2, SIZE)])
def test_program_finds_requested_cache_state(
    cli: CommandLine, value: str, least: int, most: int
) -> None:
    command = [sys.executable, "look.py", "data"]
    found = cli("run", "--with", f"cache={value}", "--", *command)
    assert found.status == 0, found.err
    assert least <= int(found.out.removeprefix("cached=")) <= most, found.err


@pytest.mark.rotating
def test_cache_is_prepared_before_each_launch_with_evidence(cli: CommandLine) -> None:
    metrics = ["--metric", r"cached=cached=(\d+)", "--objective", "wall_s"]
    asked = ["--json", "--runs", "7", *metrics, "--with", "cache=cold"]
    found = cli("measure", *asked, "--", sys.executable, "look.py", "data")
    assert found.status == 0, found.err
    for sample in found.document["samples"]:
        assert sample["metrics"]["cached"] == 0
        (evidence,) = [e for e in sample["evidence"] if e["kind"] == "page_cache"]
        # The interpreter is in use, so it may stay.
        assert evidence["value"] <= Path(sys.executable).stat().st_size
        assert sample["settings"]["cache"]["status"] in ("granted", "degraded")
        assert "3 files" in sample["settings"]["cache"]["observed"]


@pytest.mark.rotating
def test_tmpfs_content_is_kept(cli: CommandLine) -> None:
    shm = Path("/dev/shm")
    if not os.access(shm, os.W_OK):
        pytest.skip("no /dev/shm")
    program = shm / f"assay-{os.getpid()}"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    try:
        asked = ["--json", "--runs", "5", "--with", "cache=cold"]
        found = cli("measure", *asked, "--", str(program))
    finally:
        program.unlink()
    grants = {s["settings"]["cache"]["status"] for s in found.document["samples"]}
    assert grants == {"refused"}, found.err


def test_script_prepares_cache_equally(cli: CommandLine) -> None:
    command = [sys.executable, "look.py", "data"]
    result = cli("run", "--explain", "--with", "cache=cold", "--", *command).out
    (cli.folder / "data").read_bytes()
    done = subprocess.run(
        ["sh", "-c", result], text=True, capture_output=True, env=cli.env, cwd=cli.folder
    )
    assert done.stdout == "cached=0\n", (result, done.stderr)
