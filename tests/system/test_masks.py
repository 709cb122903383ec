"""Masks that the caller, or a launcher within the command, leaves."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from command_line import CommandLine

from assay.machine.cpulist import format_list

CPUS = sorted(os.sched_getaffinity(0))
pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.environ.get("ASSAY_TEST_SYSTEM") != "1", reason="ASSAY_TEST_SYSTEM=1"),
    pytest.mark.skipif(len(CPUS) < 2, reason="takes two CPUs"),
]
# A launcher like Open MPI's: threads of its own, and each process bound to one CPU.
MPIRUN = """
import os, subprocess, sys, threading, time
for _ in range(5):
    threading.Thread(target=time.sleep, args=(0.3,), daemon=True).start()
def bind():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
sys.exit(subprocess.run(sys.argv[1:], preexec_fn=bind).returncode)
"""


@pytest.mark.rotating
def test_mask_of_caller_is_reported(assay_exec: Path, tmp_path: Path) -> None:
    assay = CommandLine(assay_exec, tmp_path, prefix=("taskset", "-c", str(CPUS[0])))
    kept = f"limited to CPU {CPUS[0]} of "
    assert kept in assay("doctor").out
    assert (
        "threads=2 [degraded]" in assay("run", "--explain", "--with", "threads=2", "--", "true").out
    )
    done = assay("measure", "--runs", "6", "--json", "--", "true")
    assert any(kept in note for note in done.document["notes"]), done.err
    assert kept not in CommandLine(assay_exec, tmp_path)("doctor").out


@pytest.mark.rotating
def test_launcher_threads_are_excluded_and_its_mask_is_reported(
    assay_exec: Path, tmp_path: Path
) -> None:
    mpirun = tmp_path / "mpirun"
    mpirun.write_text(f"#!{Path(sys.executable).resolve()}\n{MPIRUN}")
    mpirun.chmod(0o755)
    assay = CommandLine(assay_exec, tmp_path)
    words = ("--arm", "threads=2", "--arm", "default", "--", mpirun, "sleep", "0.8")
    done = assay("compare", "--runs", "14", "--json", *words)
    message = f"restricts itself to CPU {CPUS[0]} of {format_list(CPUS)}"
    assert any(message in note for note in done.document["notes"]), done
    samples = assay.documents()
    grants = [s["settings"]["threads"]["status"] for s in samples if s["launch"]["configuration"]]
    assert grants and set(grants) == {"degraded"}
    peaks = [e["value"] for s in samples for e in s["evidence"] if e["kind"] == "threads_peak"]
    assert peaks and set(peaks) == {1.0}
