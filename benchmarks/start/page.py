"""Page of the benchmark, rendered from a stored result."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from assay.units import show_count
from benchmarks import markdown
from benchmarks.overhead.machine_load import is_busy, load_words, use_words
from benchmarks.overhead.reading import Difference, Key, Table

from . import commands, plans
from .firsts import CPU, FIRST, WALL

MS = 1e3
WITHIN_S = {commands.RUN: 0.150, commands.FROM: 0.500, commands.AGAIN: 0.500}
"""Limits of the time from the spawn to the program's first moment."""
FULL_S = 1e-3
"""Limit of the cost of a full plan beyond an empty one."""
MIN_ROUNDS = 6
"""Least number of rounds for a verdict on an interval."""


METHOD = (
    "- A small static C++ program spawns each command line. The command finally starts another "
    "small program, which records the first moment of its `main`.\n"
    "- Each round launches all commands interleaved, in random order.\n"
    "- Times are in milliseconds. The columns *10 %* and *90 %* are the first and the last "
    "decile.\n"
    "- CPU time covers the whole command and its descendants. A busy machine affects this value "
    "least.\n"
    "- Differences are medians over rounds of the difference within a round, with a 95 % bootstrap "
    "interval in parentheses."
)
USAGE = (
    "`make bench-start` measures all commands. `make bench-start BENCH=--write` also writes this "
    "page and [its raw figures](start.json)."
)
BUSY = "busy machine"


def page(document: dict[str, Any], table: Table) -> str:
    """Return the whole page."""
    sections = (
        _head(document),
        markdown.section("Targets", _targets(document, table)),
        markdown.section("Method", [METHOD, USAGE]),
        markdown.section("Start of the program", _starting(table)),
        markdown.section("Commands without a program", _helping(table)),
        markdown.section("Cost of a plan in the launcher", _plans(table)),
        markdown.section("Conditions", _conditions(document)),
    )
    return "\n\n".join(filter(None, sections)) + "\n"


def _head(document: dict[str, Any]) -> str:
    where, scale = document["machine"], document["scale"]
    peers = ", ".join(f"{name} {version}".strip() for name, version in document["peers"].items())
    paragraphs = [
        "# Time until a program starts",
        "This page shows the time from the spawn of a command to the first moment of the program "
        "that it starts: under assay, directly, and under other launchers. It is for readers who "
        "launch short programs.",
        f"Measured on {document['date']} on {where['model']}, {where['cpus']} CPUs, Linux "
        f"{where['kernel']}, {where['distribution']}, control groups {where['cgroup']}, Python "
        f"{where['python']}. {show_count(scale['rounds'], 'round')}, each with "
        f"{show_count(scale['launches'], 'launch', 'launches')} of each command and "
        f"{scale['of_plans']} of each plan. {_load(document)}",
    ]
    if peers:
        paragraphs.append(f"Other tools: {peers}.")
    return "\n\n".join(paragraphs)


def _load(document: dict[str, Any]) -> str:
    favoured = " The benchmark ran under SCHED_FIFO, with priority over all other processes."
    return load_words(document) + (favoured if document["favoured"] else "")


def _targets(document: dict[str, Any], table: Table) -> Iterable[str]:
    busy = is_busy(document)
    rows = [*_of_commands(table, busy=busy), *_of_plans(table, busy=busy)]
    if rows:
        heads = ("measure", "target", "measured", "verdict", "reason (missed or open)")
        yield markdown.table(heads, rows)
    if busy:
        yield (
            "Other processes used the CPUs. Targets that are met are valid. All others are *open*: "
            "measure them again on a quiet machine."
        )


def _of_commands(table: Table, *, busy: bool) -> Iterable[tuple[str, ...]]:
    for command, within_s in WITHIN_S.items():
        found = table.values(commands.key(command))
        if found:
            high_s = _quantile(found, 9)
            verdict = "met" if high_s <= within_s else ("open" if busy else "missed")
            yield (
                f"start of the program: `{command}`",
                f"at most {within_s * MS:.0f} ms in 90 % of launches",
                f"{high_s * MS:.0f} ms",
                markdown.verdict(verdict),
                BUSY if verdict == "open" else "",
            )


def _of_plans(table: Table, *, busy: bool) -> Iterable[tuple[str, ...]]:
    found = table.difference(plans.key(plans.FULL), plans.key(plans.EMPTY))
    if found is None:
        return
    verdict = "open"
    if found.rounds >= MIN_ROUNDS and found.high <= FULL_S:
        verdict = "met"
    elif found.rounds >= MIN_ROUNDS and found.low > FULL_S and not busy:
        verdict = "missed"
    reason = BUSY if busy else "interval includes the limit, or few rounds"
    yield (
        "cost of a full plan in `assay-exec`, beyond an empty plan",
        f"at most {FULL_S * MS:g} ms",
        _difference(found),
        markdown.verdict(verdict),
        reason if verdict == "open" else "",
    )


