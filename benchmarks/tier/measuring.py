"""One cell: a kernel of the catalogue with data of a size, run one way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from assay.native_programs import native_folder
from assay.records.codec import Record
from assay.tier.probe import probe

from .ways import Place, Way, environment, prepared, recording

TIMEOUT_S = 1200.0
TRIES = 12


@dataclass(frozen=True)
class Cell:
    """Work of a program.

    Attributes:
        of_dram: size of its data, as a multiple of its memory.
        share: share of the memory of other cells; less if a pass takes long.
        samples: number of timed passes; absent if the time decides.
        repeats: runs per round in each way; more if a pass is short.
        advised: variant that announces its accesses to the kernel, if there is one.
        order: order in which the device alone reads the same amount.
    """

    name: str
    kernel: str
    variant: str
    of_dram: float
    words: tuple[str, ...] = ()
    share: float = 1.0
    samples: int | None = None
    repeats: int = 1
    advised: str | None = None
    order: Literal["forward", "backward"] = "forward"

    def dram_bytes(self, place: Place) -> int:
        """Return the memory limit of the program."""
        return int(self.share * place.dram_bytes)


class Pass(Record, frozen=True, kw_only=True):
    """Figures of a run.

    Attributes:
        wall_s: time of one pass; the median of several.
        data_bytes: data of a pass.
        passes: reading passes of the whole run, without the first, which fills.
        brought_bytes: bytes that the tier fetched in the whole run; absent for other ways.
    """

    wall_s: float
    data_bytes: int
    passes: int
    brought_bytes: int | None = None

    @property
    def held(self) -> float | None:
        """Return the share of the reads that memory served."""
        if self.brought_bytes is None:
            return None
        return 1.0 - self.brought_bytes / (self.passes * self.data_bytes)

    @property
    def rate(self) -> float:
        """Bytes per second."""
        return self.data_bytes / self.wall_s


def measure(cell: Cell, way: Way, place: Place, seconds: float) -> Pass:
    """Run it; a way that replays is recorded before.

    Raises:
        SystemExit: a result was wrong, or the kernel could not be run, or the disk not be read.
    """
    place = replace(place, dram_bytes=cell.dram_bytes(place))
    if way.alone:
        return _device(cell, place)
    command = _command(cell, way, place, seconds)
    if way.replayed:
        _record(cell, way, place, command)
    place.report.unlink(missing_ok=True)
    told = _told(cell, way, place, command, environment(way, place))
    return Pass(
        wall_s=told["median_s"],
        data_bytes=told["bytes"],
        passes=told["samples"] + 2,  # one warms up, and one holds the result against the right one
        brought_bytes=_brought(place.report),
    )


def _device(cell: Cell, place: Place) -> Pass:
    """Return the throughput of the disk, as ``assay tier doctor`` measures it."""
    size = int(cell.of_dram * place.dram_bytes)
    (path,) = probe(os.environ, str(place.folder), size_bytes=size, order=cell.order).paths
    if path.read_bytes_per_s is None:
        raise SystemExit(f"{place.folder}: {path.problem}")
    return Pass(wall_s=size / path.read_bytes_per_s, data_bytes=size, passes=1)


def _command(cell: Cell, way: Way, place: Place, seconds: float) -> list[str]:
    """The kernel's; a run that is replayed has as many passes as the one that was recorded."""
    program = native_folder(os.environ) / f"assay-kernel-{cell.kernel}"
    variant = cell.advised if way.advised and cell.advised else cell.variant
    size = int(cell.of_dram * place.dram_bytes)
    samples = cell.samples or (1 if way.replayed else None)
    timing = ("--seconds", "60", "--samples", str(samples))
    return [
        *(str(program), "--variant", variant, "--size", str(size), *cell.words),
        *(timing if samples else ("--seconds", str(seconds))),
    ]


def _record(cell: Cell, way: Way, place: Place, command: Sequence[str]) -> None:
    shutil.rmtree(place.touches, ignore_errors=True)
    place.touches.mkdir()
    _told(cell, way, place, command, recording(way, place))
    if not any(place.touches.iterdir()):
        raise SystemExit(f"{cell.name}, {way.name}: nothing was recorded")


def _told(
    cell: Cell, way: Way, place: Place, command: Sequence[str], variables: Mapping[str, str]
) -> dict[str, Any]:
    """Return the output of the catalogue's kernel, on a host prepared for the way.

    Raises:
        SystemExit: the result is wrong or missing.
    """
    added = [f"{name}={value}" for name, value in variables.items()]
    for _ in range(TRIES):
        with prepared(way, place) as members:
            group = str(members or "/dev/null")
            done = subprocess.run(
                ["sh", "-c", _ENTER, "sh", group, "env", *added, *command],
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
    return told


_ENTER = 'echo $$ > "$1"; shift; exec "$@"'
"""Into the group, and on as the program itself."""


def _brought(report: Path) -> int | None:
    try:
        lines = report.read_text().splitlines()
    except OSError:
        return None
    return sum(int(json.loads(line)["read_bytes"]) for line in lines)
