"""Page: the result as Markdown; a function of the result alone."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

from benchmarks import markdown

from . import cost, killing, memory, output, startup, timing
from .bench import BALLAST_MIB
from .reading import Quartiles, Table
from .targets import targets
from .told import is_busy, load_words, use_words

MS = 1e3
MIB = 1 << 20


def page(document: dict[str, Any], table: Table) -> str:
    """All of it."""
    sections = (
        _head(document),
        markdown.section("Targets", _targets(document, table)),
        markdown.section("Cost of a launch", _cost(table)),
        markdown.section("Start-up", _startup(table)),
        markdown.section("The time that is told", _timing(table)),
        markdown.section("The memory that is told", _memory(table)),
        markdown.section("From the time limit to the end of the last process", _killing(table)),
        markdown.section("A program that prints much", _output(table)),
        markdown.section("Under what conditions", _conditions(document)),
    )
    return "\n\n".join(filter(None, sections)) + "\n"


def _head(document: dict[str, Any]) -> str:
    where = document["machine"]
    tools = ", ".join(f"{name} {version}".strip() for name, version in document["peers"].items())
    lines = [
        "# What measuring costs, and how true it is",
        "`make bench-overhead` measures this; `make bench-overhead BENCH=--write` writes this page "
        "and [its raw figures](overhead.json). All tools are visited in rounds, each in a random "
        "order of its own, those of one case one after another, so that what changes on the "
        "machine meets all alike. Times are in milliseconds, memory in MiB. Differences are "
        "medians over rounds of the difference within a round, with a 95 % bootstrap interval. "
        "10 % is what a quiet moment gives.",
        f"{document['date']}, {where['model']}, {where['cpus']} CPUs, Linux {where['kernel']}, "
        f"{where['distribution']}, control groups {where['cgroup']}, Python {where['python']}, "
        f"{document['scale']['rounds']} rounds. {_load(document)} Beside it: {tools}.",
    ]
    if document["missing"]:
        lines.append(
            f"Not here, or of no use here, and so without rows: {', '.join(document['missing'])}."
        )
    return "\n\n".join(lines)


def _load(document: dict[str, Any]) -> str:
    nice = document["nice"]
    favoured = f" All of it had niceness {nice}, against what else ran." if nice else ""
    return load_words(document) + favoured


def _targets(document: dict[str, Any], table: Table) -> Iterable[str]:
    busy = is_busy(document)
    found = targets(table, busy=busy)
    if found and busy:
        yield (
            "**Others kept the machine busy.** Each launch wakes several processes one after "
            "another, and each waits its turn then, so the targets of time stay open: retake them "
            "on a quiet machine. Memory and what was left over do not hang on it."
        )
    if found:
        rows = [(one.what, one.wanted, one.seen, one.verdict) for one in found]
        yield markdown.table(("what", "target", "seen", ""), rows)


# --- cost -------------------------------------------------------------------------------------

QUARTILES = ("10 %", "25 %", "median", "75 %")
OVER = ("beyond plain, 10 %", "median", "times plain")
COMMANDS = ("assay measure", "hyperfine", "pyperf", "ReBench", "BenchExec, runexec")
LAUNCHES = (
    cost.PLAIN,
    "taskset",
    "numactl",
    cost.EMPTY,
    cost.CONTAINED,
    cost.LIBRARY,
    "assay measure",
    "hyperfine",
    "pyperf",
    "ReBench",
    "BenchExec, library",
    "BenchExec, library, container",
)


def _cost(table: Table) -> Iterable[str]:
    plain = table.quartiles(cost.key(cost.PLAIN, "launch_s"))
    if plain is None:
        return
    rows = []
    for tool in LAUNCHES:
        each = table.quartiles(cost.key(tool, "launch_s"))
        found = each or table.quartiles(cost.key(tool, "further_s"))
        if found is not None:
            rows.append((tool, *_ms(found), *_over(found, plain)))
    yield (
        "Wall time of each launch of `/bin/true`. *assay, library* is the loop of `assay measure`: "
        "from one launch to the next, with plan, launcher, speed probe, judging, the race and the "
        "row in SQLite. For whole commands it is what a further launch costs: the time of a long "
        "command less that of a short one, divided by the launches between them."
    )
    yield markdown.table(("through", *QUARTILES, *OVER), rows)
    commands = [
        (tool, f"{launches:.0f}", *_ms(found), *_over(found, plain))
        for tool in COMMANDS
        if (found := table.quartiles(cost.key(tool, "command_s"))) is not None
        and (launches := table.median(cost.key(tool, "command_launches"))) is not None
    ]
    if commands:
        yield "Whole commands, start and end included, divided by their launches:"
        yield markdown.table(("command", "launches", *QUARTILES, *OVER), commands)


def _over(found: Quartiles, plain: Quartiles) -> tuple[str, str, str]:
    return (
        f"{(found.p10 - plain.p10) * MS:+.2f}",
        f"{(found.median - plain.median) * MS:+.2f}",
        f"{found.median / plain.median:.1f}",
    )


def _startup(table: Table) -> Iterable[str]:
    found = {
        tool: quartiles
        for tool in table.tools(startup.NAME)
        if (quartiles := table.quartiles(startup.key(tool))) is not None
    }
    rows = [
        (f"`{tool}`" if tool not in startup.PROSE else tool, *_ms(one, 1))
        for tool, one in sorted(found.items(), key=lambda item: item[1].median)
    ]
    if rows:
        yield markdown.table(("command", *QUARTILES), rows)


# --- timing -----------------------------------------------------------------------------------

TIMED = (timing.ASSAY, "hyperfine", "pyperf", "BenchExec", "BenchExec, container")


def _timing(table: Table) -> Iterable[str]:
    rows = [row for spin_ms in timing.SPINS_MS for row in _timed(table, timing.case_of(spin_ms))]
    if rows:
        yield (
            "The program spins for a known time by the monotonic clock; exec and exit come to it. "
            "The truth is posix_spawn and wait by a small C++ program. The bias is "
            "what is told less that."
        )
        heads = ("spin", "told by", *QUARTILES, "bias, 10 %", "median", "interval", "75 % - 25 %")
        yield markdown.table(heads, rows)
        yield from _ends(table)


def _ends(table: Table) -> Iterable[str]:
    """Where the plain figure is longer than the spin, and assay's."""
    rows = []
    for spin_ms in timing.SPINS_MS:
        case = timing.case_of(spin_ms)
        parts = [
            table.quartiles(timing.end_key(case, quantity)) for quantity in ("before_s", "after_s")
        ]
        told = [table.quartiles(timing.key(case, tool)) for tool in (timing.PLAIN, timing.ASSAY)]
        beyond = [_beyond(one, spin_ms) for one in told]
        rows.append((case, *(f"{one.median * MS:.3f}" if one else "" for one in parts), *beyond))
    if any(row[1] for row in rows):
        yield (
            "The plain figure is itself longer than the program's life. A program that notes its "
            "own first and last moment shows by how much (medians): *before* is the clone, the "
            "exec and the loader, *after* the exit and the time until the waiting parent runs "
            "again, which grows with the time that its CPU had been idle. assay's time begins at "
            "the exec, and its end is seen by whichever of two waiting processes wakes first."
        )
        heads = ("spin", "before", "after", "plain, beyond the spin", "assay, beyond the spin")
        yield markdown.table(heads, rows)


