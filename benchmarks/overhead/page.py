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
from .targets import (
    BUSY,
    SPREAD,
    SUPERVISOR,
    UNDECIDED,
    WAKE_UP,
    Target,
    far_off,
    ratio_words,
    targets,
)

MS = 1e3
MIB = 1 << 20


INTRODUCTION = (
    "This page shows how much time and memory assay adds to a launch, and how accurate its "
    "measurements are, compared with other tools. It is for readers who want to know whether assay "
    "disturbs a measurement."
)
METHOD = (
    "- **Rounds.** Each part is measured in rounds, each in a random order. The tools of one case "
    "follow one another directly, so that changes of the machine affect all of them equally.\n"
    "- **Units.** Times are in milliseconds, memory is in MiB.\n"
    "- **Differences and ratios** are medians of those within a round, with a 95 % bootstrap "
    "interval in parentheses.\n"
    "- **Percentiles.** The column *10 %* (first decile) shows the value at a quiet moment of the "
    "machine.\n"
    "- **`wall_s`** runs from just before exec, in the process that becomes the program, to the "
    "moment at which assay sees its exit ([Observations and their "
    "cost](../explanation/observations.md)). A small C++ program, independent of assay, reads a "
    "*second clock* at the same two moments. assay does not subtract a constant."
)
USAGE = """| command | effect |
| --- | --- |
| `make bench-overhead` | measures all parts |
| `make bench-overhead BENCH="--write --part timing"` | measures and writes one part |
| `make bench-overhead BENCH=--resume` | measures only parts without a result |"""
FAVOURED = (
    "Parts of class fifo ran with priority over all other processes of the machine, for both sides "
    "(`chrt -f 1`)."
)
REASONS = {
    WAKE_UP: "One process waits for the exit and then reads the second clock. It wakes late, "
    "since its CPU was idle. In assay, two processes wait, and the first of them wakes sooner. "
    "Therefore assay reports less.",
    SPREAD: "Single pairs differ by 10 to 20 % on a virtual machine, so that each measurement of "
    "this page misses other targets. If the interval includes the target, more rounds may change "
    "the verdict.",
    SUPERVISOR: "`assay-exec` remains beside the program, as the process that ends its tree. "
    "`taskset` does not.",
    UNDECIDED: "The verdict needs more rounds.",
    BUSY: "Other processes used the CPUs before the part. Each launch wakes several processes one "
    "after another, and each of them then waits for a CPU. Measure the part again on a quiet "
    "machine.",
}
"""Explanations of the reasons in the table of targets."""
NOT_MEASURED = "not measured"


def page(results: Mapping[Column, Measured]) -> str:
    """Return the whole page."""
    sections = [
        "# Cost and accuracy of measuring",
        INTRODUCTION,
        markdown.section("Targets", _targets(results)),
        markdown.section("Method", [METHOD, USAGE]),
        markdown.section("Parts and machines", _parts(results)),
    ]
    for column, measured in results.items():
        sections.append(markdown.section(f"Machine {column.title}", _column(measured)))
        sections += _details(measured)
    return "\n\n".join(filter(None, sections)) + "\n"


def _parts(results: Mapping[Column, Measured]) -> Iterable[str]:
    measured = _with_figures(results)
    for column in results:
        if column not in measured:
            yield f"No part was measured on a machine {column.title}."
    heads = ("part", "subject", "minutes", *(f"date, {column.title}" for column in measured))
    rows = []
    for name, part in PARTS.items():
        dates = [_date(one, name) for one in measured.values()]
        rows.append((f"`{name}`", part.about, f"{part.minutes:g}", *dates))
    yield markdown.table(heads, rows)


def _with_figures(results: Mapping[Column, Measured]) -> dict[Column, Measured]:
    """Return the kinds of machine on which a part was measured."""
    return {column: one for column, one in results.items() if one.documents}


def _date(measured: Measured, part: str) -> str:
    document = measured.documents.get(part)
    return NOT_MEASURED if document is None else str(document["date"])


