"""Page of the benchmark, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.markdown import REASON, section, table, targets_table

from .parts import PARTS, Part
from .targets import FAILED, Figures, rows, shown

INTRODUCTION = (
    "This page shows the cost of assay at the sizes that it is made for: many launches, large "
    "studies, stores with many studies, large search spaces and machines with many CPUs. "
    "[Sizes](../reference/sizes.md) states the sizes and their limits."
)
USAGE = (
    "`make bench-scale` measures all parts, in at most 30 minutes on an idle machine with two "
    "CPUs. It resumes after an interruption. `make bench-scale BENCH='--write --part study'` "
    "measures one part, and writes this page and [its figures](scale.json); `BENCH='--again'` "
    "replaces stored figures."
)
METHOD = (
    "- **Costs** are CPU seconds of assay's own process, with the start of Python, and its largest "
    "resident size (`VmHWM`). Programs and the launcher are left out. CPU time hardly depends on "
    "other work of the machine; wall times are medians of interleaved rounds.\n"
    "- **Growth** is the exponent between the two largest sizes: 0 is a constant, 1 a figure in "
    "proportion to the size.\n"
    "- **Live line** is the CPU time, in their threads, of the calls that each launch makes for "
    "it and of its drawing, once a second.\n"
    "- **Large studies** are written through the interface of the store. A short real study "
    "provides the documents; values vary from sample to sample. The memory of 100,000 launches is "
    "that of a measurement which resumes after as many, and continues.\n"
    "- **Sweeps** are stopped after 2,000 launches; the report is that of a sweep with all of "
    "them.\n"
    "- **Thinking time** is the CPU time of `Session.ask`; `tell` stores the trials and is left "
    "out. The results have a noise of 5 %, so that the search continues.\n"
    "- **Large machines** are synthetic trees of `/sys` and `/proc`; the smallest of three CPU "
    "times counts."
)
HEADS = ["measure", "target", "measured", "growth", "verdict", "date", REASON]
Stored = Mapping[str, Mapping[str, Any]]
"""Results by the name of their part: ``about`` and ``figures`` by size."""


def text(results: Stored) -> str:
    """Return the page.

    Args:
        results: stored results; parts that were never measured are absent.
    """
    known = {name: results[name] for name in PARTS if name in results}
    missing = [part.title for name, part in PARTS.items() if name not in known]
    parts = [
        "# Scale",
        INTRODUCTION,
        section(
            "Targets",
            [_targets(known), *([f"Not measured yet: {', '.join(missing)}."] if missing else [])],
        ),
        section("Method", [METHOD, USAGE]),
        *(_part(PARTS[name], one) for name, one in known.items()),
    ]
    return "\n\n".join(parts) + "\n"


def figures_of(one: Mapping[str, Any]) -> Figures:
    """Return the figures of a part by size, as JSON has texts as keys."""
    return {int(size): found for size, found in one["figures"].items()}


def _targets(known: Stored) -> str:
    lines = []
    for name, one in known.items():
        for *cells, reason in rows(PARTS[name].limits, figures_of(one)):
            lines.append([*cells, one["about"]["date"], reason])
    return targets_table(HEADS, lines)


def _part(part: Part, one: Mapping[str, Any]) -> str:
    figures = figures_of(one)
    columns = [key for key in part.columns if any(key in found for found in figures.values())]
    lines = [
        [f"{size:,}", *(_cell(found, key) for key in columns)]
        for size, found in sorted(figures.items())
    ]
    heads = [part.unit, *(part.columns[key] for key in columns)]
    return section(part.title, [_heading(one["about"]), table(heads, lines)])


def _cell(found: Mapping[str, Any], key: str) -> str:
    return found[FAILED] if FAILED in found else shown(found[key]) if key in found else ""


def _heading(about: Mapping[str, Any]) -> str:
    machine = about["machine"]
    model = machine["model"] or "an unnamed processor"
    return (
        f"Measured on {about['date']} on {model}, {machine['cpus']} CPUs, Linux "
        f"{machine['kernel']}, Python {machine['python']}."
    )
