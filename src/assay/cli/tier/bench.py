"""``assay tier bench``: programs with storage behind memory, beside memory alone."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.bundle.files import replace_atomically
from assay.cli.files.output_file import output_path
from assay.cli.show.documents import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.cli.tier.environment import device_of, tier_env
from assay.errors import InvalidInputError
from assay.records import to_builtins
from assay.tier.bench import Progress, TierBenchmark, find_works, fitting_sizes, read_free_bytes
from assay.tier.efficiency import DRAM_MULTIPLES, OTHER_WORKS, POLYNOMIALS, Cell, Device
from assay.units import parse_bytes, parse_duration_s, show_bytes, show_count, show_duration
from assay.workloads.kernels import VariantTimes, describe, find_kernel, run_variants

DEFAULT_BUDGET_S = 600.0
_MANAGED_OF_DRAM = 16
"""Managed is, of allocations, what is not smaller than such a part of DRAM.

The library's own default would leave out all of the smallest cells. What is smaller still are the
buffers that programs work in, which no default manages either.
"""
_LEAST_OF_DRAM = 2.0
"""Data at most, over DRAM, of which the tier shows anything."""


@dataclass(frozen=True)
class _Catalogue:
    """The kernels of this installation, with storage behind their memory.

    Attributes:
        path: directories, with commas between them.
    """

    path: str

    def able(self, kernel: str) -> set[str]:
        """Variants that can be had here."""
        return {one.variant for one in describe(find_kernel(kernel, os.environ)).available}

    def timed(self, kernel: str, words: Sequence[str], dram_bytes: int | None) -> VariantTimes:
        """One launch; in memory alone where no DRAM is named.

        Raises:
            NotPossibleError: it fails.
        """
        (seen,) = run_variants(find_kernel(kernel, os.environ), words, self._env(dram_bytes))
        return seen

    def _env(self, dram_bytes: int | None) -> Mapping[str, str]:
        if dram_bytes is None:
            return dict(os.environ)
        threshold = {"ASSAY_TIER_THRESHOLD": str(dram_bytes // _MANAGED_OF_DRAM)}
        return tier_env(self.path, dram_bytes) | threshold


def run(arguments: argparse.Namespace) -> int:
    """Measure round by round until the budget is spent, and show the efficiencies.

    Raises:
        InvalidInputError: no sizes, or data larger than this host's memory, or no program of such
            a name.
        NotPossibleError: the tier cannot be used here.
    """
    picture = output_path("--output", arguments.output, (".svg",)) if arguments.output else None
    for name, example in (("dram", "256M"), ("path", "/mnt/nvme")):
        if not getattr(arguments, name):
            raise InvalidInputError(
                f"`assay tier bench` needs --{name}.", f"Write --{name}, as in --{name} {example}."
            )
    dram_bytes = parse_bytes(arguments.dram)
    works = find_works(arguments.work)
    if arguments.data:
        sizes = _chosen(arguments.data, dram_bytes)
    else:
        sizes = _sizes(dram_bytes, quiet=arguments.quiet)
    budget_s = parse_duration_s(arguments.budget) if arguments.budget else DEFAULT_BUDGET_S
    threads = _threads(arguments.threads)
    bench = TierBenchmark(_Catalogue(arguments.path), dram_bytes, sizes, threads, works)
    before = device_of(arguments.path)
    bench.measure(budget_s, _untold if arguments.quiet else _tell)
    after = device_of(arguments.path)
    # Others who use it lower it, if not both times.
    device = Device(read=max(before.read, after.read), write=max(before.write, after.write))
    cells = bench.cells(device)
    if picture is not None:
        from assay.tier.heatmap import heatmap_svg

        with replace_atomically(picture) as stream:
            stream.write(heatmap_svg(cells, device, dram_bytes).encode())
    if arguments.json:
        told = [
            {**to_builtins(one), "efficiency": one.efficiency, "model": one.model} for one in cells
        ]
        print_json({"dram_bytes": dram_bytes, "device": to_builtins(device), "cells": told})
    else:
        lines = _told(cells, device, dram_bytes) + _missing(bench.missing, len(cells), budget_s)
        print("\n".join(wrapped(lines, width_of(sys.stdout))))
    return 0


def _tell(now: Progress) -> None:
    print(
        f"assay: round {now.round}: {now.work.name}, {now.of_dram:g} times DRAM, "
        f"{show_count(now.threads, 'thread')}: {now.done} of {now.cells} cells, "
        f"{show_duration(now.left_s)} left",
        file=sys.stderr,
    )


def _untold(_: Progress) -> None:
    pass


def _sizes(dram_bytes: int, *, quiet: bool) -> tuple[float, ...]:
    """Data over DRAM; those that do not fit into this host's memory are told of.

    Raises:
        InvalidInputError: not even twice the DRAM does.
    """
    free_bytes = read_free_bytes()
    fit = fitting_sizes(dram_bytes, free_bytes)
    if _LEAST_OF_DRAM not in fit:
        raise InvalidInputError(
            f"--dram {show_bytes(dram_bytes)} makes data of "
            f"{show_bytes(_LEAST_OF_DRAM * dram_bytes)}, and {show_bytes(free_bytes)} of memory "
            "are free.",
            "Name less: the programs have to fit into memory, to be compared with that.",
        )
    left_out = " and ".join(f"{one:g}" for one in DRAM_MULTIPLES if one not in fit)
    if left_out and not quiet:
        print(
            f"assay: data of {left_out} times DRAM are left out: they do not fit into the "
            f"{show_bytes(free_bytes)} of memory that are free.",
            file=sys.stderr,
        )
    return fit


def _chosen(text: str, dram_bytes: int) -> tuple[float, ...]:
    """Data over DRAM that were named, each once.

    Raises:
        InvalidInputError: they are no numbers above 0, or such data do not fit into this host's
            memory.
    """
    try:
        sizes = tuple(dict.fromkeys(map(float, text.split(","))))
    except ValueError:
        sizes = ()
    if not sizes or not all(0.0 < one < math.inf for one in sizes):
        raise InvalidInputError(
            f"--data {text!r} is no list of numbers above 0.", "Write it as in --data 0.5,2,4."
        )
    free_bytes = read_free_bytes()
    largest = max(sizes)
    if largest * dram_bytes > free_bytes:
        raise InvalidInputError(
            f"Data of {largest:g} times {show_bytes(dram_bytes)} do not fit into the "
            f"{show_bytes(free_bytes)} of memory that are free, and are compared with that.",
            "Name less, or a smaller --dram.",
        )
    return sizes


def _threads(text: str | None) -> tuple[int, ...]:
    """Numbers of threads, each once.

    Raises:
        InvalidInputError: it names none, or more than two for each CPU, which no kernel takes.
    """
    cpus = len(os.sched_getaffinity(0))
    if not text:
        return (cpus,)
    words = text.split(",")
    known = all(word.isascii() and word.isdecimal() for word in words)
    if not known or not all(1 <= int(word) <= 2 * cpus for word in words):
        raise InvalidInputError(
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


def _missing(missing: int, measured: int, budget_s: float) -> list[str]:
    """What a longer time would give."""
    if not missing:
        return []
    # Larger cells come later and take longer, so that it is the least.
    minutes = math.ceil(budget_s * (measured + missing) / max(measured, 1) / 60)
    cells = show_count(missing, "larger cell is", "larger cells are")
    return ["", f"{cells} missing: give --budget {minutes}m or more for all"]


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
    others = [work.name for work in OTHER_WORKS if any(one.work == work.name for one in cells)]
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
