"""Page: the result as Markdown; a function of the result alone."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

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
"""Before an interval over rounds says anything."""


def page(document: dict[str, Any], table: Table) -> str:
    """All of it."""
    sections = (
        _head(document),
        markdown.section("Targets", _targets(document, table)),
        markdown.section("From the spawn to the program", _starting(table)),
        markdown.section("Answers without a program", _helping(table)),
        markdown.section("Cost of a plan in the launcher", _plans(table)),
        markdown.section("Conditions", _conditions(document)),
    )
    return "\n\n".join(filter(None, sections)) + "\n"


def _head(document: dict[str, Any]) -> str:
    where = document["machine"]
    peers = ", ".join(f"{name} {version}".strip() for name, version in document["peers"].items())
    return "\n\n".join(
        (
            "# Time until a program starts",
            "`make bench-start` measures this; `make bench-start BENCH=--write` writes this page "
            "and [its raw figures](start.json). A small static C++ program spawns each command "
            "line, and the finally started program, which is as small, records the first moment "
            "of its `main`.\n\n"
            "All commands are launched interleaved, in a random order in each round. Times are in "
            "milliseconds. CPU time covers the whole command and its descendants; a busy machine "
            "affects it least.",
            f"{document['date']}, {where['model']}, {where['cpus']} CPUs, Linux {where['kernel']}, "
            f"{where['distribution']}, control groups {where['cgroup']}, Python {where['python']}, "
            f"{document['scale']['rounds']} rounds of {document['scale']['launches']} launches of "
            f"each command and {document['scale']['of_plans']} of each plan. {_load(document)}"
            + (f" Beside it: {peers}." if peers else ""),
        )
    )


def _load(document: dict[str, Any]) -> str:
    favoured = " All of it ran under SCHED_FIFO, ahead of others." if document["favoured"] else ""
    return load_words(document) + favoured


def _targets(document: dict[str, Any], table: Table) -> Iterable[str]:
    busy = is_busy(document)
    rows = [*_of_commands(table, busy=busy), *_of_plans(table, busy=busy)]
    if rows:
        yield markdown.table(("measure", "target", "seen", ""), rows)
    if busy:
        yield (
            "Other processes kept the machine busy: met targets are valid, missed ones stay open."
        )


def _of_commands(table: Table, *, busy: bool) -> Iterable[tuple[str, ...]]:
    for command, within_s in WITHIN_S.items():
        found = table.values(commands.key(command))
        if found:
            high_s = _quantile(found, 9)
            seen = f"{high_s * MS:.0f} ms in nine of ten"
            verdict = "met" if high_s <= within_s else ("open" if busy else "missed")
            yield f"`{command}`: the program starts", f"{within_s * MS:.0f} ms", seen, verdict


def _of_plans(table: Table, *, busy: bool) -> Iterable[tuple[str, ...]]:
    found = table.difference(plans.key(plans.FULL), plans.key(plans.EMPTY))
    if found is None:
        return
    verdict = "open"
    if found.rounds >= MIN_ROUNDS and found.high <= FULL_S:
        verdict = "met"
    elif found.rounds >= MIN_ROUNDS and found.low > FULL_S and not busy:
        verdict = "missed"
    what = "`assay-exec` with a full plan, beyond an empty one"
    yield what, f"{FULL_S * MS:g} ms", _difference(found), verdict


def _starting(table: Table) -> Iterable[str]:
    names = [name for name in table.tools(commands.NAME) if table.values(commands.key(name))]
    rows = [
        (_named(name), *_quantiles(table, commands.key(name)), _cpu(table, commands.key(name, CPU)))
        for name in sorted(names, key=lambda name: table.median(commands.key(name)) or 0.0)
    ]
    if rows:
        yield (
            "`hyperfine` is timed to the first of its launches. *assay-exec* is the launcher "
            "alone. A study's own command is looked into, to tell whether it changed since; the "
            "other study recommends one variable of the environment."
        )
        yield markdown.table(("command", "10 %", "median", "90 %", "processor time"), rows)


def _helping(table: Table) -> Iterable[str]:
    def key(name: str, quantity: str = WALL) -> Key:
        return commands.key(name, quantity, commands.HELP)

    names = [name for name in table.tools(commands.NAME) if table.values(key(name))]
    rows = [
        (_named(name), *_quantiles(table, key(name)), _cpu(table, key(name, CPU)))
        for name in sorted(names, key=lambda name: table.median(key(name)) or 0.0)
    ]
    if rows:
        yield "To the end of the command:"
        yield markdown.table(("command", "10 %", "median", "90 %", "processor time"), rows)


def _plans(table: Table) -> Iterable[str]:
    names = [plans.EMPTY, plans.GROUP, *plans.parts(), plans.FULL]
    rows = [row for name in names if (row := _plan(table, name))]
    if rows:
        left_out = [name for name in plans.parts() if not table.values(plans.key(name))]
        yield (
            "Wall time of a whole launch by `assay-exec`, its record written, and the time to the "
            "program's first moment. The empty plan has no control group; each part below it is "
            "a plan of its own, in a control group; the full plan has all of them. Differences are "
            "medians over rounds of the difference within a round, with a 95 % bootstrap interval."
        )
        heads = ("plan", "median", "90 %", "beyond the empty one", "to the program", "beyond")
        yield markdown.table(heads, rows)
        if left_out:
            yield f"Refused here, and so in no plan: {', '.join(left_out)}."


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
        yield f"Not here, and so without rows: {', '.join(document['missing'])}."


def _named(command: str) -> str:
    return command if command in commands.PROSE else f"`{command}`"


def _quantiles(table: Table, key: Key) -> list[str]:
    found = table.values(key)
    return [f"{value * MS:.1f}" for value in (_quantile(found, 1), _quantile(found, 5))] + [
        f"{_quantile(found, 9) * MS:.1f}"
    ]


def _quantile(values: Sequence[float], tenths: int) -> float:
    """Return the quartiles by definition 7 of Hyndman and Fan."""
    if len(values) == 1:
        return values[0]
    return statistics.quantiles(values, n=10, method="inclusive")[tenths - 1]


def _cpu(table: Table, key: Key) -> str:
    found = table.median(key)
    return "" if found is None else f"{found * MS:.1f}"


def _difference(found: Difference) -> str:
    middle, low, high = (value * MS for value in (found.middle, found.low, found.high))
    return f"{middle:+.3f} ms ({low:+.3f} to {high:+.3f})"
