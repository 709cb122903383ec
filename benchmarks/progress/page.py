"""Page of the benchmark, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from benchmarks.markdown import REASON, section, targets_table

from .parts import PARTS, Section

INTRODUCTION = (
    "This page shows how well assay measures a program by the values that it reports while it "
    "runs: the cost, the length of launches, the error rates, and the quality of the search. It is "
    "for readers whose programs take minutes or hours ([Programs that run for "
    "long](../howto/long-programs.md))."
)
USAGE = (
    "`make bench-progress` measures all parts, in at most two hours. It resumes after an "
    "interruption. `make bench-progress BENCH='--write --part search'` measures one part, and "
    "writes this page and [its figures](progress.json)."
)
METHOD = (
    "- **Simulated jobs** have steps with AR(1) noise, a warm-up, periodic checkpoints, and a "
    "random factor for each launch. The rules of assay find warm-up and period, and choose the "
    "length of launches.\n"
    "- **Search.** 60 configurations have log-normal effects with a standard deviation of 10 %. "
    "The *flat* space has one setting of 60 values; the *structured* one has settings of 5, 4 and "
    "3 values, whose sum explains 80 % of the variance. Steps take 200 ms, launches differ by "
    "1 %. The budget is the time of 10 or 30 whole launches of the default.\n"
    "- **Optuna** searches the same job in the same time, with the default first. Whole trials of "
    "2,000 steps report their mean after each period to a pruner with default parameters. Short "
    "launches have 100 steady steps. Optuna knows the warm-up and leaves it out. The answer is the "
    "best complete trial. It proves nothing, while assay keeps a part of the time for a proof.\n"
    "- **Regret** is the true excess of the time of the recommended configuration over that of "
    "the best one. Tables show means over seeds in percent, with their standard errors and the "
    "number of searches.\n"
    "- **Within two standard errors** means that a figure exceeds its limit by at most two "
    "standard errors of the simulation."
)

Stored = Mapping[str, Mapping[str, Any]]
"""Stored sections by the name of their part."""


def stored(found: Section) -> dict[str, Any]:
    """Return a section as stored in the file of figures."""
    targets = [one.cells for one in found.targets]
    return {**asdict(found), "targets": targets}


def text(sections: Stored) -> str:
    """Return the page.

    Args:
        sections: stored sections; parts that were never measured are absent.
    """
    known = {name: sections[name] for name in PARTS if name in sections}
    parts = [
        "# Values reported while a program runs",
        INTRODUCTION,
        section("Targets", [_targets(known), *_missing(known)]),
        section("Method", [METHOD, USAGE]),
        *(section(PARTS[name].title, _lines(one)) for name, one in known.items() if one["text"]),
    ]
    return "\n\n".join(parts) + "\n"


def _targets(known: Stored) -> str:
    rows = [
        [*cells[:4], one["about"]["date"], cells[4]]
        for one in known.values()
        for cells in one["targets"]
    ]
    return targets_table(["measure", "target", "measured", "verdict", "date", REASON], rows)


def _missing(known: Stored) -> Iterator[str]:
    titles = [part.title for name, part in PARTS.items() if name not in known]
    if titles:
        yield f"Not measured yet: {', '.join(titles)}."


def _lines(one: Mapping[str, Any]) -> Iterator[str]:
    yield _heading(one["about"])
    yield one["text"]


def _heading(about: Mapping[str, Any]) -> str:
    machine = about["machine"]
    model = machine["model"] or "an unnamed processor"
    return (
        f"Measured on {about['date']} on {model}, {machine['cpus']} CPUs, Linux "
        f"{machine['kernel']}, Python {machine['python']}."
    )
