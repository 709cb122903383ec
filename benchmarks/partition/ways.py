"""Ways to run a program on one CPU under a competing load."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator

ASSAY = (sys.executable, "-m", "assay")
PARTITION = "benchmark"
PLAIN = "taskset"
RESERVED = "partition"


def prefix(way: str, cpu: int) -> tuple[str, ...]:
    """Return the words in front of a command."""
    bound = ("taskset", "-c", str(cpu))
    return {
        PLAIN: bound,
        "nice -20": ("nice", "-n", "-20", *bound),
        "chrt -f": ("chrt", "-f", "10", *bound),
        RESERVED: (*ASSAY, "run", "--reserve", "all", "--partition", PARTITION, "--"),
    }[way]


WAYS = (PLAIN, "nice -20", "chrt -f", RESERVED)


@contextlib.contextmanager
def prepared(way: str, cpu: int) -> Iterator[None]:
    """Prepare the host for a way, and restore it afterwards."""
    if way != RESERVED:
        yield
        return
    made = (*ASSAY, "partition", "create", PARTITION, "--cpus", str(cpu), "--quiet")
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        gone = (*ASSAY, "partition", "delete", PARTITION, "--force", "--quiet")
        subprocess.run(gone, check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def load(workers: int) -> Iterator[None]:
    """Run a load on all CPUs: arithmetic, memory, timers and context switches."""
    each = str(max(1, workers))
    words = ["stress-ng", "--quiet", "--cpu", each, "--vm", "1", "--vm-bytes", "64M"]
    words += ["--timer", "1", "--switch", "1"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()