def _column(measured: Measured) -> Iterable[str]:
    """Yield the machine, and the conditions of each part."""
    if not measured.documents:
        return
    for where, parts in _by_machine(measured).items():
        yield f"{where}. Parts: {', '.join(f'`{part}`' for part in parts)}."
    peers = {
        name: tool for one in measured.documents.values() for name, tool in one["peers"].items()
    }
    names = ", ".join(f"{name} {version}".strip() for name, version in peers.items())
    yield f"Other tools: {names}."
    missing = {name for one in measured.documents.values() for name in one["missing"]}
    if missing - peers.keys():
        yield f"Missing tools: {', '.join(sorted(missing - peers.keys()))}."
    yield (
        "*CPU use before* is the share of the CPU time that other processes used just before the "
        "part. *Load* is the load average, which includes the launches of the benchmark. *Stolen* "
        "is the share of time that the hypervisor gave to other guests. *Class* is the scheduling "
        "class of the whole part."
    )
    rows = [
        (f"`{part}`", str(one["scale"]["rounds"]), *load_cells(one), _class(one))
        for part, one in measured.documents.items()
    ]
    before = ("CPU use before", "load before (1 min)", "load during the part")
    heads = ("part", "rounds", *before, "duration", "stolen", "idle", "class")
    yield markdown.table(heads, rows)
    if any(one.get("favoured") for one in measured.documents.values()):
        yield FAVOURED
    failures = [
        f"- `{part}`: {message} ({times} times)"
        for part, one in measured.documents.items()
        for message, times in one["failures"].items()
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
    measured = _with_figures(results)
    found = {column: targets(one) for column, one in measured.items()}
    limits: dict[str, str] = {}
    for of_column in found.values():
        limits.update({target.measure: target.limit for target in of_column})
    if not limits:
        return
    yield (
        f"{_places(measured)} [Reported wall time](#reported-wall-time) defines *warm*, *cold* and "
        "*bias*. A target is *open* if the measurement cannot decide it."
    )
    columns = (head for one in measured for head in (f"measured {one.title}", "verdict"))
    heads = ("measure", "target", *columns, "reason (missed or open)")
    rows = []
    for measure, limit in limits.items():
        cells = [_cells(of_column, measure) for of_column in found.values()]
        figures = (cell for figure, verdict, _ in cells for cell in (figure, verdict))
        causes = dict.fromkeys(reason for *_, reason in cells if reason)
        rows.append((measure, limit, *figures, "; ".join(causes)))
    yield markdown.table(heads, rows)
    reasons = {target.reason for of_column in found.values() for target in of_column}
    lines = [f"- *{name}*: {text}" for name, text in REASONS.items() if name in reasons]
    if lines:
        yield "Reasons:\n\n" + "\n".join(lines)


def _places(measured: Mapping[Column, Measured]) -> str:
    """Return a sentence on each kind of machine, with the dates of its parts."""
    sentences = []
    for column, one in measured.items():
        dates = sorted(str(document["date"]) for document in one.documents.values())
        models = dict.fromkeys(
            f"{document['machine']['model']}, {document['machine']['cpus']} CPUs"
            for document in one.documents.values()
        )
        span = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
        sentences.append(f"Measured {column.title} on {'; '.join(models)}, {span}.")
    return " ".join(sentences)


def _cells(found: Sequence[Target], measure: str) -> tuple[str, str, str]:
    """Return figure, verdict and reason of a target on one kind of machine."""
    for target in found:
        if target.measure == measure:
            return target.figure, markdown.verdict(target.verdict), target.reason
    return NOT_MEASURED, "", ""


def _details(measured: Measured) -> Iterable[str]:
    """Yield the tables of one machine."""
    if not measured.documents:
        return
    table = measured.table
    makers = {
        "Reported wall time": _timing,
        "Programs that switch contexts or start processes": _programs,
        "Database server and client": _database,
        "Cost of a launch": _cost,
        "Start of a command": _startup,
        "Reported memory": _memory,
        "Enforcement of time limits": _killing,
        "Program with much output": _output,
    }
    for title, make in makers.items():
        yield markdown.section(title, make(table), level=3)


# --- cost -------------------------------------------------------------------------------------

QUARTILES = ("10 %", "25 %", "median", "75 %")
OVER = ("beyond plain, 10 %", "beyond plain, median", "ratio to plain")
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
        "Wall time of each launch of `/bin/true`. *assay, library* is one pass of the loop of "
        "`assay measure`: plan, launcher, speed probe, verdict and the row in SQLite."
    )
    yield (
        "The rows of whole commands (`assay measure`, hyperfine, pyperf, ReBench) show the cost of "
        "a further launch: the time of a long command minus that of a short one, divided by the "
        "difference in launches. *Plain* is plain spawn and wait."
    )
    yield markdown.table(("launched by", *QUARTILES, *OVER), rows)
    commands = [
        (tool, f"{launches:.0f}", *_ms(found), *_over(found, plain))
        for tool in COMMANDS
        if (found := table.quartiles(cost.key(tool, "command_s"))) is not None
        and (launches := table.median(cost.key(tool, "command_launches"))) is not None
    ]
    if commands:
        yield "Time of whole commands, including start and end, divided by the number of launches:"
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


