"""One round of one way: fixed work and a real program."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from assay.noise.driver import find_noise
from assay.noise.figures import ExcessFigures, excess_figures
from assay.records import decode
from assay.records.noise import NoiseRun

from .ways import prefix

QUANTUM_US = 1000


@dataclass(frozen=True)
class Round:
    """Figures of a way in one round.

    Attributes:
        excess: excess time of portions of about a millisecond over the fastest one.
        program_s: time of each run of the real program, in seconds.
    """

    excess: ExcessFigures
    program_s: tuple[float, ...]


def measure(way: str, cpu: int, seconds: float, runs: int, program: tuple[str, ...]) -> Round:
    """Measure a way on the prepared host.

    Raises:
        subprocess.CalledProcessError: a program failed.
    """
    return Round(
        excess=_fixed_work(way, cpu, seconds),
        program_s=tuple(_timed(way, cpu, program) for _ in range(runs)),
    )


def _fixed_work(way: str, cpu: int, seconds: float) -> ExcessFigures:
    noise = (str(find_noise(os.environ)), "fwq", "--cpus", str(cpu), "--seconds", repr(seconds))
    words = (*prefix(way, cpu), *noise, "--quantum-us", str(QUANTUM_US))
    output = subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout
    run = decode(output, NoiseRun)
    found = excess_figures([one.values for one in run.cpus if one.error is None])
    if found is None:
        raise SystemExit(f"{way}: cannot measure CPU {cpu}: {run.cpus[0].error}")
    return found


def _timed(way: str, cpu: int, program: tuple[str, ...]) -> float:
    """Return the time of the program, without the command in front of it."""
    words = (*prefix(way, cpu), "python3", "-c", _TIMER, *program)
    output = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
    return float(output)


_TIMER = """
import subprocess, sys, time
began = time.monotonic()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(time.monotonic() - began)
"""


def input_file(folder: Path, size_bytes: int) -> Path:
    """Create a text with a typical compression ratio, the same in every run."""
    path = folder / "input"
    words = [f"{number * number % 9973} {number % 89}" for number in range(4096)]
    text = "\n".join(words).encode()
    path.write_bytes((text * (size_bytes // len(text) + 1))[:size_bytes])
    return path


def compress(file: Path) -> tuple[str, ...]:
    """Return the command of the real program."""
    return ("xz", "-6", "--keep", "--stdout", "--threads=1", str(file))
