"""Page of the benchmark, as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from benchmarks.markdown import REASON, table, targets_table, verdict

from .measuring import Round
from .ways import PLAIN, RESERVED

MIN_TAIL_RATIO, MIN_SPREAD_RATIO = 10, 3
"""Least ratios of tail and spread with ``taskset`` alone to those in a partition."""
INTRODUCTION = (
    "This page shows how well a [partition](../reference/partition.md) isolates a program from a "
    "competing load, compared with other ways to protect it. It is for administrators and for "
    "readers who measure on a shared machine."
)
METHOD = (
    "- **Rounds.** Each round measures the same CPU in each way, in a new random order.\n"
    "- **Fixed work.** `assay-noise fwq` repeats the same portion of work, and measures how much "
    "longer each portion takes than the fastest one (the *excess time*).\n"
    "- **Program.** `xz` compresses a text several times.\n"
    "- **Load.** `stress-ng` runs during all rounds, with as many workers as CPUs. It is not bound "
    "to a CPU."
)
MEANINGS = (
    (PLAIN, "the program is bound to the CPU, as in the next two ways"),
    ("nice -20", "highest priority of the normal scheduling class (`nice -n -20`)"),
    ("chrt -f", "real-time class (`chrt -f 10`)"),
    (RESERVED, "the program runs in a partition of assay with that CPU"),
)
USAGE = "`make bench-partition BENCH=--write` measures all ways and writes this page."
WORK = (
    "Percentiles of the excess time of portions of a millisecond, in microseconds: medians over "
    "the rounds. The last column is the p99.9 with `taskset` divided by that of the row, as the "
    "median over the rounds. More is better."
)
PROGRAM = (
    "Time of `xz` for 8 MiB of text in seconds, over all rounds. *Spread* is the difference "
    "between the 90th and the 10th percentile. The last column is the spread with `taskset` "
    "divided by that of the row. More is better."
)


def text(found: Mapping[str, Sequence[Round]], heading: str) -> str:
    """Return the page.

    Args:
        found: rounds of each way.
        heading: date, version and machine.
    """
    parts = (
        "# Isolation in a partition",
        INTRODUCTION,
        heading,
        "## Targets",
        _targets(found),
        "## Method",
        METHOD,
        table(("way", "meaning"), MEANINGS),
        USAGE,
        "## Fixed work",
        WORK,
        _work(found),
        "## Real program",
        PROGRAM,
        _program(found),
    )
    return "\n\n".join(parts) + "\n"


def _work(found: Mapping[str, Sequence[Round]]) -> str:
    rows = []
    for way, rounds in found.items():
        cells = [way]
        for name in ("p50_ns", "p99_ns", "p999_ns", "max_ns"):
            cells.append(f"{statistics.median(_of(rounds, name)) / 1000:,.1f}")
        rows.append([*cells, f"{_ratio(found, way):,.1f}"])
    return table(("way", "p50", "p99", "p99.9", "longest", "p99.9, relative"), rows)


def _program(found: Mapping[str, Sequence[Round]]) -> str:
    rows = []
    for way, rounds in found.items():
        all_s = sorted(s for one in rounds for s in one.program_s)
        low, high = _quantiles(all_s)
        rows.append(
            (
                way,
                str(len(all_s)),
                f"{statistics.median(all_s):.3f}",
                f"{high - low:.3f}",
                f"{100 * _variation(all_s):.1f} %",
                f"{_spread_ratio(found, way):.1f}",
            )
        )
    return table(
        ("way", "runs", "median", "spread", "coefficient of variation", "spread, relative"), rows
    )


def _targets(found: Mapping[str, Sequence[Round]]) -> str:
    tail, spread = _ratio(found, RESERVED), _spread_ratio(found, RESERVED)
    rows = (
        _target("p99.9 of the excess time", MIN_TAIL_RATIO, tail),
        _target("spread of the run time of `xz`", MIN_SPREAD_RATIO, spread),
    )
    return targets_table(("measure", "target", "measured", "verdict", REASON), rows)


def _target(measure: str, least: int, ratio: float) -> tuple[str, ...]:
    met = ratio >= least
    return (
        f"{measure}: `taskset` relative to the partition",
        f"at least {least} times",
        f"{ratio:,.1f} times",
        verdict("met" if met else "missed"),
        "" if met else "cause not yet known",
    )


def _of(rounds: Sequence[Round], name: str) -> list[float]:
    return [float(getattr(one.excess, name)) for one in rounds]


def _ratio(found: Mapping[str, Sequence[Round]], way: str) -> float:
    """Return the tail with ``taskset`` divided by that of a way, as the median over the rounds."""
    pairs = zip(_of(found[PLAIN], "p999_ns"), _of(found[way], "p999_ns"), strict=True)
    return statistics.median(plain / max(1.0, mine) for plain, mine in pairs)


def _spread_ratio(found: Mapping[str, Sequence[Round]], way: str) -> float:
    (low, high), (least, most) = (
        _quantiles(sorted(s for one in found[name] for s in one.program_s)) for name in (PLAIN, way)
    )
    return (high - low) / max(1e-9, most - least)


def _quantiles(ordered: Sequence[float]) -> tuple[float, float]:
    tenths = statistics.quantiles(ordered, n=10, method="inclusive")
    return tenths[0], tenths[-1]


def _variation(values: Sequence[float]) -> float:
    return statistics.stdev(values) / statistics.fmean(values)
