"""One cell: a kernel of the catalogue with data of a size, run one way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.installed import native_folder

from .ways import Place, Way, environment, prepared

TIMEOUT_S = 1200.0
TRIES = 4


@dataclass(frozen=True)
class Cell:
    """What a program does.

    Attributes:
        of_dram: size of its data, in what it may hold.
        share: of the memory that others have; less where a pass takes long.
        samples: passes that are timed; absent for as many as the time allows.
        advised: variant that tells the kernel what it will do, where there is one.
    """

    name: str
    kernel: str
    variant: str
    of_dram: float
    words: tuple[str, ...] = ()
    share: float = 1.0
    samples: int | None = None
    advised: str | None = None


@dataclass(frozen=True)
class Pass:
    """What was seen.

    Attributes:
        wall_s: one pass; a median, where there were several.
        data_bytes: that it went through.
        passes: of the whole run that read, beside the first, which fills.
        brought_bytes: from storage by the tier, in the whole run; absent for other ways.
    """

    wall_s: float
    data_bytes: int
    passes: int
    brought_bytes: int | None = None

    @property
    def held(self) -> float | None:
        """Part of what was read that no transfer brought."""
        if self.brought_bytes is None:
            return None
        return 1.0 - self.brought_bytes / (self.passes * self.data_bytes)

    @property
    def rate(self) -> float:
        """Bytes per second."""
        return self.data_bytes / self.wall_s


def measure(cell: Cell, way: Way, place: Place, seconds: float, *, advised: bool = False) -> Pass:
    """Run it.

    Raises:
        SystemExit: a result was wrong, or the kernel could not be run.
    """
    place = replace(place, dram_bytes=int(cell.share * place.dram_bytes))
    size = int(cell.of_dram * place.dram_bytes)
    variant = cell.advised if advised and cell.advised else cell.variant
    program = native_folder(os.environ) / f"assay-kernel-{cell.kernel}"
    command = [str(program), "--variant", variant, "--size", str(size), "--seconds", str(seconds)]
    if cell.samples:
        command[-1:] = ["60", "--samples", str(cell.samples)]
    more = [f"{name}={value}" for name, value in environment(way, place).items()]
    report = place.folder / "report"
    report.unlink(missing_ok=True)
    for _ in range(TRIES):
        with prepared(way, place) as members:
            done = subprocess.run(
                [
                    "sh",
                    "-c",
                    _ENTER,
                    "sh",
                    members or "/dev/null",
                    "env",
                    *more,
                    *command,
                    *cell.words,
                ],
                stdout=subprocess.PIPE,
                text=True,
                check=False,
                timeout=TIMEOUT_S,
            )
        if done.returncode != -signal.SIGKILL:  # the group's memory was used up before swap took it
            break
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[0]) if done.stdout else {}
    if told.get("status") != "ok":
        raise SystemExit(f"{cell.name}, {way.name}: {done.stdout[:400] or done.returncode}")
    # One pass warms up, and one holds the result against the right one.
    return Pass(told["median_s"], told["bytes"], told["samples"] + 2, _brought(report))


_ENTER = 'echo $$ > "$1"; shift; exec "$@"'
"""Into the group, and on as the program itself."""


def _brought(report: Path) -> int | None:
    try:
        lines = report.read_text().splitlines()
    except OSError:
        return None
    return sum(int(json.loads(line)["read_bytes"]) for line in lines)