def _starting(table: Table) -> Iterable[str]:
    names = [name for name in table.tools(commands.NAME) if table.values(commands.key(name))]
    rows = [
        (_named(name), *_quantiles(table, commands.key(name)), _cpu(table, commands.key(name, CPU)))
        for name in sorted(names, key=lambda name: table.median(commands.key(name)) or 0.0)
    ]
    if rows:
        yield (
            "Time from the spawn of the command to the first moment of the program, and CPU time "
            "of the command:"
        )
        yield (
            "- `hyperfine -N` is timed to the first of its launches;\n"
            "- `assay-exec` is the launcher without assay;\n"
            f"- `{commands.FROM}` launches the command of the study; assay first checks whether "
            "that command has changed since the study;\n"
            f"- `{commands.AGAIN}` takes a study of another command; it recommends one environment "
            "variable."
        )
        yield markdown.table(("command", "10 %", "median", "90 %", "CPU time"), rows)


def _helping(table: Table) -> Iterable[str]:
    def key(name: str, quantity: str = WALL) -> Key:
        return commands.key(name, quantity, commands.HELP)

    names = [name for name in table.tools(commands.NAME) if table.values(key(name))]
    rows = [
        (_named(name), *_quantiles(table, key(name)), _cpu(table, key(name, CPU)))
        for name in sorted(names, key=lambda name: table.median(key(name)) or 0.0)
    ]
    if rows:
        yield "Time from the spawn to the end of the command:"
        yield markdown.table(("command", "10 %", "median", "90 %", "CPU time"), rows)


def _plans(table: Table) -> Iterable[str]:
    names = [plans.EMPTY, plans.GROUP, *plans.parts(), plans.FULL]
    rows = [row for name in names if (row := _plan(table, name))]
    if rows:
        left_out = [name for name in plans.parts() if not table.values(plans.key(name))]
        yield (
            "A *plan* describes a launch to `assay-exec`: placement, limits and observations. "
            "Each row is a launch with another plan, including the record that `assay-exec` "
            "writes. The empty plan has no control group. The second plan has only a control "
            "group, and each of the following plans has one part in addition. The full plan has "
            "all parts."
        )
        beyond = "beyond the empty plan"
        heads = ("plan", "whole launch", "90 %", beyond, "start of the program", beyond)
        yield markdown.table(heads, rows)
        if left_out:
            yield f"The launcher could not apply these parts here: {', '.join(left_out)}."


def _plan(table: Table, name: str) -> tuple[str, ...]:
    whole, first = plans.key(name), plans.key(name, FIRST)
    found = table.values(whole)
    if not found:
        return ()
    cells = [name, f"{statistics.median(found) * MS:.2f}", f"{_quantile(found, 9) * MS:.2f}"]
    beyond = table.difference(whole, plans.key(plans.EMPTY))
    cells.append(_difference(beyond) if beyond and name != plans.EMPTY else "")
    cells.append(f"{statistics.median(table.values(first)) * MS:.2f}")
    beyond = table.difference(first, plans.key(plans.EMPTY, FIRST))
    cells.append(_difference(beyond) if beyond and name != plans.EMPTY else "")
    return tuple(cells)


def _conditions(document: dict[str, Any]) -> Iterable[str]:
    yield use_words(document)
    if document["missing"]:
        yield f"Missing tools: {', '.join(document['missing'])}."


def _named(command: str) -> str:
    return command if command in commands.PROSE else f"`{command}`"


def _quantiles(table: Table, key: Key) -> list[str]:
    found = table.values(key)
    return [f"{value * MS:.1f}" for value in (_quantile(found, 1), _quantile(found, 5))] + [
        f"{_quantile(found, 9) * MS:.1f}"
    ]


def _quantile(values: Sequence[float], tenths: int) -> float:
    """Return a decile by definition 7 of Hyndman and Fan."""
    if len(values) == 1:
        return values[0]
    return statistics.quantiles(values, n=10, method="inclusive")[tenths - 1]


def _cpu(table: Table, key: Key) -> str:
    found = table.median(key)
    return "" if found is None else f"{found * MS:.1f}"


def _difference(found: Difference) -> str:
    middle, low, high = (value * MS for value in (found.middle, found.low, found.high))
    return f"{middle:+.3f} ms ({low:+.3f} to {high:+.3f})"
