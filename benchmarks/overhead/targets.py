"""Targets: what was set out for, and whether the figures reach it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from . import cost, killing, output, timing
from .reading import Difference, Table

SAMPLE_S = 2e-3
EMPTY_PLAN_S = 0.0
CONTAINED_S = 0.5e-3
BIAS_S = 0.1e-3
OVERSHOOT_S = 50e-3
GROWN_BYTES = 4 << 20
MIN_ROUNDS = 6
"""Before an interval over rounds says anything."""


@dataclass(frozen=True)
class Target:
    """One line: what, at most how much, what was seen, and the verdict."""

    what: str
    wanted: str
    seen: str
    verdict: str


def targets(table: Table, *, busy: bool) -> list[Target]:
    """Those for which there are figures; where others kept the machine busy, time is open."""
    timed = [*_of_cost(table), *_of_timing(table)]
    if busy:
        timed = [replace(one, verdict="open") for one in timed]
    return [*timed, *_of_killing(table), *_of_output(table)]


def _of_cost(table: Table) -> Iterator[Target]:
    rows = (
        ("a stored sample, beyond the program", cost.LIBRARY, cost.PLAIN, SAMPLE_S),
        ("`assay-exec` with an empty plan, beyond `taskset`", cost.EMPTY, "taskset", EMPTY_PLAN_S),
        ("containment and reading back, beyond that", cost.CONTAINED, cost.EMPTY, CONTAINED_S),
    )
    for what, tool, other, most_s in rows:
        found = table.difference(cost.key(tool, "launch_s"), cost.key(other, "launch_s"))
        if found is not None:
            verdict = _verdict(found, found.low, found.high, most_s)
            yield Target(what, f"{most_s * 1e3:g} ms", _shown(found), verdict)


def _of_timing(table: Table) -> Iterator[Target]:
    for spin_ms in timing.SPINS_MS:
        case = timing.case_of(spin_ms)
        found = table.difference(timing.key(case, timing.ASSAY), timing.key(case, timing.PLAIN))
        if found is not None:
            crosses = found.low <= 0.0 <= found.high
            ends = (abs(found.low), abs(found.high))
            verdict = _verdict(found, 0.0 if crosses else min(ends), max(ends), BIAS_S)
            what = f"bias of `wall_s`, a spin of {case}"
            yield Target(what, f"{BIAS_S * 1e3:g} ms either way", _shown(found), verdict)


def _of_killing(table: Table) -> Iterator[Target]:
    left = [
        count
        for case in killing.MODES.values()
        for count in table.values(killing.key(case, killing.ASSAY, "left"))
    ]
    overshoots_s = [
        value
        for case in killing.MODES.values()
        for value in table.values(killing.key(case, killing.ASSAY, "overshoot_s"))
    ]
    if not left:
        return
    ended = not any(left)
    yield Target(
        "processes left after a time limit", "0", f"{max(left):.0f}", "met" if ended else "missed"
    )
    if overshoots_s:
        seen = f"{max(overshoots_s) * 1e3:+.1f} ms, the most of {len(overshoots_s)}"
        reached = ended and max(overshoots_s) <= OVERSHOOT_S
        wanted = f"{OVERSHOOT_S * 1e3:g} ms"
        yield Target("overshoot of a time limit", wanted, seen, "met" if reached else "missed")


def _of_output(table: Table) -> Iterator[Target]:
    for case in table.cases(output.NAME):
        grown = table.values(output.key(case, output.ASSAY, "grown_bytes"))
        if grown:
            yield Target(
                f"memory of assay for {case} of output",
                f"{GROWN_BYTES >> 20} MiB",
                f"{max(grown) / (1 << 20):.1f} MiB",
                "met" if max(grown) <= GROWN_BYTES else "missed",
            )


def _verdict(found: Difference, low: float, high: float, most: float) -> str:
    """Of an interval; where the target lies within, or rounds are few, the run cannot tell."""
    if found.rounds < MIN_ROUNDS:
        return "open"
    if high <= most:
        return "met"
    return "missed" if low > most else "open"


def _shown(found: Difference) -> str:
    middle, low, high = (value * 1e3 for value in (found.middle, found.low, found.high))
    return f"{middle:+.3f} ms ({low:+.3f} to {high:+.3f})"
