"""Suggestions of settings by machine and program, and reasons against them."""

from __future__ import annotations

import pytest

from assay.machine.document import HugePages, Machine, Program
from assay.records import Configuration, Prospect
from assay.settings.base import Suggestion
from assay.settings.registry import builtin

from .hosts import AVX2, LIBRARIES, machine, program

REGISTRY = builtin()
FLAT = machine(cores=2)
BIG = machine(packages=2, caches=2, cores=4, smt=2)
XEON = machine(cores=2, model="Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz")


def values(name: str, prog: Program, host: Machine) -> tuple[object, ...]:
    answer = REGISTRY.get(name).suggest(prog, host)
    assert isinstance(answer, Suggestion), answer
    assert answer.reason
    return answer.domain.values() or ()


def why_not(name: str, prog: Program, host: Machine) -> str:
    answer = REGISTRY.get(name).suggest(prog, host)
    assert isinstance(answer, str), answer
    return answer


@pytest.mark.parametrize(
    ("name", "prog", "host", "expected"),
    [
        ("threads", program("gomp"), FLAT, (1, 2)),
        ("threads", program("openblas"), BIG, (1, 2, 4, 8, 16, 32)),
        ("threads", program("openblas"), machine(cores=6, smt=2), (1, 2, 4, 6, 8, 12)),
        ("threads", program(packages=("polars",)), FLAT, (1, 2)),
        ("threads", program("zstd"), FLAT, (1, 2)),
        ("threads", program(argv0="/usr/bin/julia"), FLAT, (1, 2)),
        ("cpus", program("tbb"), FLAT, (1, 2)),
        ("threads", program(threads_peak=4), FLAT, (1,)),
        ("threads", program("gomp", threads_peak=2), FLAT, (1,)),
        ("threads", program("zstd", threads_peak=1), FLAT, (1, 2)),
        ("threads", program("openblas", threads_peak=33), BIG, (1, 2, 4, 8, 16)),
        ("threads.blas", program("gomp", "openblas"), FLAT, (1, 2)),
        ("omp.bind", program("gomp"), FLAT, ("close",)),
        ("omp.bind", program("iomp"), BIG, ("close", "spread")),
        ("omp.places", program("gomp"), BIG, ("threads", "cores")),
        ("cpus", program(threads_peak=8), BIG, (8, 16)),
        ("cpus", program(threads_peak=1), BIG, (1,)),
        ("placement", program(threads_peak=8), BIG, ("one-per-core",)),
        ("malloc", program(), FLAT, ("jemalloc", "tcmalloc", "tbbmalloc", "mimalloc")),
        ("malloc", program("jemalloc"), FLAT, ("tcmalloc", "tbbmalloc", "mimalloc")),
        ("thp", program(), FLAT, ("never", "always")),
        ("thp", program(static=True), FLAT, ("never",)),
        ("thp", program(peak_anon_bytes=1 << 30), machine(huge_pages=HugePages(enabled="always")),
         ("never", "madvise")),
        ("thp", program(), machine(huge_pages=HugePages(enabled="always"), kernel_version=(6, 1)),
         ("never",)),
        ("cpu.isa", program("openblas"), FLAT, ("avx2", "avx2-zen", "avx512")),
        ("cpu.isa", program("openblas"), XEON, ("avx2", "avx512")),
        ("cpu.isa", program("openblas"), machine(flags=AVX2), ("avx", "avx2", "avx2-zen")),
        ("cpu.isa", program("onednn"), FLAT, ("avx2",)),
        ("sched", program(threads_peak=8), FLAT, ("batch",)),
    ],
)  # fmt: skip
def test_suggested(name: str, prog: Program, host: Machine, expected: tuple[object, ...]) -> None:
    assert values(name, prog, host) == expected


@pytest.mark.parametrize(
    ("name", "prog", "host", "told"),
    [
        ("threads", program("gomp"), machine(cores=1), "only one CPU"),
        ("threads", program(threads_peak=1), FLAT, "no thread pool"),
        ("threads.blas", program("gomp"), FLAT, "links no BLAS"),
        ("threads.blas", program("openblas"), FLAT, "no other"),
        ("threads.omp", program("gomp"), FLAT, "alone"),
        ("omp.bind", program("openblas"), FLAT, "no OpenMP"),
        ("omp.places", program("gomp"), FLAT, "same places"),
        ("cpus", program(threads_peak=8), FLAT, "share one cache"),
        ("placement", program(), FLAT, "two usable threads"),
        ("malloc", program(), machine(libraries={}), "apt-get install libjemalloc2"),
        ("malloc", program(static=True), FLAT, "statically"),
        ("malloc", program(elf_machine=3, elf_bits=32), FLAT, "is a 32-bit i686 program"),
        ("malloc", program(sanitizers=("thread",)), FLAT, "is built with -fsanitize=thread"),
        ("malloc", program(sanitizers_seen=("leak",)), FLAT, "ran code built with -fs"),
        ("omp.runtime", program("gomp", sanitizers=("address",)), FLAT, "-fsanitize=address"),
        ("malloc", program("jemalloc"), machine(libraries={"jemalloc": "/x"}), "no other"),
        ("thp", program(), machine(huge_pages=HugePages()), "no transparent huge pages"),
        ("thp", program(), machine(huge_pages=HugePages(enabled="never")), "are disabled"),
        ("thp", program(peak_anon_bytes=1 << 20), FLAT, "1.00 MiB"),
        ("cpu.isa", program("gomp"), FLAT, "neither OpenBLAS"),
        ("cpu.isa", program("openblas"), machine(arch="riscv64"), "riscv64"),
        ("sched", program(threads_peak=2), FLAT, "one CPU per thread"),
        ("nice", program(), FLAT, "other programs"),
        ("command", program(), FLAT, "compare"),
        ("env.FOO", program(), FLAT, "env.FOO=A,B"),
        ("arg.n", program(), FLAT, "arg.n=A,B"),
    ],
)
def test_left_out(name: str, prog: Program, host: Machine, told: str) -> None:
    assert told in why_not(name, prog, host)


@pytest.mark.parametrize("host", [FLAT, BIG, XEON, machine(cores=3, smt=2, libraries=LIBRARIES)])
@pytest.mark.parametrize(
    "prog",
    [
        program("gomp", "openblas", "onednn", "mkl", threads_peak=64),
        program(threads_peak=1, peak_anon_bytes=1 << 31),
        program(static=True, threads_peak=9),
    ],
)
def test_every_suggested_value_is_in_the_domain_and_can_be_granted(
    host: Machine, prog: Program
) -> None:
    from assay.launch.planner import plan

    for setting in REGISTRY:
        answer = setting.suggest(prog, host)
        if not isinstance(answer, Suggestion):
            continue
        options = answer.domain.values() or ()
        assert 0 < len(options) <= 8
        for value in options:
            assert value in setting.domain(host), setting.name
            word = plan(Configuration({setting.name: value}), host, REGISTRY, prog).settings
            assert word[setting.name].status is not Prospect.REFUSED, (setting.name, value)
