"""Costs of assay's own process: CPU time and memory, without the programs that it launches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

WORKER = "benchmarks.scale.worker"
ROOT = Path(__file__).parents[2]
OWN_ERROR = 2
"""Lowest exit status that means no answer."""
POLL_S = 0.05
MB = 1e6


class NoAnswerError(RuntimeError):
    """A command ended without an answer; the text is its last line of errors."""


@dataclass(frozen=True)
class Cost:
    """Cost of a process.

    Attributes:
        cpu_s: CPU time of all its threads, in seconds.
        peak_mb: largest resident size, in MB.
        output: its standard output.
    """

    cpu_s: float
    peak_mb: float
    output: str = ""


def own_cost() -> Cost:
    """Return the cost of this process so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    kib = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    return Cost(time.process_time(), kib * 1024 / MB)


def command_cost(words: Sequence[str], store: Path | None = None) -> Cost:
    """Run a command of assay and return the cost of its own process.

    Args:
        words: words after ``assay``.
        store: file of the store; ``None`` for commands without one.

    Raises:
        NoAnswerError: the command gave no answer.
    """
    with begun(words, store) as command:
        return command.end()


def output_of(module: str, words: Sequence[str]) -> str:
    """Run a Python module and return its standard output.

    Raises:
        NoAnswerError: the module failed.
    """
    words = [sys.executable, "-m", module, *words]
    answer = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    if answer.returncode != 0:
        raise NoAnswerError(_last_line(answer.stderr))
    return answer.stdout


@dataclass(frozen=True)
class Command:
    """Running command of assay.

    Attributes:
        process: its process.
        cost_file: file that it writes its cost to when it ends.
    """

    process: subprocess.Popen[str]
    cost_file: Path

    def cpu_s(self) -> float:
        """Return the CPU time of its threads so far, in seconds.

        The clock of another process is that of ``clock_getcpuclockid(3)``.
        """
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def readings(self, count: Callable[[], int]) -> Iterator[tuple[int, float]]:
        """Yield a count of its work and its CPU time until it ends.

        Args:
            count: returns the count, read from outside.
        """
        while self.process.poll() is None:
            try:
                yield count(), self.cpu_s()
            except OSError:  # it has just ended
                return
            time.sleep(POLL_S)

    def end(self) -> Cost:
        """Wait for its end and return its cost.

        Raises:
            NoAnswerError: it gave no answer.
        """
        output, errors = self.process.communicate()
        if self.process.returncode >= OWN_ERROR or not self.cost_file.exists():
            raise NoAnswerError(_last_line(errors))
        return Cost(**json.loads(self.cost_file.read_text()), output=output)


@contextmanager
def begun(words: Sequence[str], store: Path | None = None) -> Iterator[Command]:
    """Run a command of assay for the time of a block.

    Args:
        words: words after ``assay``.
        store: file of the store; ``None`` for commands without one.
    """
    with tempfile.TemporaryDirectory() as folder:
        cost_file = Path(folder) / "cost.json"
        with subprocess.Popen(
            [sys.executable, "-m", WORKER, str(cost_file), *words],
            cwd=ROOT,
            env=_environment(store),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield Command(process, cost_file)
            finally:
                process.kill()


def _environment(store: Path | None) -> dict[str, str]:
    return {**os.environ, **({"ASSAY_DB": str(store)} if store else {})}


def _last_line(errors: str) -> str:
    return next((line for line in reversed(errors.splitlines()) if line.strip()), "no message")