def _timing(table: Table) -> Iterable[str]:
    rows = [row for spin_ms in timing.SPINS_MS for row in _timed(table, timing.case_of(spin_ms))]
    if rows:
        yield (
            "The program spins for a known time by the monotonic clock. Exec and exit add to that "
            "time. A *cold* launch is the one that counts in a new `assay measure --runs 2`. "
            "*Warm* launches are the later ones of a long `assay measure`. *Plain spawn and wait* "
            "is a direct launch by a small program."
        )
        yield (
            "*Bias* is the reported time minus a reference time from other launches of the same "
            "round. The references are plain spawn and wait, and the second clock (exec to exit). "
            "The interval is that of the bias to the second clock."
        )
        heads = (
            "spin",
            "reported by",
            *QUARTILES,
            "bias to plain",
            "bias to second clock",
            "interval",
        )
        yield markdown.table((*heads, "interquartile range", "CPU time"), rows)
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
    """Yield the share of launches that are far from the true time."""
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
        "A launch counts as *off* if its reported time differs by more than "
        f"{timing.OFF_S * MS:g} ms from the median of plain spawn and wait. The launches of all "
        "spins are counted together. The last column is a 95 % interval (Newcombe's method 10) of "
        "the difference to plain spawn and wait, in launches of 1,000."
    )
    heads = ("reported by", "launches", "off", "off, of 1,000", "beyond plain, of 1,000")
    yield markdown.table(heads, rows)


def _ends(table: Table) -> Iterable[str]:
    """Yield the times before and after the spin in the plain figure."""
    rows = []
    for spin_ms in timing.SPINS_MS:
        case = timing.case_of(spin_ms)
        parts = [
            table.quartiles(timing.end_key(case, quantity)) for quantity in ("before_s", "after_s")
        ]
        reported = [
            table.quartiles(timing.key(case, tool))
            for tool in (timing.PLAIN, timing.EXEC, timing.WARM)
        ]
        beyond = [_beyond(one, spin_ms) for one in reported]
        rows.append((case, *(f"{one.median * MS:.3f}" if one else "" for one in parts), *beyond))
    if any(row[1] for row in rows):
        yield (
            "The time of plain spawn and wait exceeds the lifetime of the program. A program that "
            "records its own first and last moment shows the excess (medians):"
        )
        yield (
            "- *before*: clone, exec and dynamic loader;\n"
            "- *after*: exit, and the time until the waiting parent runs again; it grows with the "
            "idle time of the parent's CPU;\n"
            "- *beyond the spin*: reported time minus the spin, for plain spawn and wait, the "
            "second clock, and assay (warm)."
        )
        yield (
            "assay's time begins at the exec. Two processes of assay wait for the exit, and the "
            "first that wakes up records it."
        )
        beyond_heads = (f"beyond the spin, {name}" for name in ("plain", "second clock", "assay"))
        heads = ("spin", "before", "after", *beyond_heads)
        yield markdown.table(heads, rows)


