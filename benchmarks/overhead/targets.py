"""Targets of the benchmark, and verdicts on the figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from . import cost, database, killing, output, programs, timing
from .reading import Difference, Share, Table
from .results import Measured

SAMPLE_S = 2e-3
EMPTY_PLAN_S = 0.0
CONTAINED_S = 0.5e-3
BIAS_S = 0.1e-3
FEW_OFF, MORE_OFF = 5.0, 3.0
"""Launches of 1,000: if plain spawn has at most the first, assay has at most the second more."""
RATIO = 0.05
OVERSHOOT_S = 50e-3
GROWN_BYTES = 4 << 20
MIN_ROUNDS = 6
"""Before an interval over rounds says anything."""
MIN_PAIRS = 10
TIMED = (cost.NAME, timing.NAME, programs.NAME, database.NAME)
"""Parts that other processes disturb."""


@dataclass(frozen=True)
class Target:
    """One line: the measure, its limit, the figure, and the verdict."""

    part: str
    what: str
    wanted: str
    seen: str
    verdict: str


def targets(measured: Measured) -> list[Target]:
    """Return the targets that have figures; on a busy machine those of time are open."""
    table = measured.table
    makers = (_of_timing, _of_off, _of_programs, _of_database, _of_cost, _of_killing, _of_output)
    found = [target for make in makers for target in make(table)]
    return [
        replace(one, verdict="open") if one.part in TIMED and measured.busy(one.part) else one
        for one in found
    ]


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
            yield Target(cost.NAME, what, f"{most_s * 1e3:g} ms", _shown(found), verdict)


def _of_timing(table: Table) -> Iterator[Target]:
    for tool in timing.ASSAY:
        for spin_ms in timing.SPINS_MS:
            case = timing.case_of(spin_ms)
            found = table.difference(timing.key(case, tool), timing.key(case, timing.EXEC))
            if found is not None:
                crosses = found.low <= 0.0 <= found.high
                ends = (abs(found.low), abs(found.high))
                verdict = _verdict(found, 0.0 if crosses else min(ends), max(ends), BIAS_S)
                what = f"bias of `wall_s` against {timing.EXEC}: {tool}, {case}"
                wanted = f"{BIAS_S * 1e3:g} ms either way"
                yield Target(timing.NAME, what, wanted, _shown(found), verdict)


def far_off(table: Table, tool: str, clock: str = timing.PLAIN) -> Share | None:
    """Return the share of the launches of all spins that are far from the median of a clock."""
    count = launches = 0
    for case in map(timing.case_of, timing.SPINS_MS):
        middle = table.median(timing.key(case, clock))
        found = None if middle is None else table.off(timing.key(case, tool), middle, timing.OFF_S)
        if found is not None:
            count, launches = count + found.count, launches + found.launches
    return Share(count, launches) if launches else None


def _of_off(table: Table) -> Iterator[Target]:
    plain, assay = far_off(table, timing.PLAIN), far_off(table, timing.WARM)
    if plain is None or assay is None:
        return
    low, high = (1000 * end for end in assay.beyond(plain))
    more = assay.per_thousand - plain.per_thousand
    seen = (
        f"{assay.per_thousand:.1f} against {plain.per_thousand:.1f} of 1,000: "
        f"{more:+.1f} ({low:+.1f} to {high:+.1f})"
    )
    what = f"launches more than {timing.OFF_S * 1e3:g} ms off, {timing.WARM}, against plain spawn"
    wanted = f"interval not above 0; {MORE_OFF:g} of 1,000 more where plain has {FEW_OFF:g}"
    too_many = plain.per_thousand <= FEW_OFF and more > MORE_OFF
    yield Target(timing.NAME, what, wanted, seen, "missed" if low > 0.0 or too_many else "met")


def _of_programs(table: Table) -> Iterator[Target]:
    for case in (programs.PINGPONG, programs.SCRIPT, programs.CHILDREN, programs.THREADS):
        for way in programs.UNDER:
            one, other = (programs.key(case, tool, "wall_s") for tool in (way, programs.DIRECT))
            found = table.ratio(one, other)
            if found is not None:
                yield _ratio(programs.NAME, f"time of: {case}, {way}", found)


def _of_database(table: Table) -> Iterator[Target]:
    for quantity, words in (("cpu_s", "CPU time"), ("switches", "context switches")):
        for way in database.UNDER:
            found = table.ratio(
                database.key(way, quantity), database.key(database.DIRECT, quantity)
            )
            if found is not None:
                what = f"{words} of a transaction of pgbench and its server, {way}"
                yield _ratio(database.NAME, what, found)


def _ratio(part: str, what: str, found: Difference) -> Target:
    """The target is one of the median of the pairs; the interval stands beside it."""
    reached = abs(found.middle - 1.0) <= RATIO
    enough = found.rounds >= MIN_PAIRS
    verdict = ("met" if reached else "missed") if enough else "open"
    return Target(part, what, f"within {RATIO * 100:g} % of direct", ratio_words(found), verdict)


def ratio_words(found: Difference) -> str:
    """A ratio as a change in per cent, with its interval."""
    middle, low, high = ((value - 1.0) * 100 for value in (found.middle, found.low, found.high))
    return f"{middle:+.1f} % ({low:+.1f} to {high:+.1f}, {found.rounds} pairs)"


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
    what = "processes left after a time limit"
    yield Target(killing.NAME, what, "0", f"{max(left):.0f}", "met" if ended else "missed")
    if overshoots_s:
        seen = f"{max(overshoots_s) * 1e3:+.1f} ms, the most of {len(overshoots_s)}"
        reached = ended and max(overshoots_s) <= OVERSHOOT_S
        verdict = "met" if reached else "missed"
        wanted = f"{OVERSHOOT_S * 1e3:g} ms"
        yield Target(killing.NAME, "overshoot of a time limit", wanted, seen, verdict)


def _of_output(table: Table) -> Iterator[Target]:
    for case in table.cases(output.NAME):
        grown = table.values(output.key(case, output.ASSAY, "grown_bytes"))
        if grown:
            yield Target(
                output.NAME,
                f"memory of assay for {case} of output",
                f"{GROWN_BYTES >> 20} MiB",
                f"{max(grown) / (1 << 20):.1f} MiB",
                "met" if max(grown) <= GROWN_BYTES else "missed",
            )


def _verdict(found: Difference, low: float, high: float, most: float) -> str:
    """Return the verdict on an interval; it is open if the target lies within or rounds are few."""
    if found.rounds < MIN_ROUNDS:
        return "open"
    if high <= most:
        return "met"
    return "missed" if low > most else "open"


def _shown(found: Difference) -> str:
    middle, low, high = (value * 1e3 for value in (found.middle, found.low, found.high))
    return f"{middle:+.3f} ms ({low:+.3f} to {high:+.3f})"
