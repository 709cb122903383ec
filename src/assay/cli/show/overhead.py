"""Costs of observations as lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.records.observation import DEFAULT_OBSERVATIONS
from assay.records.overhead import Cost, ObservedCost, Overhead
from assay.records.study import DEFAULT_DISTURBED_ABOVE
from assay.units import significant
from assay.wording.noise_floor import day

HEADS = ("observation", "program", "bare", "wall", "user", "sys", "cpu", "spread")


def overhead_lines(found: Overhead) -> Iterator[str]:
    """Yield a table of all figures, and the observations without figures."""
    pairs = min(cost.pairs for cost in found.costs)
    yield (
        "Cost of each observation on this machine, as a share of the program's wall time: median "
        f"of {pairs} pairs with and without it, and a confidence interval. The intervals of wall, "
        "cpu and spread hold jointly at 95 %."
    )
    yield ""
    rows = [HEADS, *(_row(cost) for cost in found.costs)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()
    for observation, reason in found.unavailable.items():
        yield f"  not measured: {observation}: {reason}"
    if found.other_load is not None and found.other_load > DEFAULT_DISTURBED_ABOVE:
        yield ""
        yield (
            f"Other processes used {100 * found.other_load:.0f} % of the CPUs, which makes the "
            "intervals wider: `assay machine check` names them."
        )


def summary_lines(found: Overhead) -> Iterator[str]:
    """Yield a line for each observation: its largest cost in wall time, and for which program."""
    with_what = "" if found.command is None else f" -- {found.command}"
    calibration = f"`assay study calibrate --overhead{with_what}`"
    yield f"measured {day(found.started_at)} by assay {found.assay_version} ({calibration})"
    by_observation: dict[str, list[ObservedCost]] = {}
    for cost in found.costs:
        by_observation.setdefault(cost.observation, []).append(cost)
    width = max(map(len, by_observation))
    for observation, costs in by_observation.items():
        largest = max(costs, key=lambda cost: cost.wall.share)
        yield f"{observation:{width}}  {_words(largest.wall)} of {largest.program}{_mark(costs)}"


def _mark(costs: Sequence[ObservedCost]) -> str:
    """Return the remark on an observation that costs too much of some program."""
    for cost in costs:
        if cost.excess is not None:
            name, figure = cost.excess
            off = ": off in launches that count" if cost.observation in DEFAULT_OBSERVATIONS else ""
            return f"; too costly{off} ({name} {_words(figure)} of {cost.program})"
    return ""


def _row(cost: ObservedCost) -> tuple[str, ...]:
    bare = f"{significant(1e3 * cost.baseline_s, 3)} ms"
    shares = (_words(share) for share in (cost.wall, cost.user, cost.sys, cost.cpu, cost.spread))
    return (cost.observation, cost.program, bare, *shares)


def _words(cost: Cost | None) -> str:
    """Return a text such as ``+0.3 % (-0.1 to +0.7)``; a dash without a measurement."""
    if cost is None:
        return "-"
    return f"{100 * cost.share:+.1f} % ({100 * cost.low:+.1f} to {100 * cost.high:+.1f})"
