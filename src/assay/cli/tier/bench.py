"""``assay tier bench``: programs with storage behind memory, beside memory alone."""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.bundle.files import replacing
from assay.cli.documents import print_json
from assay.cli.layout import fitted, width_of
from assay.cli.target import target_of
from assay.cli.tier.place import device_of, tier_env
from assay.errors import BadInput, NotPossible
from assay.records import to_builtins
from assay.tier.efficiency import (
    DEGREES,
    OF_DRAM,
    OTHERS,
    POLYNOMIALS,
    Cell,
    Device,
    Work,
    balance,
)
from assay.units import parse_bytes, parse_duration_s, show_bytes, show_count, show_duration
from assay.workloads.kernels import Timed, described, find_kernel, timed

BUDGET_S = 600.0
SAMPLE_S = "0.3"
"""A launch goes on so long, beside the passes that it does not count."""
_THRESHOLD_BYTES = 1 << 20
"""From which on memory is managed: the arrays of the smallest cells are to be, too."""
_CHUNK_BYTES = 2 << 20
_LEAST_BYTES = 16 << 20
"""DRAM is divided into chunks, and the tier needs so much (docs/tier.md)."""
_LEAST_OF_DRAM = 2.0
"""Data at most, over DRAM, of which the tier shows anything."""


@dataclass
class _Point:
    """A cell on its way."""

    work: Work
    threads: int
    of_dram: float
    degree: int | None
    memory: list[Timed] = field(default_factory=list)
    tier: list[Timed] = field(default_factory=list)

    @property
    def data_bytes(self) -> float:
        """What it touches, as the first launch in memory told."""
        return self.memory[0].bytes * self.work.touched

    @property
    def words(self) -> tuple[str, ...]:
        degree = () if self.degree is None else ("--degree", str(self.degree))
        return (*self.work.words, *degree, "--threads", str(self.threads))


@dataclass(frozen=True)
class _Bench:
    """What all launches share."""

    dram_bytes: int
    path: str

    def round(self, point: _Point, rng: random.Random) -> None:
        """One launch in memory and one with the tier, in any order from the second round on."""
        ways = [False, True]
        if point.memory:
            rng.shuffle(ways)
        for tier in ways:
            kept = point.tier if tier else point.memory
            kept.append(self._timed(point, tier=tier))

    def _timed(self, point: _Point, *, tier: bool) -> Timed:
        """One launch.

        Raises:
            NotPossible: a kernel fails, or its result is wrong.
        """
        program = find_kernel(point.work.kernel, os.environ)
        able = {one.variant for one in described(program).able}
        variant = next((one for one in point.work.variants if one in able), None)
        if variant is None:
            raise NotPossible(
                f"No variant of {point.work.kernel} that `tier bench` knows can be had here.",
                f"`assay case show {point.work.kernel}` says why.",
            )
        size = int(point.of_dram * self.dram_bytes / point.work.touched)
        data = ("--variant", variant, "--size", str(size), "--seconds", SAMPLE_S)
        env = self._tier_env(point) if tier else dict(os.environ)
        (seen,) = timed(program, (*data, *point.words), env)
        if seen.status != "ok":
            raise NotPossible(
                f"{point.work.name} gave a wrong result {'with' if tier else 'without'} the tier: "
                f"{seen.reason or seen.status}.",
                "Run it again; if it stays so, report it.",
            )
        return seen

    def _tier_env(self, point: _Point) -> dict[str, str]:
        """With less DRAM where data are less than was asked for, as those that are 2^n bytes."""
        chunks = round(point.data_bytes / point.of_dram / _CHUNK_BYTES)
        dram_bytes = max(chunks * _CHUNK_BYTES, _LEAST_BYTES)
        threshold = {"ASSAY_TIER_THRESHOLD": str(_THRESHOLD_BYTES)}
        return tier_env(self.path, dram_bytes) | threshold


