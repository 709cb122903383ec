"""Measurement of a kernel of the catalogue with data of one size, run in one way."""

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
    """Program with data of one size.

    Attributes:
        of_dram: size of its data, as a multiple of its memory.
        share: memory relative to other programs; less than 1 if a pass takes long.
        samples: number of timed passes; absent if the duration decides.
        repeats: least number of runs per round in each way; more if a pass is short.
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
    """Figures of one run.

    Attributes:
        wall_s: time of one pass, in seconds; the median of several.
        data_bytes: data of a pass.
        passes: number of reading passes of the whole run; the first pass, which fills, is not one.
        brought_bytes: bytes that the tier fetched in the whole run; absent for other ways.
    """

    wall_s: float
    data_bytes: int
    passes: int
    brought_bytes: int | None = None

    @property
    def memory_share(self) -> float | None:
        """Return the share of the reads that memory served."""
        if self.brought_bytes is None:
            return None
        return 1.0 - self.brought_bytes / (self.passes * self.data_bytes)

    @property
    def rate(self) -> float:
        """Bytes per second."""
        return self.data_bytes / self.wall_s


def measure(cell: Cell, way: Way, place: Place, seconds: float) -> Pass:
    """Run a program in one way; record the trace first if the way replays one.

    Raises:
        SystemExit: a result was wrong, the kernel failed, or the disk was not readable.
    """
    place = replace(place, dram_bytes=cell.dram_bytes(place))
    if way.alone:
        return _device(cell, place)
    command = _command(cell, way, place, seconds)
    if way.replayed:
        _record(cell, way, place, command)
    place.report.unlink(missing_ok=True)
    output = _output(cell, way, place, command, environment(way, place))
    return Pass(
        wall_s=output["median_s"],
        data_bytes=output["bytes"],
        passes=output["samples"] + 2,  # with the warm-up, and the check of the result
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
    """Return the kernel's command; a replayed run has as many passes as the recorded one."""
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
    _output(cell, way, place, command, recording(way, place))
    if not any(place.touches.iterdir()):
        raise SystemExit(f"{cell.name}, {way.name}: nothing was recorded")


def _output(
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
        if (
            done.returncode != -signal.SIGKILL
        ):  # the control group had no memory left before swap took a page
            break
    output: dict[str, Any] = json.loads(done.stdout.splitlines()[0]) if done.stdout else {}
    if output.get("status") != "ok":
        raise SystemExit(f"{cell.name}, {way.name}: {done.stdout[:400] or done.returncode}")
    return output


_ENTER = 'echo $$ > "$1"; shift; exec "$@"'
"""Enter the control group, then execute the program."""


def _brought(report: Path) -> int | None:
    try:
        lines = report.read_text().splitlines()
    except OSError:
        return None
    return sum(int(json.loads(line)["read_bytes"]) for line in lines)
