"""Synthetic machines, programs and facts for tests of settings and planner."""

from __future__ import annotations

import msgspec

from assay.machine.document import Cpu, HugePages, Machine, Node, Program, Rights
from assay.records import ReadBack, RunFacts

LIBRARIES = {
    "jemalloc": "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
    "tcmalloc": "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4",
    "tbbmalloc": "/usr/lib/x86_64-linux-gnu/libtbbmalloc_proxy.so.2",
    "mimalloc": "/usr/lib/x86_64-linux-gnu/libmimalloc.so.2.0",
}
AVX2 = frozenset(["sse4_2", "popcnt", "avx", "avx2", "fma", "bmi2"])
AVX512 = AVX2 | frozenset(["avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"])


def machine(
    packages: int = 1,
    nodes: int = 1,
    caches: int = 1,
    cores: int = 2,
    smt: int = 1,
    efficient: int = 0,
    allowed: tuple[int, ...] | None = None,
    **others: object,
) -> Machine:
    """Return a host of packages x nodes x caches x cores x threads, numbered as by Linux: all first
    threads of the cores, then all second ones; then efficiency cores without siblings."""
    total = packages * nodes * caches * cores
    cpus = []
    for thread in range(smt):
        for index in range(total):
            cpus.append(
                _cpu(index, thread, total, smt, nodes * caches * cores, caches * cores, cores)
            )
    for extra in range(efficient):
        number = total * smt + extra
        cpus.append(Cpu(id=number, core=number, siblings=(number,), l3=0, kind="efficiency"))
    if efficient:
        cpus = [msgspec.structs.replace(cpu, kind=cpu.kind or "performance") for cpu in cpus]
    described = {
        "arch": "x86_64",
        "kernel": "6.18.0",
        "kernel_version": (6, 18),
        "model": "AMD EPYC 9B14",
        "rights": Rights(uid=1000, min_nice=0),
        "flags": AVX512,
        "libraries": LIBRARIES,
        "huge_pages": HugePages(enabled="madvise", defrag="madvise", size_bytes=2 << 20),
        "memory_bytes": 8 << 30,
        **others,
    }
    return Machine(
        cpus=tuple(cpus),
        allowed_cpus=tuple(c.id for c in cpus) if allowed is None else allowed,
        nodes=tuple(
            Node(id=n, cpus=tuple(c.id for c in cpus if c.node == n), memory_bytes=1 << 30)
            for n in range(packages * nodes)
        ),
        **described,  # type: ignore[arg-type]
    )


def _cpu(
    index: int, thread: int, total: int, smt: int, per_package: int, per_node: int, per_cache: int
) -> Cpu:
    return Cpu(
        id=index + thread * total,
        core=index,
        siblings=tuple(index + t * total for t in range(smt)),
        package=index // per_package,
        node=index // per_node,
        l3=index // per_cache * per_cache,
    )


def program(*runtimes: str, **others: object) -> Program:
    described = {"argv0": "prog", "path": "/usr/bin/prog", "kind": "elf", **others}
    return Program(runtimes=frozenset(runtimes), **described)  # type: ignore[arg-type]


def facts(seen: ReadBack | None = None, **others: object) -> RunFacts:
    described = {"outcome": "exited", "exit_status": 0, **others}
    return RunFacts(readback=seen, **described)  # type: ignore[arg-type]
