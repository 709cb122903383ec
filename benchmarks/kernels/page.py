"""Page: what was measured, as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from assay.units import show_bytes, significant
from assay.workloads.kernels import Kernel, Variant
from assay.workloads.roofs import Roofs
from benchmarks import markdown
from benchmarks.overhead.reading import Key, Table
from benchmarks.overhead.told import load_words

from .pictures import SHOWN, file_of
from .pieces import BANDWIDTH, FAILED, ONE_THREAD_US, PEAK, REPETITION_US, ROOF


def page(document: dict[str, Any], table: Table, kernels: dict[tuple[str, str], Kernel]) -> str:
    """All of it."""
    sections = [_head(document)]
    for (name, case), kernel in kernels.items():
        sections.append(markdown.section(f"{name}: {case}", _piece(table, name, case, kernel)))
    return "\n\n".join(filter(None, sections)) + "\n"


def _head(document: dict[str, Any]) -> str:
    where = document["machine"]
    return "\n\n".join(
        (
            "# Kernels of the catalogue",
            "`make bench-kernels` measures this; `make bench-kernels BENCH=--write` writes this "
            "page and [its raw figures](kernels.json). In each round every variant of a kernel is "
            "launched once, in a random order (one that takes over a second in the first round "
            "alone), and the roofs are measured by the catalogue's own probes right before; a "
            "launch gives the median time of a repetition. *Of the roof* is "
            "the time that the roof of that round allows over the time that was taken "
            "([Catalogue of workloads](../reference/catalogue.md)); ratios are medians over rounds "
            "of the ratio within a round.",
            f"{document['date']}, {where['model']}, {where['cpus']} CPUs, Linux {where['kernel']}, "
            f"{where['distribution']}, {document['scale']['rounds']} rounds. "
            f"{load_words(document)}",
            _left_out(document),
        )
    )


def _left_out(document: dict[str, Any]) -> str:
    """What the command was told to measure, where that is not all."""
    scale = document["scale"]
    told = f"Sizes: {', '.join(scale['sizes'])}."
    return (
        f"{told} Of these kernels alone: {', '.join(scale['cases'])}." if scale["cases"] else told
    )


def _piece(table: Table, name: str, case: str, kernel: Kernel) -> Iterable[str]:
    rows = [
        row
        for one in kernel.able
        if (row := _row(table, Key(name, case, "", ""), kernel, one)) is not None
    ]
    if not rows:
        return
    parameters = ", ".join(f"{key}={value}" for key, value in kernel.parameters.items())
    yield f"{kernel.title}. {parameters}; {show_bytes(kernel.bytes)}."
    figures = (one.name for one in kernel.figures)
    heads = (
        "variant",
        "time of one",
        "GFLOP/s",
        "GB/s",
        *figures,
        "of the roof",
        "times as fast",
        "library",
    )
    yield markdown.table(heads, rows)
    if (name, case) in SHOWN:
        yield f"![Roofline of {name}, {case}]({file_of(name, case)})"
    compared = _front if kernel.figures else _against_library
    if told := compared(table, name, case, kernel):
        yield told
    failed = [
        f"`{v.variant}`" for v in kernel.able if table.values(Key(name, case, v.variant, FAILED))
    ]
    if failed:
        yield f"Failed in at least one round: {', '.join(failed)}."
    reasons: dict[str, list[str]] = {}
    for one in kernel.variants:
        if one.missing is not None and not one.broken:
            reasons.setdefault(one.missing, []).append(f"`{one.variant}`")
    for reason, names in reasons.items():
        yield f"Not here: {', '.join(names)} ({reason})."


def _row(table: Table, of: Key, kernel: Kernel, one: Variant) -> tuple[str, ...] | None:
    found = _rounds(table, Key(of.part, of.case, one.variant, REPETITION_US))
    if not found:
        return None
    us = statistics.median(found.values())
    peaks = _rounds(table, Key(of.part, of.case, ROOF, PEAK))
    moved = _rounds(table, Key(of.part, of.case, ROOF, BANDWIDTH))
    parts = [
        Roofs(gflop_per_s=peaks[n], gb_per_s=moved[n]).bound_s(one) / (1e-6 * found[n])
        for n in found
        if n in peaks and n in moved
    ]
    parent = _rounds(table, Key(of.part, of.case, one.parent, REPETITION_US))
    gains = [parent[n] / found[n] for n in found if n in parent]
    alone = table.median(Key(of.part, of.case, one.variant, ONE_THREAD_US))
    return (
        f"`{one.variant}`",
        _shown(us) if alone is None else f"{_shown(us)} (one thread: {_shown(alone)})",
        significant(1e-3 * one.flops / us),
        significant(1e-3 * one.moved_bytes / us),
        *(
            _figure(table.median(Key(of.part, of.case, one.variant, f.name)))
            for f in kernel.figures
        ),
        f"{100 * statistics.median(parts):.0f} %" if parts else "",
        f"{significant(statistics.median(gains))} of `{one.parent}`" if gains else "",
        one.library,
    )


def _shown(us: float) -> str:
    return f"{significant(us)} µs" if us < 1e3 else f"{significant(us / 1e3)} ms"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _front(table: Table, name: str, case: str, kernel: Kernel) -> str:
    """The variants that no other is faster than and as good, slowest first."""
    quantities = (REPETITION_US, *(one.name for one in kernel.figures))
    found: dict[str, tuple[float, ...]] = {}
    for one in kernel.able:
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
    if not best:
        return ""
    best.sort(key=lambda variant: found[variant], reverse=True)
    return f"No other is faster and as good: {', '.join(f'`{one}`' for one in best)}."


def _against_library(table: Table, name: str, case: str, kernel: Kernel) -> str:
    """The best variant of the catalogue's own beside the best library."""

    def best(of: Sequence[Variant]) -> Variant | None:
        timed = [(_best_us(table, name, case, one), one) for one in of]
        there = [(us, one) for us, one in timed if us]
        return (
            min(there, key=lambda pair: statistics.median(pair[0].values()))[1] if there else None
        )

    able = kernel.able
    own, other = best([v for v in able if not v.library]), best([v for v in able if v.library])
    if own is None or other is None:
        return ""
    mine, theirs = (_best_us(table, name, case, one) for one in (own, other))
    ratios = [theirs[n] / mine[n] for n in mine if n in theirs]
    if not ratios:
        return ""
    ends = f" ({significant(min(ratios))} to {significant(max(ratios))} in single rounds)"
    return (
        f"**`{own.variant}` is {significant(statistics.median(ratios))} times as fast as "
        f"`{other.variant}`**{ends if len(ratios) > 1 else ''}."
    )


def _best_us(table: Table, name: str, case: str, one: Variant) -> dict[int, float]:
    """By rounds: with one thread, where a library is faster so."""
    ways = [_rounds(table, Key(name, case, one.variant, q)) for q in (REPETITION_US, ONE_THREAD_US)]
    there = [way for way in ways if way]
    return min(there, key=lambda way: statistics.median(way.values())) if there else {}


def _rounds(table: Table, key: Key) -> dict[int, float]:
    return {number: statistics.median(values) for number, values in table.rounds(key).items()}
