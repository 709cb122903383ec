"""Page of the benchmark, as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from assay.units import show_bytes, significant
from assay.workloads.kernels import Kernel, Variant
from benchmarks import markdown
from benchmarks.overhead.reading import Key, Table
from benchmarks.overhead.told import is_busy, load_words

from .comparison import compared, rounds_of
from .pictures import SHOWN, file_of
from .pieces import FAILED, ONE_THREAD_US, REPETITION_US, has_library
from .python_peers import PythonPeer
from .targets import Target, share_of_roof, targets

REASONS: dict[tuple[str, str], str] = {}
"""Known reasons for missed targets, by kernel and case."""


def page(document: dict[str, Any], table: Table, kernels: dict[tuple[str, str], Kernel]) -> str:
    """Return the whole page."""
    peers = msgspec.convert(document.get("python", []), list[PythonPeer])
    threads = document["machine"]["cpus"]
    sections = [
        _head(document),
        markdown.section("Targets", _targets(document, table, kernels, peers)),
        markdown.section("Own variants and libraries", _libraries(table, kernels, threads)),
        markdown.section("Libraries for Python", _python(kernels, peers)),
    ]
    dates = {
        (one["kernel"], one["case"]): f"Measured on {one['date']}, {one['rounds']} rounds."
        for one in document["kernels"]
    }
    for (name, case), kernel in kernels.items():
        lines = list(_piece(table, name, case, kernel))
        date = [dates[name, case]] if lines else []
        sections.append(markdown.section(f"{name}: {case}", [*lines[:1], *date, *lines[1:]]))
    return "\n\n".join(filter(None, sections)) + "\n"


def _head(document: dict[str, Any]) -> str:
    where = document["machine"]
    return "\n\n".join(
        (
            "# Benchmark of the catalogue's kernels",
            "`make bench-kernels` runs this benchmark; `make bench-kernels BENCH=--write` also "
            "writes this page and [its raw figures](kernels.json).",
            "- **Rounds.** Each round launches every variant once, in a random order. A variant "
            "whose repetition takes more than a second is launched in the first round alone.\n"
            "- **Time.** A launch reports the median time of a repetition; tables show the median "
            "over rounds. Ratios are medians over rounds of the ratio within a round.\n"
            "- **Roof.** *Of the roof* is the time that the roof allows, divided by the measured "
            "time ([catalogue](../reference/catalogue.md)). The catalogue's own probes measure the "
            "roofs in each round.\n"
            "- **Threads.** Variants of kernels with a library are launched with all threads and "
            "with one. Both sides of a comparison have the same number of threads.",
            f"{where['model']}, {where['cpus']} CPUs, Linux {where['kernel']}, "
            f"{where['distribution']}; latest run {document['date']}. {load_words(document)}",
            "**Provisional.** Other processes used the CPUs during the latest run. Its figures, "
            "above all those with several threads, have to be measured again on a quiet machine."
            if is_busy(document)
            else "",
            _scale(document),
        )
    ).replace("\n\n\n\n", "\n\n")


def _scale(document: dict[str, Any]) -> str:
    """Return the sizes, and the kernels if only some were measured."""
    scale = document["scale"]
    sizes = f"Sizes: {', '.join(scale['sizes'])}."
    if not scale["cases"]:
        return sizes
    names = ", ".join(f"`{one}`" for one in scale["cases"])
    return (
        f"{sizes} The latest run measured {names}. Each section states the date of its figures; "
        "in older sections, only libraries ran with one thread too."
    )


def _targets(
    document: dict[str, Any],
    table: Table,
    kernels: dict[tuple[str, str], Kernel],
    peers: Sequence[PythonPeer],
) -> Iterator[str]:
    found = targets(table, kernels, peers, document["machine"]["cpus"])
    if not found:
        return
    met = sum(one.met for one in found)
    yield f"{met} of {len(found)} targets are met. A figure above 1 means that assay is faster."
    heads = ("target", "asked", "measured", "variants", "result", "reason")
    yield markdown.table(heads, [one.cells(*_status(document, one)) for one in found])


def _status(document: dict[str, Any], target: Target) -> tuple[str, str]:
    """Return a remark on the result, and the reason if the target is missed."""
    date = next(
        one["date"]
        for one in document["kernels"]
        if (one["kernel"], one["case"]) == (target.kernel, target.case)
    )
    if date == document["date"] and is_busy(document):
        return ", provisional", "other processes used the CPUs: to be measured again"
    return "", REASONS.get((target.kernel, target.case), "open")


def _libraries(table: Table, kernels: dict[tuple[str, str], Kernel], threads: int) -> Iterator[str]:
    rows = []
    for (name, case), kernel in kernels.items():
        if not has_library(kernel) or kernel.figures:
            continue
        for count in (1, threads) if threads > 1 else (1,):
            found = compared(table, kernel, case, count)
            if found is not None:
                ends = f"{significant(min(found.ratios))} to {significant(max(found.ratios))}"
                rows.append(
                    (
                        *(f"`{name}`", case, str(count), f"`{found.own}`", f"`{found.library}`"),
                        *(significant(found.ratio), ends),
                    )
                )
    if rows:
        yield (
            "The fastest own variant and the fastest library, with the same number of threads. "
            "With several threads, each side has the faster of its times with one and with all. "
            "Kernels whose results differ in quality (`deflate`, `hash-queue`) are below."
        )
        heads = ("kernel", "data", "threads", "own", "library", "ratio", "in single rounds")
        yield markdown.table(heads, rows)


def _python(kernels: dict[tuple[str, str], Kernel], peers: Sequence[PythonPeer]) -> Iterator[str]:
    rows = []
    for peer in peers:
        kernel = kernels.get((peer.kernel, peer.case))
        if kernel is None:
            continue
        own = peer.own(kernel)
        for library in peer.libraries(kernel):
            rows.append(
                (
                    *(f"`{peer.kernel}`", peer.case, str(peer.threads), library),
                    *(_shown(1e6 * peer.median_s(library)), f"`{own}`"),
                    *(_shown(1e6 * peer.median_s(own)), significant(peer.ratio(library, own))),
                )
            )
    if rows:
        yield (
            "`benchmarks.kernels.peers` runs them and the own variants in alternating rounds, with "
            "the same number of threads. *On scores* begins with standardised data; the other "
            "ways and the own variants standardise them."
        )
        heads = ("kernel", "data", "threads", "library", "its time", "own", "own time", "ratio")
        yield markdown.table(heads, rows)


def _piece(table: Table, name: str, case: str, kernel: Kernel) -> Iterable[str]:
    rows = [
        row
        for one in kernel.available
        if (row := _row(table, Key(name, case, "", ""), kernel, one)) is not None
    ]
    if not rows:
        return
    parameters = ", ".join(f"{key}={value}" for key, value in kernel.parameters.items())
    yield f"{kernel.title}. {parameters}; {show_bytes(kernel.bytes)}."
    figures = (one.name for one in kernel.figures)
    alone = ("one thread",) if has_library(kernel) else ()
    heads = (
        "variant",
        "time",
        *alone,
        "GFLOP/s",
        "GB/s",
        *figures,
        "of the roof",
        "speed relative to parent",
        "library",
    )
    yield markdown.table(heads, rows)
    if (name, case) in SHOWN:
        yield f"![Roofline of {name}, {case}]({file_of(name, case)})"
    if kernel.figures and (best := _pareto_front(table, name, case, kernel)):
        yield f"Pareto front, slowest first: {', '.join(f'`{one}`' for one in best)}."
    failed = [
        f"`{v.variant}`"
        for v in kernel.available
        if table.values(Key(name, case, v.variant, FAILED))
    ]
    if failed:
        yield f"Failed in at least one round: {', '.join(failed)}."
    reasons: dict[str, list[str]] = {}
    for one in kernel.variants:
        if one.missing is not None and not one.broken:
            reasons.setdefault(one.missing, []).append(f"`{one.variant}`")
    for reason, names in reasons.items():
        yield f"Not available: {', '.join(names)} ({reason})."


def _row(table: Table, of: Key, kernel: Kernel, one: Variant) -> tuple[str, ...] | None:
    found = rounds_of(table, Key(of.part, of.case, one.variant, REPETITION_US))
    if not found:
        return None
    us = statistics.median(found.values())
    share = share_of_roof(table, of.part, of.case, one)
    parent = rounds_of(table, Key(of.part, of.case, one.parent, REPETITION_US))
    gains = [parent[n] / found[n] for n in found if n in parent]
    alone = table.median(Key(of.part, of.case, one.variant, ONE_THREAD_US))
    return (
        f"`{one.variant}`",
        _shown(us),
        *(("" if alone is None else _shown(alone),) if has_library(kernel) else ()),
        significant(1e-3 * one.flops / us),
        significant(1e-3 * one.moved_bytes / us),
        *(
            _figure(table.median(Key(of.part, of.case, one.variant, f.name)))
            for f in kernel.figures
        ),
        "" if share is None else f"{100 * share:.0f} %",
        f"{significant(statistics.median(gains))} of `{one.parent}`" if gains else "",
        one.library,
    )


def _shown(us: float) -> str:
    return f"{significant(us)} µs" if us < 1e3 else f"{significant(us / 1e3)} ms"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _pareto_front(table: Table, name: str, case: str, kernel: Kernel) -> list[str]:
    """Return the variants that no other one dominates in time and quality, slowest first."""
    quantities = (REPETITION_US, *(one.name for one in kernel.figures))
    found: dict[str, tuple[float, ...]] = {}
    for one in kernel.available:
        values = [table.median(Key(name, case, one.variant, each)) for each in quantities]
        if known := tuple(value for value in values if value is not None):
            found[one.variant] = known
    best = [
        variant
        for variant, own in found.items()
        if not any(
            other != own and all(a <= b for a, b in zip(other, own, strict=True))
            for other in found.values()
        )
    ]
    return sorted(best, key=lambda variant: found[variant], reverse=True)