def _beyond(reported: Quartiles | None, spin_ms: int) -> str:
    return f"{reported.median * MS - spin_ms:.3f}" if reported else ""


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
            "Each round launches a program directly and in each way under assay, in random order. "
            "Direct launches are timed by plain spawn and wait. Times under assay are `wall_s`, "
            "`user_s` and `sys_s` of the record."
        )
        yield (
            "- *pipe ping-pong*: 100,000 round trips of a byte through two pipes;\n"
            "- *script of 50 short processes*: a shell script that starts them;\n"
            "- *10,000 short children*: started in sequence;\n"
            "- *5,000 threads*: started by one process."
        )
        heads = ("program", "launched by", "wall time", "change", "CPU time", "change")
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
            "One program runs PostgreSQL with its own data and pgbench with "
            f"{database.CLIENTS} clients, which use only a Unix socket. CPU time (in µs) and "
            "context switches are those of server and client together, per transaction. The "
            "program reads them from its children. pgbench reports the throughput."
        )
        heads = ("launched by", "CPU time", "change", "context switches", "change")
        yield markdown.table((*heads, "transactions/s", "change"), rows)


# --- memory -----------------------------------------------------------------------------------

REPORTED = {
    (memory.ASSAY, "anonymous_bytes"): "assay, anonymous",
    (memory.LARGE, "anonymous_bytes"): f"assay of {BALLAST_MIB} MiB, anonymous",
    (memory.ASSAY, "charged_bytes"): "assay, charged",
    ("BenchExec", "charged_bytes"): "BenchExec",
    ("GNU time", "resident_bytes"): "GNU time",
    ("pyperf", "resident_bytes"): "pyperf",
    ("hyperfine", "resident_bytes"): "hyperfine",
    (memory.WAIT4, "resident_bytes"): f"wait4 in Python of {BALLAST_MIB} MiB",
}
"""Head of each column, by tool and quantity."""


def _memory(table: Table) -> Iterable[str]:
    columns = [
        (tool, quantity, head)
        for (tool, quantity), head in REPORTED.items()
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
        "Error of the median, in percent of the true value. If the true value is 0, the cell shows "
        "the reported value."
    )
    yield (
        "- *anonymous*: memory without files; *charged*: the charge of the control group, with the "
        "page cache (assay's `peak_bytes`);\n"
        "- BenchExec reports the charge of the control group;\n"
        "- the other tools report the largest resident size of one process, including file pages;\n"
        f"- *of {BALLAST_MIB} MiB*: the measuring process itself uses that much memory;\n"
        "- tools that do not report memory have no column."
    )
    yield markdown.table(("program", *(head for _, _, head in columns)), rows)


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
            "*Overshoot* is the time from the limit to the end of the last process. All processes "
            "of the tree hold the writing end of a named pipe, so that its reader sees the end of "
            "the last process without polling. *Left* are processes that still ran 0.3 s after the "
            "tool had ended."
        )
        yield (
            "The limit was 0.5 s for assay (with `--grace 0s`) and for `timeout -k 0.05`. It was 1 "
            "s for `runexec`, its finest step. `hyperfine` has no time limit."
        )
        overshoot = ("overshoot, median", "overshoot, longest")
        heads = ("process tree", "limited by", *overshoot, "left", "launches")
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
            "Time from the start of the program to the stored sample. To read a metric from the "
            "output, assay maps the file of the output. The mapped pages count as resident memory "
            "until other processes need the memory."
        )
        heads = ("output", "to", *QUARTILES, "growth of assay", "peak of `assay-exec`")
        yield markdown.table(heads, rows)


def _taken(table: Table, case: str, tool: str) -> Iterable[str]:
    for quantity in ("grown_bytes", "launcher_bytes"):
        values = table.values(output.key(case, tool, quantity))
        yield f"{max(values) / MIB:.1f}" if values else ""


# --- helpers ----------------------------------------------------------------------------------


def _ms(found: Quartiles, digits: int = 2) -> list[str]:
    values = (found.p10, found.q1, found.median, found.q3)
    return [f"{value * MS:.{digits}f}" for value in values]
