"""Page: the result as Markdown; a function of the result alone."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks import markdown

from . import cost, database, killing, memory, output, programs, startup, timing
from .bench import BALLAST_MIB
from .machine_load import load_cells
from .parts import PARTS
from .reading import Quartiles, Table
from .results import Column, Measured
from .targets import TIMED, Target, far_off, ratio_words, targets

MS = 1e3
MIB = 1 << 20


INTRODUCTION = (
    '`make bench-overhead` measures this part by part and `BENCH="--write --part timing"` a '
    "single part; it writes this page, with raw figures in [`overhead/`](overhead/). "
    "`BENCH=--resume` measures the parts without a result.\n\n"
    "Each part is measured in rounds, each in a random order. The tools of one case follow one "
    "another, so that changes of the machine affect all of them. Times are in milliseconds, "
    "memory in MiB. Differences and ratios are medians of those within a round, with a 95 % "
    "bootstrap interval. The column 10 % stands for a quiet moment."
)
FAVOURED = (
    "Parts of class fifo ran before all other processes of the machine, for both sides (`chrt -f "
    "1`)."
)
REASONS = (
    "Reasons of missed and open targets:\n\n"
    "- *100 ms*: the only waiting process of the second clock wakes late, since its CPU was idle. "
    "The first of assay's two wakes sooner, so assay reports less.\n\n"
    "- *Programs*: single pairs differ by 10 to 20 % on a virtual machine, so each measurement "
    "misses another row. If its interval includes the target, more rounds may decide otherwise.\n\n"
    "- *Empty plan*: `assay-exec` stays beside the program, as the process that ends its tree; "
    "`taskset` does not."
)
NOT_MEASURED = "not measured"


def page(results: Mapping[Column, Measured]) -> str:
    """All of it."""
    sections = [
        "# Cost and accuracy of measuring",
        INTRODUCTION,
        markdown.section("Parts and machines", _parts(results)),
        markdown.section("Targets", _targets(results)),
        markdown.section("The span of `wall_s`", [SPAN]),
    ]
    for column, measured in results.items():
        sections.append(markdown.section(f"A machine {column.title}", _column(measured)))
        sections += _details(measured)
    return "\n\n".join(filter(None, sections)) + "\n"


def _parts(results: Mapping[Column, Measured]) -> Iterable[str]:
    heads = ("part", "about", "minutes", *(f"date, {column.title}" for column in results))
    rows = []
    for name, part in PARTS.items():
        dates = [_date(measured, name) for measured in results.values()]
        rows.append((f"`{name}`", part.about, f"{part.minutes:g}", *dates))
    yield markdown.table(heads, rows)


def _date(measured: Measured, part: str) -> str:
    document = measured.documents.get(part)
    return NOT_MEASURED if document is None else str(document["date"])


def _column(measured: Measured) -> Iterable[str]:
    """Yield the machine, and the conditions of each part."""
    if not measured.documents:
        yield "No part was measured on such a machine."
        return
    for where, parts in _by_machine(measured).items():
        yield f"{where}: {', '.join(f'`{part}`' for part in parts)}."
    peers = {
        name: tool for one in measured.documents.values() for name, tool in one["peers"].items()
    }
    yield f"Beside it: {', '.join(f'{name} {version}'.strip() for name, version in peers.items())}."
    missing = {name for one in measured.documents.values() for name in one["missing"]}
    if missing - peers.keys():
        yield f"Not here, or of no use here: {', '.join(sorted(missing - peers.keys()))}."
    rows = [
        (f"`{part}`", str(one["scale"]["rounds"]), *load_cells(one), _class(one))
        for part, one in measured.documents.items()
    ]
    before = ("busy before", "load before (1 min)", "load meanwhile")
    heads = ("part", "rounds", *before, "took", "stolen", "idle", "class")
    yield markdown.table(heads, rows)
    if any(one.get("favoured") for one in measured.documents.values()):
        yield FAVOURED
    failures = [
        f"- `{part}`: {what} ({times} times)"
        for part, one in measured.documents.items()
        for what, times in one["failures"].items()
    ]
    if failures:
        yield "Failures:\n\n" + "\n".join(failures)


def _class(document: dict[str, Any]) -> str:
    """Return the scheduling class of a whole part."""
    if document.get("favoured"):
        return "fifo"
    return f"other, nice {document['nice']}" if document["nice"] else "other"


def _by_machine(measured: Measured) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for part, document in measured.documents.items():
        where = document["machine"]
        words = (
            f"{where['model']}, {where['cpus']} CPUs, Linux {where['kernel']}, "
            f"{where['distribution']}, control groups {where['cgroup']}, Python {where['python']}"
        )
        found.setdefault(words, []).append(part)
    return found


def _targets(results: Mapping[Column, Measured]) -> Iterable[str]:
    found = {column: targets(measured) for column, measured in results.items()}
    rows: dict[str, str] = {}
    for of_column in found.values():
        rows.update({target.what: target.wanted for target in of_column})
    busy = [
        f"`{part}` {column.title}"
        for column, measured in results.items()
        for part in TIMED
        if measured.busy(part)
    ]
    if busy:
        yield (
            f"**Other processes kept the machine busy** before {', '.join(busy)}. Each launch "
            "wakes several processes one after another, and each waits its turn then, so the "
            "targets of time stay open: measure them again on a quiet machine."
        )
    if rows:
        heads = ("measure", "target", *(head for c in results for head in (c.title, "")))
        cells = [
            (what, wanted, *(cell for column in results for cell in _seen(found[column], what)))
            for what, wanted in rows.items()
        ]
        yield markdown.table(heads, cells)
    if any(target.verdict != "met" for of_column in found.values() for target in of_column):
        yield REASONS


def _seen(found: Sequence[Target], what: str) -> tuple[str, str]:
    for target in found:
        if target.what == what:
            return target.seen, target.verdict
    return NOT_MEASURED, ""


def _details(measured: Measured) -> Iterable[str]:
    """The tables of one machine."""
    if not measured.documents:
        return
    table = measured.table
    makers = {
        "The reported wall time": _timing,
        "Programs that switch contexts or start processes": _programs,
        "A database server and its client": _database,
        "Cost of a launch": _cost,
        "Start-up": _startup,
        "The reported memory": _memory,
        "From the time limit to the end of the last process": _killing,
        "A program that prints much": _output,
    }
    for title, make in makers.items():
        yield markdown.section(title, make(table), level=3)


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
        "Wall time of each launch of `/bin/true`. *assay, library* is the loop of `assay "
        "measure`: from one launch to the next, with plan, launcher, speed probe, verdict and the "
        "row in SQLite. For whole commands it is the cost of a further launch: the time of a long "
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

TIMED_BY = (
    timing.WARM,
    timing.COLD,
    "hyperfine",
    "perf stat",
    "pyperf",
    "BenchExec",
    "BenchExec, container",
)
SPAN = (
    "`wall_s` runs from just before exec, in the process that becomes the program, to the moment "
    "at which its exit is seen; [Observations and their cost](../explanation/observations.md) "
    "defines the span. The second clock below has the same two ends, read by a small C++ program "
    "independent of assay. No constant is subtracted."
)


def _timing(table: Table) -> Iterable[str]:
    rows = [row for spin_ms in timing.SPINS_MS for row in _timed(table, timing.case_of(spin_ms))]
    if rows:
        yield (
            "The program spins for a known time by the monotonic clock; exec and exit are added. "
            "*Cold* is the counted launch of a new `assay measure --runs 2`; *warm* are the later "
            "launches of a long one. The bias is the reported time less the time of the two "
            "clocks in other launches of the same round."
        )
        heads = (
            "spin",
            "reported by",
            *QUARTILES,
            "bias to plain",
            "bias to exec clock",
            "interval",
        )
        yield markdown.table((*heads, "75 % - 25 %", "processor time"), rows)
        yield from _off(table)
        yield from _ends(table)


def _timed(table: Table, case: str) -> Iterable[tuple[str, ...]]:
    for tool in (timing.PLAIN, timing.EXEC, *TIMED_BY):
        key = timing.key(case, tool)
        found = table.quartiles(key)
        if found is None:
            continue
        plain = table.difference(key, timing.key(case, timing.PLAIN))
        truth = table.difference(key, timing.key(case, timing.EXEC))
        cells = ["", "", ""]
        if plain is not None and truth is not None and tool not in (timing.PLAIN, timing.EXEC):
            interval = f"{truth.low * MS:+.3f} to {truth.high * MS:+.3f}"
            cells = [f"{plain.middle * MS:+.3f}", f"{truth.middle * MS:+.3f}", interval]
        cpu = table.median(timing.cpu_key(case, tool))
        cells += [f"{found.range * MS:.3f}", "" if cpu is None else f"{cpu * MS:.3f}"]
        yield case, tool, *_ms(found, 3), *cells


def _off(table: Table) -> Iterable[str]:
    """Launches that are far off."""
    plain = far_off(table, timing.PLAIN)
    if plain is None:
        return
    rows = []
    for tool in (timing.PLAIN, *TIMED_BY):
        found = far_off(table, tool)
        if found is None:
            continue
        low, high = (1000 * end for end in found.beyond(plain))
        beyond = "" if tool == timing.PLAIN else f"{low:+.1f} to {high:+.1f}"
        rows.append(
            (tool, f"{found.launches:,}", str(found.count), f"{found.per_thousand:.1f}", beyond)
        )
    yield (
        f"Launches of all spins that are more than {timing.OFF_S * MS:g} ms from the median of "
        "plain spawn and wait; the interval (95 %, Newcombe's method 10) is of the difference to "
        "plain spawn in launches of 1,000."
    )
    yield markdown.table(("reported by", "launches", "off", "of 1,000", "beyond plain"), rows)


def _ends(table: Table) -> Iterable[str]:
    """Yield the times before and after the spin in the plain figure."""
    rows = []
    for spin_ms in timing.SPINS_MS:
        case = timing.case_of(spin_ms)
        parts = [
            table.quartiles(timing.end_key(case, quantity)) for quantity in ("before_s", "after_s")
        ]
        told = [
            table.quartiles(timing.key(case, tool))
            for tool in (timing.PLAIN, timing.EXEC, timing.WARM)
        ]
        beyond = [_beyond(one, spin_ms) for one in told]
        rows.append((case, *(f"{one.median * MS:.3f}" if one else "" for one in parts), *beyond))
    if any(row[1] for row in rows):
        yield (
            "The plain figure itself exceeds the program's life. A program that records its own "
            "first and last moment shows the excess (medians). *Before* is the clone, the exec "
            "and the loader. *After* is the exit and the time until the waiting parent runs "
            "again, which grows with the idle time of its CPU. assay's time begins at the exec, "
            "and the first of two waiting processes to wake up records its end."
        )
        heads = ("spin", "before", "after", "plain, beyond the spin", "exec clock", "assay, warm")
        yield markdown.table(heads, rows)


def _beyond(told: Quartiles | None, spin_ms: int) -> str:
    return f"{told.median * MS - spin_ms:.3f}" if told else ""


# --- programs ---------------------------------------------------------------------------------


def _programs(table: Table) -> Iterable[str]:
    rows = []
    for case in table.cases(programs.NAME):
        for tool in (programs.DIRECT, *programs.UNDER):
            wall, cpu = (table.median(programs.key(case, tool, q)) for q in programs.QUANTITIES)
            if wall is None or cpu is None:
                continue
            ratios = ["", ""]
            if tool != programs.DIRECT:
                ratios = [_ratio(table, case, tool, quantity) for quantity in programs.QUANTITIES]
            rows.append((case, tool, f"{wall * MS:.1f}", ratios[0], f"{cpu * MS:.1f}", ratios[1]))
    if rows:
        yield (
            "Pairs of a direct launch and one under assay, in random order. The programs make "
            "100,000 round trips of a byte through two pipes, start 50 short processes from a "
            "shell script, start 10,000 children in sequence, or start 5,000 threads. Directly is "
            "plain spawn and wait; under assay it is the `wall_s`, `user_s` and `sys_s` of the "
            "record."
        )
        heads = ("program", "run", "wall time", "change", "processor time", "change")
        yield markdown.table(heads, rows)


def _ratio(table: Table, case: str, tool: str, quantity: str) -> str:
    direct = programs.key(case, programs.DIRECT, quantity)
    found = table.ratio(programs.key(case, tool, quantity), direct)
    return "" if found is None else ratio_words(found)


def _database(table: Table) -> Iterable[str]:
    rows = []
    for tool in (database.DIRECT, *database.UNDER):
        values = [table.median(database.key(tool, quantity)) for quantity in database.QUANTITIES]
        if None in values:
            continue
        cpu_s, switches, rate = (value or 0.0 for value in values)
        changes = []
        for quantity in database.QUANTITIES:
            direct = database.key(database.DIRECT, quantity)
            found = table.ratio(database.key(tool, quantity), direct)
            empty = found is None or tool == database.DIRECT
            changes.append("" if found is None or empty else ratio_words(found))
        cells = (f"{cpu_s * 1e6:.1f}", f"{switches:.2f}", f"{rate:,.0f}")
        rows.append((tool, *(cell for pair in zip(cells, changes, strict=True) for cell in pair)))
    if rows:
        yield (
            "PostgreSQL with its own data, reached by a Unix socket alone, and pgbench with "
            f"{database.CLIENTS} clients, as one program. Processor time (in us) and context "
            "switches are those of a transaction, server and client together, as the program "
            "itself reads them of its children; the throughput is pgbench's."
        )
        heads = ("run", "processor time", "change", "context switches", "change")
        yield markdown.table((*heads, "transactions/s", "change"), rows)


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
        "Error of the median, in per cent of the true value; the figure itself if the true value "
        "is 0. Anonymous memory excludes files. The charge of control groups (assay's "
        "`peak_bytes`, BenchExec) includes the page cache. The other tools report the highest "
        "resident size of one process, file pages included. Tools that report no memory have no "
        "column."
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
            "process ends is seen without polling. assay (with `--grace 0s`) and `timeout -k 0.05` "
            "were given 0.5 s, `runexec` one second, its finest step. `hyperfine` has no limit. "
            "Left are processes that ran 0.3 s after the tool had ended."
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
            "From the start to a sample. A figure is read from a mapping of the file, whose pages "
            "count as resident until other processes need the memory."
        )
        heads = ("output", "to", *QUARTILES, "assay grew by", "peak of `assay-exec`")
        yield markdown.table(heads, rows)


def _taken(table: Table, case: str, tool: str) -> Iterable[str]:
    for quantity in ("grown_bytes", "launcher_bytes"):
        values = table.values(output.key(case, tool, quantity))
        yield f"{max(values) / MIB:.1f}" if values else ""


# --- helpers ----------------------------------------------------------------------------------


def _ms(found: Quartiles, digits: int = 2) -> list[str]:
    values = (found.p10, found.q1, found.median, found.q3)
    return [f"{value * MS:.{digits}f}" for value in values]
