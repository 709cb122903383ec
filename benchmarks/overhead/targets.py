"""Targets of the benchmark, and verdicts on the measured figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from assay.units import show_count

from . import cost, database, killing, output, programs, timing
from .reading import Difference, Share, Table
from .results import Measured

SAMPLE_S = 2e-3
EMPTY_PLAN_S = 0.0
CONTAINED_PLAN_S = 0.5e-3
BIAS_S = 0.1e-3
FEW_OFF, MORE_OFF = 5.0, 3.0
"""Launches of 1,000 that are off: assay has at most ``MORE_OFF`` more than plain spawn, if plain
spawn has at most ``FEW_OFF``."""
MAX_RATIO_ERROR = 0.05
OVERSHOOT_S = 50e-3
GROWN_BYTES = 4 << 20
MIN_ROUNDS = 6
"""Least number of rounds for a verdict on an interval."""
MIN_PAIRS = 10
"""Least number of pairs for a verdict on a ratio."""
TIMED = (cost.NAME, timing.NAME, programs.NAME, database.NAME)
"""Parts that other processes disturb."""
BUSY = "busy machine"
UNDECIDED = "interval includes the limit"
WAKE_UP = "late wake-up of the second clock"
SPREAD = "spread of single pairs"
SUPERVISOR = "supervisor of the process tree"


@dataclass(frozen=True)
class Target:
    """A target and its verdict.

    Attributes:
        part: name of the part.
        measure: description of the figure.
        limit: range that meets the target, as text.
        figure: measured figure, as text.
        verdict: ``met``, ``missed`` or ``open``.
        reason: reason of a verdict other than ``met``, in a few words.
    """

    part: str
    measure: str
    limit: str
    figure: str
    verdict: str
    reason: str = ""


def targets(measured: Measured) -> list[Target]:
    """Return the targets that have figures; on a busy machine, targets of time are open."""
    table = measured.table
    makers = (_of_timing, _of_off, _of_programs, _of_database, _of_cost, _of_killing, _of_output)
    found = [target for make in makers for target in make(table)]
    busy = {part for part in TIMED if measured.busy(part)}
    return [replace(one, verdict="open", reason=BUSY) if one.part in busy else one for one in found]


def _of_cost(table: Table) -> Iterator[Target]:
    rows = (
        ("stored sample beyond the program", cost.LIBRARY, cost.PLAIN, SAMPLE_S),
        ("`assay-exec` with an empty plan beyond `taskset`", cost.EMPTY, "taskset", EMPTY_PLAN_S),
        (
            "containment and read-back beyond the empty plan",
            cost.CONTAINED,
            cost.EMPTY,
            CONTAINED_PLAN_S,
        ),
    )
    for words, tool, other, max_s in rows:
        found = table.difference(cost.key(tool, "launch_s"), cost.key(other, "launch_s"))
        if found is not None:
            verdict, reason = _verdict(found, found.low, found.high, max_s)
            if tool == cost.EMPTY and verdict == "missed":
                reason = SUPERVISOR
            limit = f"at most {max_s * 1e3:g} ms"
            yield Target(cost.NAME, f"cost: {words}", limit, _shown(found), verdict, reason)


def _of_timing(table: Table) -> Iterator[Target]:
    for tool in timing.ASSAY:
        for spin_ms in timing.SPINS_MS:
            case = timing.case_of(spin_ms)
            found = table.difference(timing.key(case, tool), timing.key(case, timing.EXEC))
            if found is not None:
                crosses = found.low <= 0.0 <= found.high
                ends = (abs(found.low), abs(found.high))
                nearest_s = 0.0 if crosses else min(ends)
                verdict, reason = _verdict(found, nearest_s, max(ends), BIAS_S)
                if verdict != "met" and spin_ms == max(timing.SPINS_MS):
                    reason = WAKE_UP
                measure = f"bias of `wall_s` to the second clock: {tool}, {case}"
                limit = f"at most {BIAS_S * 1e3:g} ms either way"
                yield Target(timing.NAME, measure, limit, _shown(found), verdict, reason)


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
    figure = (
        f"{assay.per_thousand:.1f} against {plain.per_thousand:.1f} of 1,000: "
        f"{more:+.1f} ({low:+.1f} to {high:+.1f})"
    )
    off = f"launches more than {timing.OFF_S * 1e3:g} ms off"
    measure = f"{off}: {timing.WARM}, compared with plain spawn"
    limit = (
        "no significant excess over plain spawn; "
        f"at most {MORE_OFF:g} of 1,000 more if plain spawn has at most {FEW_OFF:g}"
    )
    too_many = plain.per_thousand <= FEW_OFF and more > MORE_OFF
    verdict = "missed" if low > 0.0 or too_many else "met"
    yield Target(timing.NAME, measure, limit, figure, verdict)


def _of_programs(table: Table) -> Iterator[Target]:
    for case in (programs.PINGPONG, programs.SCRIPT, programs.CHILDREN, programs.THREADS):
        for way in programs.UNDER:
            one, other = (programs.key(case, tool, "wall_s") for tool in (way, programs.DIRECT))
            found = table.ratio(one, other)
            if found is not None:
                yield _ratio(programs.NAME, f"wall time: {case}, {way}", found)


def _of_database(table: Table) -> Iterator[Target]:
    for quantity, words in (("cpu_s", "CPU time"), ("switches", "context switches")):
        for way in database.UNDER:
            found = table.ratio(
                database.key(way, quantity), database.key(database.DIRECT, quantity)
            )
            if found is not None:
                measure = f"{words} per transaction: pgbench and its server, {way}"
                yield _ratio(database.NAME, measure, found)


def _ratio(part: str, measure: str, found: Difference) -> Target:
    """Return the target of a ratio: its median over the pairs decides, not the interval."""
    verdict = "met" if abs(found.middle - 1.0) <= MAX_RATIO_ERROR else "missed"
    reason = SPREAD if verdict == "missed" else ""
    if found.rounds < MIN_PAIRS:
        verdict, reason = "open", f"fewer than {MIN_PAIRS} pairs"
    limit = f"within {MAX_RATIO_ERROR * 100:g} % of a direct launch"
    return Target(part, measure, limit, ratio_words(found), verdict, reason)


def ratio_words(found: Difference) -> str:
    """Return a ratio as a change in percent, with its interval."""
    middle, low, high = ((value - 1.0) * 100 for value in (found.middle, found.low, found.high))
    return f"{middle:+.1f} % ({low:+.1f} to {high:+.1f}, {show_count(found.rounds, 'pair')})"


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
    measure = "processes left after a time limit"
    yield Target(killing.NAME, measure, "0", f"{max(left):.0f}", "met" if ended else "missed")
    if overshoots_s:
        figure = f"{max(overshoots_s) * 1e3:+.1f} ms, the longest of {len(overshoots_s)}"
        verdict = "met" if ended and max(overshoots_s) <= OVERSHOOT_S else "missed"
        limit = f"at most {OVERSHOOT_S * 1e3:g} ms"
        yield Target(killing.NAME, "overshoot of a time limit", limit, figure, verdict)


def _of_output(table: Table) -> Iterator[Target]:
    for case in table.cases(output.NAME):
        grown = table.values(output.key(case, output.ASSAY, "grown_bytes"))
        if grown:
            yield Target(
                output.NAME,
                f"growth of assay's memory for {case} of output",
                f"at most {GROWN_BYTES >> 20} MiB",
                f"{max(grown) / (1 << 20):.1f} MiB",
                "met" if max(grown) <= GROWN_BYTES else "missed",
            )


def _verdict(found: Difference, low: float, high: float, limit: float) -> tuple[str, str]:
    """Return the verdict on an interval, and a reason if it is open.

    It is open if the interval includes the limit or if there are few rounds.
    """
    if found.rounds < MIN_ROUNDS:
        return "open", f"fewer than {MIN_ROUNDS} rounds"
    if high <= limit:
        return "met", ""
    return ("missed", "") if low > limit else ("open", UNDECIDED)


def _shown(found: Difference) -> str:
    middle, low, high = (value * 1e3 for value in (found.middle, found.low, found.high))
    return f"{middle:+.3f} ms ({low:+.3f} to {high:+.3f})"
