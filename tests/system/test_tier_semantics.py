"""Assumptions of the pager about this kernel, checked one by one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from native_build import native_build

ROWS = (
    "move-keeps-huge-pages",
    "move-into-write-protected",
    "move-registered-buffer",
    "move-after-direct-io",
    "move-after-fork",
    "child-reads-zeros",
    "child-without-memory-dies",
    "move-between-locked-and-unlocked",
    "system-call-user-mode-only",
    "system-call-sigbus-mode",
    "system-call-answered",
    "move-of-missing-pages",
    "move-between-protections",
    "move-while-an-event-waits",
    "poison-ends-in-sigbus",
    "unmap-raises-event",
    "discard-raises-event",
    "discarded-page-is-missing",
    "remapped-range-faults",
    "differing-protections-do-not-remap",
)


@pytest.fixture(scope="session")
def semantics() -> Path:
    """Build the program that checks the assumptions."""
    target = "assay-tier-semantics"
    return native_build([target]) / "tier" / target


def shown(semantics: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Run the program, which ends by itself even if the kernel blocks it."""
    return subprocess.run(
        [semantics, *map(str, words)], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.rotating
@pytest.mark.parametrize("row", ROWS)
def test_kernel_matches_pager_assumptions(semantics: Path, disk: Path, row: str) -> None:
    done = shown(semantics, "--path", disk, "--row", row)
    (line,) = done.stdout.splitlines() or [f"ended with {done.returncode}: {done.stderr}"]
    assert line.startswith("{"), line
    reported: dict[str, str] = json.loads(line)
    assert reported["row"] == row
    if reported["status"] == "skipped":
        pytest.skip(reported["seen"])
    assert (reported["status"], done.returncode) == ("ok", 0), reported["seen"]


def test_each_row_has_a_test(semantics: Path) -> None:
    """Also without a directory: rows that need one report being skipped."""
    reported = [json.loads(line) for line in shown(semantics).stdout.splitlines()]
    assert tuple(one["row"] for one in reported) == ROWS
    (direct,) = (one for one in reported if one["row"] == "move-after-direct-io")
    assert (direct["status"], direct["seen"]) == ("skipped", "no --path for a file")


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["--row", "nothing-like-it"], "unknown row: nothing-like-it"),
        (["--row"], "usage:"),
        (["--what", "1"], "usage:"),
    ],
)
def test_invalid_options_are_reported(semantics: Path, words: list[str], reported: str) -> None:
    done = shown(semantics, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert reported in done.stderr