def run(arguments: argparse.Namespace) -> int:
    """Measure round by round until the budget is spent, and show the efficiencies.

    Raises:
        BadInput: no sizes, or data larger than this host's memory.
        NotPossible: the tier cannot be used here.
    """
    picture = target_of("--output", arguments.output, (".svg",)) if arguments.output else None
    for name, example in (("dram", "256M"), ("path", "/mnt/nvme")):
        if not getattr(arguments, name):
            raise BadInput(
                f"`assay tier bench` needs --{name}.", f"Write --{name}, as in --{name} {example}."
            )
    dram_bytes = parse_bytes(arguments.dram)
    sizes = _sizes(dram_bytes, quiet=arguments.quiet)
    budget_s = parse_duration_s(arguments.budget) if arguments.budget else BUDGET_S
    threads = _threads(arguments.threads)
    before = device_of(arguments.path)
    bench = _Bench(dram_bytes, arguments.path)
    points = list(_points(sizes, threads))
    _measure(bench, points, budget_s, quiet=arguments.quiet)
    after = device_of(arguments.path)
    # Others who use it lower it, if not both times.
    device = Device(read=max(before.read, after.read), write=max(before.write, after.write))
    cells = [_cell(point, device) for point in points if point.tier]
    if picture is not None:
        from assay.tier.heatmap import heatmap_svg

        with replacing(picture) as stream:
            stream.write(heatmap_svg(cells, device, dram_bytes).encode())
    if arguments.json:
        told = [
            {**to_builtins(one), "efficiency": one.efficiency, "model": one.model} for one in cells
        ]
        print_json({"dram_bytes": dram_bytes, "device": to_builtins(device), "cells": told})
    else:
        lines = _told(cells, device, dram_bytes)
        print("\n".join(fitted(lines, width_of(sys.stdout))))
    return 0


def _points(sizes: Sequence[float], threads: Sequence[int]) -> Iterator[_Point]:
    for of_dram in sizes:
        for count in threads:
            for work in POLYNOMIALS:
                for degree in DEGREES:
                    yield _Point(work, count, of_dram, degree)
            for work in OTHERS:
                if of_dram <= work.of_dram:
                    yield _Point(work, count, of_dram, None)


def _measure(bench: _Bench, points: Sequence[_Point], budget_s: float, *, quiet: bool) -> None:
    """The first round in order of size, so that a short budget has the small ones."""
    end = time.monotonic() + budget_s
    rng = random.Random(0)
    order = list(points)
    done = 0
    while True:
        for point in order:
            if time.monotonic() >= end:
                return
            bench.round(point, rng)
            done += 1
            if not quiet:
                left = show_duration(max(0.0, end - time.monotonic()))
                threads = show_count(point.threads, "thread")
                at = f"{point.of_dram:g} times DRAM, {threads}"
                print(
                    f"assay: {point.work.name}, {at}: {done} of {len(points)} cells, {left} left",
                    file=sys.stderr,
                )
        rng.shuffle(order)


