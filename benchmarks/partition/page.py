"""The page of the benchmark."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from benchmarks.markdown import table

from .measuring import Round
from .ways import PLAIN, RESERVED


def text(found: Mapping[str, Sequence[Round]], heading: str) -> str:
    """Everything, as Markdown."""
    return "\n\n".join(
        (
            "# Isolation in a partition",
            heading,
            "## Fixed work",
            "Microseconds that portions of a millisecond took beyond the fastest: medians over the "
            "rounds, and the median ratio of each round to its round with `taskset` alone.",
            _work(found),
            "## A real program",
            "Seconds of `xz` on 8 MiB of text, over all rounds; spread is p90 - p10, and the "
            "coefficient of variation.",
            _program(found),
            "## Targets",
            _targets(found),
            "",
        )
    )


def _work(found: Mapping[str, Sequence[Round]]) -> str:
    rows = []
    for way, rounds in found.items():
        cells = [way]
        for name in ("p50_ns", "p99_ns", "p999_ns", "max_ns"):
            cells.append(f"{statistics.median(_of(rounds, name)) / 1000:,.1f}")
        rows.append([*cells, f"{_ratio(found, way):,.1f}"])
    return table(("way", "p50", "p99", "p99.9", "longest", "p99.9, times less"), rows)


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
    return table(("way", "runs", "median", "p90 - p10", "varies by", "spread, times less"), rows)


def _targets(found: Mapping[str, Sequence[Round]]) -> str:
    tail, spread = _ratio(found, RESERVED), _spread_ratio(found, RESERVED)
    rows = [
        ("p99.9 at least 10 times less", f"{tail:,.1f} times", _word(tail >= 10)),
        ("spread at least 3 times less", f"{spread:,.1f} times", _word(spread >= 3)),
    ]
    return table(("target", "seen", ""), rows)


def _word(met: bool) -> str:
    return "met" if met else "missed"


def _of(rounds: Sequence[Round], name: str) -> list[float]:
    return [float(getattr(one.excess, name)) for one in rounds]


def _ratio(found: Mapping[str, Sequence[Round]], way: str) -> float:
    """Median over the rounds of how many times less the tail is."""
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
