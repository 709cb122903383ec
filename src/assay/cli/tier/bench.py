"""``assay tier bench``: programs with storage behind memory, beside memory alone."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import asdict

from assay.bundle.files import replace_atomically
from assay.cli.arguments.common import common_options
from assay.cli.arguments.tier import bench_request, heatmap_path
from assay.cli.documents.tier import BenchmarkCell, TierBenchAnswer
from assay.cli.parsing.parser import Parsed
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.cli.tier.environment import device_of, tier_env
from assay.errors import InvalidInputError
from assay.records import to_builtins
from assay.tier.bench import Progress, TierBenchmark, find_works, fitting_sizes, read_free_bytes
from assay.tier.efficiency import DRAM_MULTIPLES, OTHER_WORKS, POLYNOMIALS, Cell, Device
from assay.units import show_bytes, show_count, show_duration
from assay.workloads.kernels import VariantTimes, describe, find_kernel, run_variants

_MANAGED_OF_DRAM = 16
"""Allocations of at least this fraction of DRAM are managed.

The default of the library would exclude all allocations of the smallest cells. Smaller allocations
are work buffers, which no default manages.
"""
_MIN_LARGEST = 2.0
"""Minimum size of the largest data, as a multiple of DRAM."""


@dataclass(frozen=True)
class _Catalogue:
    """Kernels of this installation that run with a tier.

    Attributes:
        path: directories of the backing store, separated by commas.
    """

    path: str

    def available_variants(self, kernel: str) -> set[str]:
        """Return the available variants of a kernel."""
        return {one.variant for one in describe(find_kernel(kernel, os.environ)).available}

    def run(self, kernel: str, words: Sequence[str], dram_bytes: int | None) -> VariantTimes:
        """Measure one launch; without a size of DRAM it runs in memory alone.

        Raises:
            NotPossibleError: the launch fails.
        """
        (seen,) = run_variants(find_kernel(kernel, os.environ), words, self._env(dram_bytes))
        return seen

    def _env(self, dram_bytes: int | None) -> Mapping[str, str]:
        if dram_bytes is None:
            return dict(os.environ)
        threshold = {"ASSAY_TIER_THRESHOLD": str(dram_bytes // _MANAGED_OF_DRAM)}
        return tier_env(self.path, dram_bytes) | threshold


def run(parsed: Parsed) -> int:
    """Measure in rounds until the budget is spent, and print the efficiencies.

    Raises:
        InvalidInputError: a size is missing, the data exceed the memory of this host, or a program
            is unknown.
        NotPossibleError: the tier is not available here.
    """
    picture = heatmap_path(parsed)
    request, options = bench_request(parsed), common_options(parsed)
    dram_bytes, budget_s = request.dram_bytes, request.budget_s
    works = find_works(request.works)
    if request.data:
        _demand_memory(request.data, dram_bytes)
    sizes = request.data or _sizes(dram_bytes, quiet=options.quiet)
    threads = request.threads or (len(os.sched_getaffinity(0)),)
    bench = TierBenchmark(_Catalogue(request.path), dram_bytes, sizes, threads, works)
    before = device_of(request.path)
    bench.measure(budget_s, _ignore if options.quiet else _print_progress)
    after = device_of(request.path)
    # Other processes may slow down one of the two measurements.
    device = Device(read=max(before.read, after.read), write=max(before.write, after.write))
    cells = bench.cells(device)
    if picture is not None:
        from assay.tier.heatmap import heatmap_svg

        with replace_atomically(picture) as stream:
            stream.write(heatmap_svg(cells, device, dram_bytes).encode())
    if options.json:
        found = tuple(
            BenchmarkCell(**asdict(one), efficiency=one.efficiency, model=one.model)
            for one in cells
        )
        print_json(to_builtins(TierBenchAnswer(dram_bytes=dram_bytes, device=device, cells=found)))
    else:
        lines = _lines(cells, device, dram_bytes) + _missing(bench.missing, len(cells), budget_s)
        print("\n".join(wrapped(lines, width_of(sys.stdout))))
    return 0


def _print_progress(now: Progress) -> None:
    print(
        f"assay: round {now.round}: {now.work.name}, {now.of_dram:g} times DRAM, "
        f"{show_count(now.threads, 'thread')}: {now.done} of {now.cells} cells, "
        f"{show_duration(now.left_s)} left",
        file=sys.stderr,
    )


def _ignore(_: Progress) -> None:
    pass


def _sizes(dram_bytes: int, *, quiet: bool) -> tuple[float, ...]:
    """Return the sizes of data as multiples of DRAM; prints those that do not fit into memory.

    Raises:
        InvalidInputError: twice the DRAM does not fit into the memory of this host.
    """
    free_bytes = read_free_bytes()
    fit = fitting_sizes(dram_bytes, free_bytes)
    if _MIN_LARGEST not in fit:
        raise InvalidInputError(
            f"--dram {show_bytes(dram_bytes)} needs data of "
            f"{show_bytes(_MIN_LARGEST * dram_bytes)}, but only {show_bytes(free_bytes)} of "
            "memory are free.",
            "Write a smaller size: for comparison, the programs also run in memory alone.",
        )
    left_out = " and ".join(f"{one:g}" for one in DRAM_MULTIPLES if one not in fit)
    if left_out and not quiet:
        print(
            f"assay: left out data of {left_out} times DRAM, which exceed the "
            f"{show_bytes(free_bytes)} of free memory.",
            file=sys.stderr,
        )
    return fit


def _demand_memory(data: Sequence[float], dram_bytes: int) -> None:
    """Raise on data that exceed the memory of this host.

    Raises:
        InvalidInputError: the largest data exceed it.
    """
    free_bytes = read_free_bytes()
    largest = max(data)
    if largest * dram_bytes > free_bytes:
        raise InvalidInputError(
            f"Data of {largest:g} times {show_bytes(dram_bytes)} exceed the "
            f"{show_bytes(free_bytes)} of free memory, in which the programs run for comparison.",
            "Write smaller multiples, or a smaller --dram.",
        )


def _lines(cells: Sequence[Cell], device: Device, dram_bytes: int) -> list[str]:
    lines = [
        "efficiency in per cent of the speed in memory alone, in brackets the limit with perfect "
        f"overlap; {show_bytes(dram_bytes)} of DRAM, storage reads {show_bytes(device.read)}/s and "
        f"writes {show_bytes(device.write)}/s",
    ]
    counts = sorted({one.threads for one in cells})
    for count in counts:
        if counts[1:]:
            lines += ["", show_count(count, "thread")]
        lines += _tables([one for one in cells if one.threads == count])
    return lines


def _missing(missing: int, measured: int, budget_s: float) -> list[str]:
    """Return the lines on missing cells and the budget that they need."""
    if not missing:
        return []
    # Larger cells come later and take longer, so this is a lower bound.
    minutes = math.ceil(budget_s * (measured + missing) / max(measured, 1) / 60)
    cells = show_count(missing, "larger cell is", "larger cells are")
    return ["", f"{cells} missing: --budget {minutes}m or more measures all"]


def _tables(cells: Sequence[Cell]) -> list[str]:
    """Return the tables for one number of threads."""
    lines: list[str] = []
    for work in POLYNOMIALS:
        mine = [one for one in cells if one.work == work.name]
        if not mine:
            continue
        columns = sorted({one.intensity for one in mine})
        lines += ["", f"{work.name} (rows: data size / DRAM; columns: operations per byte)"]
        lines += _table(
            [f"{one:g}" for one in columns],
            {
                f"{size:g}": [_efficiency(mine, size, intensity) for intensity in columns]
                for size in sorted({one.dram_ratio for one in mine})
            },
        )
    sizes = sorted({one.dram_ratio for one in cells})
    others = [work.name for work in OTHER_WORKS if any(one.work == work.name for one in cells)]
    if others:
        lines += ["", "other programs (columns: data size / DRAM)"]
        rows = {
            name: [_efficiency([c for c in cells if c.work == name], size) for size in sizes]
            for name in others
        }
        lines += _table([f"{size:g}" for size in sizes], rows)
    return lines


def _efficiency(cells: Sequence[Cell], of_dram: float, intensity: float | None = None) -> str:
    for one in cells:
        if one.dram_ratio == of_dram and intensity in (None, one.intensity):
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
        cells = "".join(f"  {cell:>{w}}" for cell, w in zip(row, widths, strict=True))
        lines.append(f"  {name:<{first}}{cells}".rstrip())
    return lines