def _beyond(told: Quartiles | None, spin_ms: int) -> str:
    return f"{told.median * MS - spin_ms:.3f}" if told else ""


def _timed(table: Table, case: str) -> Iterable[tuple[str, ...]]:
    plain = timing.key(case, timing.PLAIN)
    truth = table.quartiles(plain)
    if truth is None:
        return
    yield case, timing.PLAIN, *_ms(truth, 3), "", "", "", f"{truth.range * MS:.3f}"
    for tool in TIMED:
        key = timing.key(case, tool)
        found, bias = table.quartiles(key), table.difference(key, plain)
        if found is not None and bias is not None:
            interval = f"{bias.low * MS:+.3f} to {bias.high * MS:+.3f}"
            low = f"{(found.p10 - truth.p10) * MS:+.3f}"
            told = (*_ms(found, 3), low, f"{bias.middle * MS:+.3f}", interval)
            yield case, tool, *told, f"{found.range * MS:.3f}"


# --- memory -----------------------------------------------------------------------------------

TOLD = {
    (memory.ASSAY, "anonymous_bytes"): "assay, anonymous",
    (memory.LARGE, "anonymous_bytes"): f"the same, itself {BALLAST_MIB} MiB",
    (memory.ASSAY, "charged_bytes"): "assay, charged",
    ("BenchExec", "charged_bytes"): "BenchExec",
    ("GNU time", "resident_bytes"): "GNU time",
    ("pyperf", "resident_bytes"): "pyperf",
    ("hyperfine", "resident_bytes"): "hyperfine",
    (memory.WAIT4, "resident_bytes"): f"wait4 by a Python of {BALLAST_MIB} MiB",
}
"""Columns: tool and quantity, and the head."""


