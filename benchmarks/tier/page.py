"""The page of the benchmark."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from benchmarks.markdown import table

from .cells import BEST_SWAP, CYCLE, DEVICE, TARGETS, TWICE, Target
from .measuring import Cell, Pass
from .ways import DISK_RATES, ONE_DISK, SWAPS, TIER, TWO_DISKS

Found = Mapping[tuple[Cell, str], Sequence[Pass]]
"""Of each cell and way, a pass of each round."""


def text(found: Found, on_disks: Found | str, device: Sequence[float], heading: str) -> str:
    """Everything, as Markdown.

    Args:
        on_disks: the same with throttled disks, or why there are none.
        device: bytes per second of its own, in each round.
    """
    return "\n\n".join(
        (
            "# Data that exceed memory",
            heading,
            "## Rates",
            "GB/s, medians over the rounds, with the least and the most; beside them how many "
            "times that is of the tier's, the median of the rounds' ratios. The device alone: "
            f"{_span(device)}.",
            _rates(found),
            "## Several disks",
            on_disks if isinstance(on_disks, str) else _several(on_disks),
            "## Targets",
            _targets(found, {} if isinstance(on_disks, str) else on_disks, device),
            "",
        )
    )


def _rates(found: Found) -> str:
    rows = []
    for (cell, way), passes in found.items():
        tier = found.get((cell, TIER.name), ())
        ratio = statistics.median(_ratios(tier, passes)) if tier else float("nan")
        size = f"{cell.of_dram:g} times memory"
        rows.append((cell.name, size, way, _span([one.rate for one in passes]), f"{ratio:.2f}"))
    return table(("program", "data", "way", "GB/s", "tier is, times"), rows)


def _several(found: Found) -> str:
    slow, _, fast = (rate // 1_000_000 for rate in DISK_RATES)
    said = (
        f"The tier on loop devices, each throttled by a control group to {slow} MB/s for reading "
        f"and as much for writing, the fast one to {fast}. What memory holds is not read, so "
        "rates are above those of the disks. A disk that is named twice has twice the share."
    )
    rows = []
    for (cell, way), passes in found.items():
        one = found[cell, ONE_DISK.name]
        times = f"{statistics.median(_ratios(passes, one)):.2f}"
        rows.append((cell.name, way, _span([each.rate for each in passes]), times))
    return f"{said}\n\n{table(('program', 'disks', 'GB/s', 'times one'), rows)}"


def _targets(found: Found, on_disks: Found, device: Sequence[float]) -> str:
    rows = []
    for target in TARGETS:
        seen = _seen(target, found, device)
        if seen is not None:
            rows.append(
                _row(
                    f"{target.cell.name}: {target.at_least:g} times {target.beside}",
                    f"{seen:.2f} times",
                    met=seen >= target.at_least,
                )
            )
    for (cell, way), passes in on_disks.items():
        if way == TWO_DISKS.name:
            seen = statistics.median(_ratios(passes, on_disks[cell, ONE_DISK.name]))
            asked = f"{cell.name}: {TWICE:g} times one disk with two"
            rows.append(_row(asked, f"{seen:.2f} times", met=seen >= TWICE))
    held = _held(found.get((CYCLE, TIER.name), ()))
    if held is not None:
        rows.append(
            _row(
                f"{CYCLE.name}: at least half served from memory",
                f"{100 * held:.0f} %",
                met=held >= 0.5,
            )
        )
    return table(("target", "seen", ""), rows)


def _row(asked: str, seen: str, *, met: bool) -> tuple[str, str, str]:
    return asked, seen, "met" if met else "missed"


def _seen(target: Target, found: Found, device: Sequence[float]) -> float | None:
    tier = found.get((target.cell, TIER.name), ())
    if not tier:
        return None
    if target.beside == DEVICE:
        return statistics.median(one.rate / own for one, own in zip(tier, device, strict=True))
    if target.beside != BEST_SWAP:
        other = found.get((target.cell, target.beside), ())
        return statistics.median(_ratios(tier, other)) if other else None
    swaps = [found[target.cell, way.name] for way in SWAPS if (target.cell, way.name) in found]
    best = max(swaps, key=lambda passes: statistics.median(one.rate for one in passes))
    return statistics.median(_ratios(tier, best))


def _held(passes: Sequence[Pass]) -> float | None:
    shares = [one.held for one in passes if one.held is not None]
    return statistics.median(shares) if shares else None


def _ratios(ours: Sequence[Pass], theirs: Sequence[Pass]) -> list[float]:
    return [mine.rate / other.rate for mine, other in zip(ours, theirs, strict=True)]


def _span(rates: Sequence[float]) -> str:
    least, middle, most = (f(rates) / 1e9 for f in (min, statistics.median, max))
    return f"{middle:.3g} ({least:.3g} to {most:.3g})"
