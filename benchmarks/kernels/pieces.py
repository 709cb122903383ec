"""Pieces: which work is measured, and one round of it."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.errors import NotPossibleError
from assay.workloads.kernels import Kernel, Timed, Variant, described, find_kernels, options_of
from assay.workloads.kernels import timed as run
from assay.workloads.roofs import measured_roofs
from benchmarks.overhead.reading import Key, Reading

SIZES = ("L2", "DRAM")
MODES: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "horner": (
        ("read, degree 2", ("--degree", "2")),
        ("read, degree 256", ("--degree", "256")),
        ("written, degree 2", ("--degree", "2", "--write", "1")),
    ),
    "deflate": (("compressed", ()), ("inflated", ("--direction", "1"))),
}
"""Kernels that are of interest with other than their usual parameters."""
SHORTER: dict[tuple[str, str], tuple[str, ...]] = {("kmeans", "DRAM"): ("--centres", "16")}
"""Parameters for a size without which a repetition would take half a minute."""
ALONE = {"dgemm", "gram-schmidt", "lu", "pca"}
"""Kernels whose libraries have threads of their own, which with little work cost more than they
bring: these are timed with one thread too."""
LAUNCH_S = "0.1"
TOO_LONG_S = 1.0
"""A variant that one repetition takes longer of is run in the first round alone."""
REPETITION_US = "repetition_us"
ONE_THREAD_US = "one_thread_us"
FAILED = "failed"
PEAK, BANDWIDTH = "peak_gflop_per_s", "bandwidth_gb_per_s"
ROOF = "roof"


@dataclass(frozen=True)
class Piece:
    """A kernel with data of one size, and in one mode."""

    program: Path
    kernel: Kernel
    name: str

    def key(self, variant: str, quantity: str = REPETITION_US) -> Key:
        """Of a figure of a variant."""
        return Key(self.kernel.kernel, self.name, variant, quantity)


def pieces(sizes: Iterable[str], chosen: Iterable[str]) -> Iterator[Piece]:
    """All of the catalogue, or the kernels that were chosen."""
    only = set(chosen)
    for name, program in find_kernels(os.environ).items():
        if only and name not in only:
            continue
        for mode, words in MODES.get(name, (("", ()),)):
            for size in sizes:
                words_here = (*words, *SHORTER.get((name, size), ()))
                kernel = described(program, ("--size", size, *words_here))
                yield Piece(program, kernel, f"{size}, {mode}" if mode else size)


def visit(piece: Piece, slow: set[Key], rng: random.Random) -> Iterator[Reading]:
    """Every variant once, in a random order, and the roofs; fills in what is too slow for more."""
    roofs = measured_roofs(piece.kernel, (), os.environ)
    yield Reading(piece.key(ROOF, PEAK), roofs.gflop_per_s)
    yield Reading(piece.key(ROOF, BANDWIDTH), roofs.gb_per_s)
    variants = list(piece.kernel.able)
    rng.shuffle(variants)
    for one in variants:
        key = piece.key(one.variant)
        if key in slow:
            continue
        found = _timed(piece, one)
        if found is None:
            yield Reading(piece.key(one.variant, FAILED), 1.0)
            continue
        if found.median_s > TOO_LONG_S:
            slow.add(key)
        yield Reading(key, 1e6 * found.median_s)
        for name, value in found.figures.items():
            yield Reading(piece.key(one.variant, name), value)
        if one.library and piece.kernel.kernel in ALONE:
            alone = _timed(piece, one, "--threads", "1")
            if alone is not None:
                yield Reading(piece.key(one.variant, ONE_THREAD_US), 1e6 * alone.median_s)


def _timed(piece: Piece, one: Variant, *more: str) -> Timed | None:
    """``None`` where it was rejected, or did not end well: the reason is told at once."""
    words = ("--variant", one.variant, "--seconds", LAUNCH_S, *more, *options_of(piece.kernel))
    try:
        (found,) = run(piece.program, words)
    except (NotPossibleError, subprocess.SubprocessError) as error:
        print(f"{piece.kernel.kernel} {one.variant}: {error}", file=sys.stderr, flush=True)
        return None
    return found