def _memory(table: Table) -> Iterable[str]:
    columns = [
        (tool, quantity, head)
        for (tool, quantity), head in TOLD.items()
        if any(table.values(memory.key(case.name, tool, quantity)) for case in memory.CASES)
    ]
    if not columns:
        return
    rows = []
    for case in memory.CASES:
        medians = (table.median(memory.key(case.name, tool, kind)) for tool, kind, _ in columns)
        truths = (_truth(case, kind) for _, kind, _ in columns)
        rows.append((case.name, *map(_error, medians, truths)))
    yield (
        "Error of the median, in per cent of the truth; where the truth is nothing, the figure "
        "itself. Anonymous is what the tree holds without files; what control groups charge "
        "(assay's `peak_bytes`, BenchExec) holds the page cache that it fills as well; the others "
        "tell the highest resident size of one process, file pages included. Tools that tell no "
        "memory have no column."
    )
    yield markdown.table(("a program that", *(head for _, _, head in columns)), rows)


def _truth(case: memory.Case, quantity: str) -> int:
    return (case.anonymous_mib if quantity == "anonymous_bytes" else case.charged_mib) * MIB


def _error(seen: float | None, truth: int) -> str:
    if seen is None:
        return "-"
    if truth == 0:
        return f"{seen / MIB:.1f} MiB"
    return f"{(seen - truth) / truth * 100:+.1f} %"


# --- killing ----------------------------------------------------------------------------------


LIMITERS = (killing.ASSAY, "timeout", "BenchExec", "BenchExec, container")


def _killing(table: Table) -> Iterable[str]:
    rows = [
        (case, tool, *cells)
        for case in killing.MODES.values()
        for tool in LIMITERS
        if (cells := _ended(table, case, tool))
    ]
    if rows:
        yield (
            "The tree holds the writing end of a named pipe, so that the moment at which its last "
            "process ends is seen without polling. assay and `timeout -k 0.05` were given 0.5 s, "
            "`runexec` one second, its finest step. `hyperfine` has no limit. Left are processes "
            "that ran 0.3 s after the tool had ended."
        )
        heads = ("the tree", "ended by", "overshoot, median", "most", "left", "times")
        yield markdown.table(heads, rows)


def _ended(table: Table, case: str, tool: str) -> tuple[str, ...]:
    overshoot_s = table.values(killing.key(case, tool, "overshoot_s"))
    left = table.values(killing.key(case, tool, "left"))
    if not left:
        return ()
    cells = ("never", "never")
    if overshoot_s:
        worst_s = max(overshoot_s) if len(overshoot_s) == len(left) else None
        most = "never" if worst_s is None else f"{worst_s * MS:+.1f}"
        cells = (f"{statistics.median(overshoot_s) * MS:+.1f}", most)
    return (*cells, f"{max(left):.0f}", str(len(left)))


# --- output -----------------------------------------------------------------------------------


def _output(table: Table) -> Iterable[str]:
    rows = [
        (case, tool, *_ms(took, 0), *_taken(table, case, tool))
        for case in table.cases(output.NAME)
        for tool in (output.PLAIN, output.ASSAY, output.FIGURE)
        if (took := table.quartiles(output.key(case, tool, "took_s"))) is not None
    ]
    if rows:
        yield (
            "From the start to a sample in hand. A figure is read from a mapping of the file, "
            "whose pages count as resident as long as nobody else needs the memory."
        )
        heads = ("output", "to", *QUARTILES, "assay grew by", "peak of `assay-exec`")
        yield markdown.table(heads, rows)


def _taken(table: Table, case: str, tool: str) -> Iterable[str]:
    for quantity in ("grown_bytes", "launcher_bytes"):
        values = table.values(output.key(case, tool, quantity))
        yield f"{max(values) / MIB:.1f}" if values else ""


# --- conditions -------------------------------------------------------------------------------


def _conditions(document: dict[str, Any]) -> Iterable[str]:
    yield use_words(document)
    if document["failures"]:
        told = [f"- {what} ({times} times)" for what, times in document["failures"].items()]
        yield "What did not work:\n\n" + "\n".join(told)


# --- helpers ----------------------------------------------------------------------------------


def _ms(found: Quartiles, digits: int = 2) -> list[str]:
    values = (found.p10, found.q1, found.median, found.q3)
    return [f"{value * MS:.{digits}f}" for value in values]
