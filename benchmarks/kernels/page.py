"""Page of the benchmark, as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from assay.units import show_bytes, show_count, significant
from assay.workloads.kernels import Kernel, Variant
from benchmarks import markdown
from benchmarks.overhead.machine_load import is_busy, load_words
from benchmarks.overhead.reading import Key, Table

from .comparison import compared, rounds_of
from .pictures import SHOWN, file_of
from .pieces import FAILED, ONE_THREAD_US, REPETITION_US, has_library
from .python_peers import PythonPeer
from .targets import Target, share_of_roof, targets

REASONS: dict[tuple[str, str], str] = {}
"""Known reasons of misses, by kernel and case."""


def page(document: dict[str, Any], table: Table, kernels: dict[tuple[str, str], Kernel]) -> str:
    """Return the whole page."""
    peers = msgspec.convert(document.get("python", []), list[PythonPeer])
    threads = document["machine"]["cpus"]
    sections = [
        _head(document, table, kernels),
        markdown.section("Targets", _targets(document, table, kernels, peers)),
        markdown.section("Own variants and libraries", _libraries(table, kernels, threads)),
        markdown.section("Libraries for Python", _python(kernels, peers)),
    ]
    dates = {(one["kernel"], one["case"]): _date(one) for one in document["kernels"]}
    sections.append(
        markdown.section("All variants", [markdown.table(("column", "meaning"), COLUMNS)])
    )
    for (name, case), kernel in kernels.items():
        lines = list(_piece(table, name, case, kernel))
        date = [dates[name, case]] if lines else []
        title = f"{name}: {case}"
        sections.append(markdown.section(title, [*lines[:1], *date, *lines[1:]], level=3))
    return "\n\n".join(filter(None, sections)) + "\n"


def _date(kernel: dict[str, Any]) -> str:
    """Return date and number of rounds of a kernel, with a mark if the machine was busy."""
    found = f"Measured on {kernel['date']}, {show_count(kernel['rounds'], 'round')}"
    return f"{found}; *provisional*." if _is_provisional(kernel) else f"{found}."


def _is_provisional(kernel: dict[str, Any]) -> bool:
    """Return whether a kernel was measured on a busy machine; old results have no load."""
    return "load" in kernel and is_busy(kernel)


INTRODUCTION = (
    "This page shows how fast the kernels of the [catalogue](../reference/catalogue.md) are, "
    "compared with libraries and with the limits of the machine. A *kernel* is a case of the "
    "catalogue. The page is for readers who want to judge a kernel or to improve one."
)
METHOD = (
    "- **Rounds.** Each round launches every variant once, in random order. A variant whose "
    "repetition takes more than a second is launched in the first round only.\n"
    "- **Time.** A launch reports the median time of a repetition. Tables show the median over all "
    "rounds. A ratio is the median over rounds of the ratios within a round.\n"
    "- **Data.** `L2` is half of the second-level caches of all threads. `DRAM` is four times the "
    "last-level cache, except for `gram-schmidt`: each of its vectors is as large as a last-level "
    "cache of 32 MiB. Each section states the size.\n"
    "- **Threads.** In comparisons with libraries, both sides may use the same number of threads "
    "(*thread for thread*). Kernels with a library are therefore measured with all threads and "
    "with one.\n"
    "- **Roof.** The roofline model gives the shortest possible time from the peak rate and the "
    "bandwidth of the machine. The `peak` and `bandwidth` kernels measure these limits in each "
    "round."
)
COMMANDS = (
    "`make bench-kernels` measures all kernels. `make bench-kernels BENCH=--write` also writes "
    "this page and [its raw figures](kernels.json)."
)
PROVISIONAL = (
    "**Provisional.** Other processes used the CPUs while the kernels of the sections marked "
    "*provisional* were measured. Their figures must be measured again on a quiet machine, above "
    "all those with several threads."
)
COLUMNS = (
    ("time", "time of a repetition; a variant with threads uses all CPUs"),
    ("one thread", "the same with one thread"),
    ("GFLOP/s, GB/s", "operations and bytes per time, by the formulas of the algorithm"),
    ("share of roof", "shortest possible time divided by the measured time"),
    (
        "speed relative to parent",
        "speed divided by that of the parent, the variant that this one improves by one step",
    ),
    ("library", "library that does the work; empty for own variants of the catalogue"),
)


def _head(document: dict[str, Any], table: Table, kernels: dict[tuple[str, str], Kernel]) -> str:
    where = document["machine"]
    machine = (
        f"Machine: {where['model']}, {where['cpus']} CPUs, Linux {where['kernel']}, "
        f"{where['distribution']}. Date of the latest run: {document['date']}. "
        f"{load_words(document)}"
    )
    return "\n\n".join(
        filter(
            None,
            (
                "# Speed of the catalogue's kernels",
                INTRODUCTION,
                METHOD,
                machine,
                PROVISIONAL if any(map(_is_provisional, document["kernels"])) else "",
                _scale(document, table, kernels),
                COMMANDS,
            ),
        )
    )


def _scale(document: dict[str, Any], table: Table, kernels: dict[tuple[str, str], Kernel]) -> str:
    """Return the kernels of the latest run if it measured only some."""
    cases = document["scale"]["cases"]
    if not cases:
        return ""
    names = ", ".join(f"`{one}`" for one in cases)
    found = f"The latest run measured {names}. Each section states the date of its figures."
    if not _lacks_one_thread(table, kernels):
        return found
    return (
        f"{found} In older sections, the catalogue's own variants have no times with one thread. "
        "Therefore the older comparisons with several threads may favour the library, but never "
        "the catalogue."
    )


def _lacks_one_thread(table: Table, kernels: dict[tuple[str, str], Kernel]) -> bool:
    """Return whether own variants of a kernel with a library have no times with one thread."""
    return any(
        has_library(kernel)
        and not any(
            table.values(Key(name, case, one.variant, ONE_THREAD_US))
            for one in kernel.available
            if not one.library
        )
        for (name, case), kernel in kernels.items()
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
    yield (
        f"{met} of {len(found)} targets are met. A speed above 1 means that the catalogue's own "
        "variant is faster. *Provisional* verdicts come from a run on a busy machine."
    )
    heads = ("measure", "target", "measured", "variants", "verdict", markdown.REASON)
    yield markdown.targets_table(heads, [one.cells(*_status(document, one)) for one in found])


def _status(document: dict[str, Any], target: Target) -> tuple[str, str]:
    """Return a remark on the verdict, and the reason of a miss."""
    kernel = next(
        one
        for one in document["kernels"]
        if (one["kernel"], one["case"]) == (target.kernel, target.case)
    )
    if _is_provisional(kernel):
        return ", provisional", "busy machine: to be measured again"
    return "", REASONS.get((target.kernel, target.case), "cause not yet known")


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
            "This table compares the fastest variant of the catalogue with the fastest library, "
            "thread for thread. *Speed* is that of the catalogue's variant relative to the "
            "library: above 1, the catalogue's variant is faster."
        )
        yield (
            "With several threads, the shorter of two times counts for each side: that with one "
            "thread, or that with all. The reason is that threads slow down small work. The "
            "results of `deflate` and `hash-queue` differ in quality. Their sections show Pareto "
            "fronts instead."
        )
        heads = (
            "kernel",
            "data",
            "threads",
            "own variant",
            "library",
            "speed",
            "range over rounds",
        )
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
            "The programs in `benchmarks/kernels/peers` run libraries for Python and variants of "
            "the catalogue in alternating rounds, thread for thread. *Speed* is that of the "
            "fastest variant of the catalogue relative to the library."
        )
        yield (
            "The times of `pca` include the standardisation of the data, except in rows *on "
            "scores*. oneDAL and daal4py come with scikit-learn-intelex. The programs record only "
            "the versions of scikit-learn and NumPy."
        )
        heads = (
            "kernel",
            "data",
            "threads",
            "library",
            "its time",
            "own variant",
            "own time",
            "speed",
        )
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
    yield f"{kernel.title}. Parameters: {parameters}. Data: {show_bytes(kernel.bytes)}."
    figures = (one.name for one in kernel.figures)
    alone = ("one thread",) if has_library(kernel) else ()
    heads = (
        "variant",
        "time",
        *alone,
        "GFLOP/s",
        "GB/s",
        *figures,
        "share of roof",
        "speed relative to parent",
        "library",
    )
    yield markdown.table(heads, rows)
    if (name, case) in SHOWN:
        yield f"![Roofline of {name}, {case}]({file_of(name, case)})"
    if kernel.figures and (best := _pareto_front(table, name, case, kernel)):
        names = ", ".join(f"`{one}`" for one in best)
        yield f"Pareto front of time and quality, slowest variant first: {names}."
    failed = [
        f"`{v.variant}`"
        for v in kernel.available
        if table.values(Key(name, case, v.variant, FAILED))
    ]
    if failed:
        yield f"Failed in at least one round: {', '.join(failed)}."
    reasons: dict[str, list[str]] = {}
    for one in kernel.variants:
        if one.unavailable is not None and not one.incorrect:
            reasons.setdefault(one.unavailable, []).append(f"`{one.variant}`")
    if reasons:
        unavailable = [(", ".join(names), reason) for reason, names in reasons.items()]
        yield markdown.table(("variants that were not available", "reason"), unavailable)


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
        f"{significant(statistics.median(gains))} times `{one.parent}`" if gains else "",
        one.library,
    )


def _shown(us: float) -> str:
    return f"{significant(us)} µs" if us < 1e3 else f"{significant(us / 1e3)} ms"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _pareto_front(table: Table, name: str, case: str, kernel: Kernel) -> list[str]:
    """Return the variants that no other variant dominates in time and quality, slowest first."""
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