def _cell(point: _Point, device: Device) -> Cell:
    one = point.memory[0]
    memory_s = tuple(seen.median_s for seen in point.memory)
    middle_s = sorted(memory_s)[len(memory_s) // 2]
    return Cell(
        work=point.work.name,
        threads=point.threads,
        of_dram=point.of_dram,
        intensity=one.flops / (point.data_bytes * point.work.items),
        memory_s=memory_s,
        tier_s=tuple(seen.median_s for seen in point.tier),
        of_balance=balance(point.work, point.of_dram, middle_s, point.data_bytes, device),
    )


def _sizes(dram_bytes: int, *, quiet: bool) -> tuple[float, ...]:
    """Data over DRAM, of those that fit into this host's memory: that is what is compared with.

    Raises:
        BadInput: not even twice the DRAM does.
    """
    free_bytes = _free_bytes()
    fit = tuple(one for one in OF_DRAM if one * dram_bytes <= free_bytes)
    if _LEAST_OF_DRAM not in fit:
        raise BadInput(
            f"--dram {show_bytes(dram_bytes)} makes data of "
            f"{show_bytes(_LEAST_OF_DRAM * dram_bytes)}, and {show_bytes(free_bytes)} of memory "
            "are free.",
            "Name less: the programs have to fit into memory, to be compared with that.",
        )
    left_out = " and ".join(f"{one:g}" for one in OF_DRAM if one not in fit)
    if left_out and not quiet:
        print(
            f"assay: data of {left_out} times DRAM are left out: they do not fit into the "
            f"{show_bytes(free_bytes)} of memory that are free.",
            file=sys.stderr,
        )
    return fit


def _free_bytes() -> int:
    """Memory that programs can have without swap."""
    lines = Path("/proc/meminfo").read_text().splitlines()  # proc_meminfo(5): in KiB
    told = next(line for line in lines if line.startswith("MemAvailable:"))
    return int(told.split()[1]) << 10


def _threads(text: str | None) -> tuple[int, ...]:
    """Numbers of threads, each once.

    Raises:
        BadInput: it names none, or more than two for each CPU, which no kernel takes.
    """
    cpus = len(os.sched_getaffinity(0))
    if not text:
        return (cpus,)
    words = text.split(",")
    known = all(word.isascii() and word.isdecimal() for word in words)
    if not known or not all(1 <= int(word) <= 2 * cpus for word in words):
        raise BadInput(
            f"--threads {text!r} is no list of numbers from 1 to {2 * cpus}, two for each CPU.",
            f"Write it as in --threads 1,{2 * cpus}.",
        )
    return tuple(dict.fromkeys(map(int, words)))


def _told(cells: Sequence[Cell], device: Device, dram_bytes: int) -> list[str]:
    lines = [
        f"efficiency in per cent of the speed in memory alone, and in brackets what a perfect "
        f"overlap would have; {show_bytes(dram_bytes)} of DRAM, storage reads "
        f"{show_bytes(device.read)}/s and writes {show_bytes(device.write)}/s",
    ]
    counts = sorted({one.threads for one in cells})
    for count in counts:
        if counts[1:]:
            lines += ["", show_count(count, "thread")]
        lines += _tables([one for one in cells if one.threads == count])
    return lines


def _tables(cells: Sequence[Cell]) -> list[str]:
    """Of one number of threads."""
    lines: list[str] = []
    for work in POLYNOMIALS:
        mine = [one for one in cells if one.work == work.name]
        if not mine:
            continue
        columns = sorted({one.intensity for one in mine})
        lines += ["", f"{work.name}: data over DRAM, by operations a byte of the data"]
        lines += _table(
            [f"{one:g}" for one in columns],
            {
                f"{size:g}": [_at(mine, size, intensity) for intensity in columns]
                for size in sorted({one.of_dram for one in mine})
            },
        )
    sizes = sorted({one.of_dram for one in cells})
    others = [work.name for work in OTHERS if any(one.work == work.name for one in cells)]
    if others:
        lines += ["", "others: by data over DRAM"]
        rows = {
            name: [_at([c for c in cells if c.work == name], size) for size in sizes]
            for name in others
        }
        lines += _table([f"{size:g}" for size in sizes], rows)
    return lines


def _at(cells: Sequence[Cell], of_dram: float, intensity: float | None = None) -> str:
    for one in cells:
        if one.of_dram == of_dram and intensity in (None, one.intensity):
            return f"{100 * one.efficiency:.0f} ({100 * one.model:.0f})"
    return ""


def _table(heads: Sequence[str], rows: dict[str, list[str]]) -> list[str]:
    first = max(map(len, rows), default=0)
    widths = [
        max(len(head), *(len(row[i]) for row in rows.values())) for i, head in enumerate(heads)
    ]
    lines = [
        "  " + " " * first + "".join(f"  {h:>{w}}" for h, w in zip(heads, widths, strict=True))
    ]
    for name, row in rows.items():
        told = "".join(f"  {cell:>{w}}" for cell, w in zip(row, widths, strict=True))
        lines.append(f"  {name:<{first}}{told}".rstrip())
    return lines
