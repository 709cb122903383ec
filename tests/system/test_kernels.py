"""The catalogue's kernels: variants are correct at odd sizes, and checks reject broken ones."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from cases import cases
from native_build import native_build

pytestmark = pytest.mark.system

THREADS = tuple(sorted({1, len(os.sched_getaffinity(0))}))
SHIFTS = (0, 8)


def lines(program: Path, *words: object, status: int | None = 0) -> list[dict[str, Any]]:
    """Return the printed documents, one for each line."""
    done = subprocess.run(
        [program, *map(str, words)], capture_output=True, text=True, timeout=300, check=False
    )
    assert status is None or done.returncode == status, (words, done.stdout, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def described(program: Path, *words: object) -> dict[str, Any]:
    (found,) = lines(program, "--describe", *words)
    return found


def options(shape: dict[str, int]) -> list[object]:
    return [word for name, value in shape.items() for word in (f"--{name}", value)]


def test_description_is_complete(assay_kernels: tuple[Path, ...]) -> None:
    for program in assay_kernels:
        reported = described(program)
        assert program.name == f"assay-kernel-{reported['kernel']}"
        assert all(reported[key] for key in ("title", "source", "bound", "options", "shapes"))
        variants = {one["variant"]: one for one in reported["variants"]}
        assert len(variants) == len(reported["variants"])
        assert any(one["incorrect"] for one in variants.values()), "nothing tests its check"
        first = [name for name, one in variants.items() if not one["parent"]]
        assert first, "one variant is the first"
        for name, one in variants.items():
            assert one["description"] and not one["description"].endswith(".")
            path = [name]
            assert (
                not one["parent"] or one["parent"] in list(variants)[: list(variants).index(name)]
            )
            while parent := variants[path[-1]]["parent"]:
                assert parent in variants and parent not in path, path
                path.append(parent)


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("threads", "shift"),
    cases([(THREADS[-1], SHIFTS[-1])], slow=list(product(THREADS, SHIFTS))[:-1]),
)
def test_every_variant_is_correct_at_odd_sizes(
    assay_kernels: tuple[Path, ...], threads: int, shift: int
) -> None:
    check_odd_sizes(assay_kernels, threads, shift)


def check_odd_sizes(programs: tuple[Path, ...], threads: int, shift: int) -> None:
    for program in programs:
        for shape in described(program)["shapes"]:
            words = ["--threads", threads, "--shift", shift, *options(shape)]
            found = lines(program, "--variant", "all", "--seconds", 0, *words)
            bad = [one for one in found if one["status"] not in ("ok", "unavailable")]
            assert not bad, (program.name, words, bad)
            assert all(one["reason"] for one in found if one["status"] == "unavailable")


@pytest.mark.rotating
def test_broken_variant_is_rejected(assay_kernels: tuple[Path, ...]) -> None:
    for program in assay_kernels:
        for one in described(program)["variants"]:
            if not one["incorrect"] or "unavailable" in one:
                continue
            (found,) = lines(program, "--variant", one["variant"], "--seconds", 0, status=1)
            assert found["status"] == "rejected" and found["reason"], found


@pytest.mark.rotating
def test_broken_variant_of_other_modes_is_rejected(assay_kernels: tuple[Path, ...]) -> None:
    """A broken variant of other modes is rejected at one of the odd sizes at least."""
    for program in assay_kernels:
        reported = described(program)
        for one in reported["variants"]:
            if not one["incorrect"] or "unavailable" not in one:
                continue
            words = ["--variant", one["variant"], "--seconds", 0]
            found = [
                line["status"]
                for shape in reported["shapes"]
                for line in lines(program, *words, *options(shape), status=None)
            ]
            assert "rejected" in found or set(found) == {"unavailable"}, (program.name, one)


def test_costs_are_positive_and_consistent(assay_kernels: tuple[Path, ...]) -> None:
    """Every variant has a cost, and write allocation does not lower it."""
    for program in assay_kernels:
        (found,) = lines(program, "--describe")
        for one in found["variants"]:
            if "unavailable" in one:
                continue
            assert one["flops"] + one["special_functions"] + one["moved_bytes"] > 0
            assert one["moved_bytes_with_allocate"] >= one["moved_bytes"]


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["--variant", "nothing-like-it"], "unknown variant"),
        (["--variant"], "needs a value"),
        (["--variant", "all", "--threads", "0"], "from 1"),
        (["--variant", "all", "--threads", "100000"], "CPUs that this process may use"),
        (["--variant", "all", "--size", "L9"], "unknown size"),
        (["--variant", "all", "--size", "9T"], "are available"),
        (["--variant", "all", "--shift", "3"], "multiple of"),
        (["--variant", "all", "--seconds", "nan"], "invalid value of --seconds"),
        (["--variant", "all", "--what", "1"], "unknown option --what"),
        (["all"], "invalid option"),
        ([], "missing --variant"),
    ],
)
def test_invalid_arguments_are_reported(
    assay_kernels: tuple[Path, ...], words: list[str], reported: str
) -> None:
    program = next(path for path in assay_kernels if path.name == "assay-kernel-horner")
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and reported in done.stderr and "usage:" in done.stderr
    assert done.stdout == ""


def test_closed_output_is_an_error(assay_kernels: tuple[Path, ...]) -> None:
    for words in (["--describe"], ["--help"], ["--variant", "all", "--seconds", "0"]):
        with Path("/dev/full").open("w") as full:
            argv = [assay_kernels[0], *words]
            done = subprocess.run(argv, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 3 and "cannot write to standard output" in done.stderr


def test_invalid_library_is_named(assay_kernels: tuple[Path, ...]) -> None:
    (program,) = (one for one in assay_kernels if one.name == "assay-kernel-deflate")
    env = os.environ | {"ASSAY_LIB_ZLIB": "/etc/passwd"}
    reported = subprocess.run(
        [program, "--describe"], env=env, capture_output=True, check=True
    ).stdout
    reasons = {one["variant"]: one.get("unavailable") for one in json.loads(reported)["variants"]}
    assert (
        "ASSAY_LIB_ZLIB names a library that cannot be loaded: /etc/passwd" in reasons["lib-zlib-6"]
    )


def test_default_sizes_follow_from_caches(assay_kernels: tuple[Path, ...]) -> None:
    program = next(path for path in assay_kernels if path.name == "assay-kernel-horner")
    sizes = [described(program, "--size", size)["bytes"] for size in ("tiny", "L2", "LLC")]
    assert 0 < sizes[0] < sizes[1] <= sizes[2]


SAMPLE = ("bandwidth", "latency", "locks", "traversal")
"""Kernels of several sorts: vectors, threads, streaming stores, pointers. Kernels that take long to
compile are left to ``make test-full``."""


def sanitized(sanitizers: str, targets: list[str], *words: str) -> tuple[Path, ...]:
    """Return the programs of a build with sanitizers."""
    build = native_build(targets, sanitizers, *words)
    whole = targets == ["assay-kernels"]
    found = sorted(build.glob("assay-kernel-*")) if whole else [build / one for one in targets]
    assert found and all(one.exists() for one in found)
    return tuple(found)


@pytest.mark.rotating
@pytest.mark.parametrize(
    "targets",
    [
        pytest.param([f"assay-kernel-{name}" for name in SAMPLE], id="sample"),
        pytest.param(["assay-kernels"], id="all", marks=pytest.mark.slow),
    ],
)
def test_kernels_pass_sanitizers(targets: list[str]) -> None:
    """Each variant runs at each odd size, with the address and undefined-behaviour sanitizers."""
    programs = sanitized("address,undefined", targets)
    for threads, shift in product(THREADS, SHIFTS):
        check_odd_sizes(programs, threads, shift)


THREADED = (
    "acoustic",
    "bandwidth",
    "cell-list",
    "deflate",
    "dgemm",
    "gram-schmidt",
    "horner",
    "hyperbolic",
    "integral-tiles",
    "kmeans",
    "locks",
    "lu",
    "pca",
    "sparse-factor",
    "state-vector",
    "xor-parity",
)
"""Kernels with threads, of those that Clang builds: its vectors have no __builtin_shuffle."""

RACE = """
#include <cstdio>
int main() {
    long sum = 0;
#pragma omp parallel for num_threads(2)
    for (long i = 0; i < 100000; ++i) sum += i;
    std::printf("%ld", sum);
}
"""
SEEN = 66


def race_env(folder: Path) -> dict[str, str]:
    """Return an environment in which Archer reports OpenMP's synchronisation to the sanitizer.

    Source: LLVM's openmp/tools/archer/README.md. Archer does not report the memory of the OpenMP
    library itself: memory of tasks that it frees, or reuses for arguments of another task.
    """
    own = "called_from_lib:libomp.so\nrace_top:.omp_outlined._debug__\n"
    (folder / "suppressions").write_text(own)
    options = (
        f"ignore_noninstrumented_modules=1 exitcode={SEEN} suppressions={folder / 'suppressions'}"
    )
    return os.environ | {"OMP_TOOL_LIBRARIES": "libarcher.so", "TSAN_OPTIONS": options}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("clang++") is None, reason="clang is not installed")
def test_kernel_threads_have_no_data_races(tmp_path: Path) -> None:
    """The thread sanitizer also finds a deliberate race."""
    (tmp_path / "race.cpp").write_text(RACE)
    build = ["clang++", "-fsanitize=thread", "-fopenmp", "-O1", "race.cpp", "-o", "race"]
    subprocess.run(build, cwd=tmp_path, check=True)
    env = race_env(tmp_path)
    assert subprocess.run([tmp_path / "race"], env=env, check=False).returncode == SEEN
    targets = [f"assay-kernel-{name}" for name in THREADED]
    # It has neither "GCC ivdep", which only makes loops faster, nor all of GCC's warnings.
    clang = (
        *("-DCMAKE_CXX_COMPILER=clang++", "-DCMAKE_C_COMPILER=clang"),
        "-DCMAKE_CXX_FLAGS=-Wno-error=unknown-pragmas -Wno-error=unknown-warning-option",
    )
    for program in sanitized("thread", targets, *clang):
        for shape in described(program)["shapes"]:
            words = ["--variant", "all", "--seconds", "0", "--threads", "2", *options(shape)]
            done = subprocess.run(
                [program, *map(str, words)],
                env=env,
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            assert done.returncode == 0, (program.name, shape, done.stderr[:2000])
