"""Pieces of work of the benchmark, and their measurement in one round."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.errors import NotPossibleError
from assay.workloads.kernels import (
    Kernel,
    Variant,
    VariantTimes,
    describe,
    find_kernels,
    parameter_words,
)
from assay.workloads.kernels import run_variants as run
from assay.workloads.roofs import measure_roofs
from benchmarks.overhead.reading import Key, Reading

SIZES = ("L2", "DRAM")
MODES: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "horner": (
        ("read, degree 2", ("--degree", "2")),
        ("read, degree 256", ("--degree", "256")),
        ("written, degree 2", ("--degree", "2", "--write", "1")),
    ),
    "deflate": (("compressed", ()), ("inflated", ("--direction", "1"))),
    "hash": (
        ("SHA-256", ()),
        ("SHA-1", ("--function", "1")),
        ("SHA-512", ("--function", "512")),
        ("MD5", ("--function", "5")),
    ),
}
"""Kernels with several sets of parameters."""
PARAMETERS: dict[tuple[str, str], tuple[str, ...]] = {
    # Without this, a repetition takes half a minute.
    ("kmeans", "DRAM"): ("--centres", "16"),
    # Each vector has the size of a last-level cache of 32 MiB, as in the published experiment.
    ("gram-schmidt", "DRAM"): ("--n", "4194304"),
}
"""Parameters of a kernel at one size."""
LAUNCH_S = "0.1"
MAX_REPETITION_S = 1.0
"""Longest repetition of a variant that is launched in all rounds, in seconds."""
REPETITION_US = "repetition_us"
ONE_THREAD_US = "one_thread_us"
FAILED = "failed"
PEAK, BANDWIDTH = "peak_gflop_per_s", "bandwidth_gb_per_s"
ROOF = "roof"


@dataclass(frozen=True)
class Piece:
    """Kernel with data of one size, in one mode."""

    program: Path
    kernel: Kernel
    name: str

    def key(self, variant: str, quantity: str = REPETITION_US) -> Key:
        """Return the key of a figure of a variant."""
        return Key(self.kernel.kernel, self.name, variant, quantity)


def pieces(sizes: Iterable[str], chosen: Iterable[str]) -> Iterator[Piece]:
    """Yield the pieces of all kernels, or of the chosen ones."""
    only = set(chosen)
    for name, program in find_kernels(os.environ).items():
        if only and name not in only:
            continue
        for mode, words in MODES.get(name, (("", ()),)):
            for size in sizes:
                words_here = (*words, *PARAMETERS.get((name, size), ()))
                kernel = describe(program, ("--size", size, *words_here))
                yield Piece(program, kernel, f"{size}, {mode}" if mode else size)


def has_library(kernel: Kernel) -> bool:
    """Return whether a library does the work of a variant that is available here."""
    return any(one.library for one in kernel.available)


def visit(piece: Piece, slow: set[Key], rng: random.Random) -> Iterator[Reading]:
    """Measure the roofs and launch every variant once, in random order.

    Variants of kernels with a library are launched with all threads and with one, so that the page
    can compare both sides thread for thread.

    Args:
        piece: piece of work.
        slow: keys of variants to leave out; those that prove too slow are added.
        rng: random numbers for the order.
    """
    roofs = measure_roofs(piece.kernel, (), os.environ)
    yield Reading(piece.key(ROOF, PEAK), roofs.gflop_per_s)
    yield Reading(piece.key(ROOF, BANDWIDTH), roofs.gb_per_s)
    variants = list(piece.kernel.available)
    rng.shuffle(variants)
    for one in variants:
        key = piece.key(one.variant)
        if key in slow:
            continue
        found = _timed(piece, one)
        if found is None:
            yield Reading(piece.key(one.variant, FAILED), 1.0)
            continue
        if found.median_s > MAX_REPETITION_S:
            slow.add(key)
        yield Reading(key, 1e6 * found.median_s)
        for name, value in found.figures.items():
            yield Reading(piece.key(one.variant, name), value)
        if has_library(piece.kernel):
            alone = _timed(piece, one, "--threads", "1")
            if alone is not None:
                yield Reading(piece.key(one.variant, ONE_THREAD_US), 1e6 * alone.median_s)


def _timed(piece: Piece, one: Variant, *more: str) -> VariantTimes | None:
    """Return the times of one launch, or ``None`` if it failed (and print the reason)."""
    words = ("--variant", one.variant, "--seconds", LAUNCH_S, *more, *parameter_words(piece.kernel))
    try:
        (found,) = run(piece.program, words)
    except (NotPossibleError, subprocess.SubprocessError) as error:
        print(f"{piece.kernel.kernel} {one.variant}: {error}", file=sys.stderr, flush=True)
        return None
    return found
