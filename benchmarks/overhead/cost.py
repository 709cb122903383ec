"""Cost of a launch beyond the program, `/bin/true`.

Direct launchers are timed launch by launch. A tool that makes many launches is timed with a small
and a large command. Their difference is the cost of a further launch. The time of the large command
divided by its launches includes the start and the end of the tool.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable

from assay.executors.overhead import READ_BACK
from assay.launch.driver import find_launcher

from . import tools
from .bench import Bench
from .native import spawn_walls_s
from .reading import Key, Reading
from .schedule import Visit
from .tools import Report

NAME = "cost"
EACH = "cost of each launch"
WHOLE = "cost of whole commands"
CASE = "/bin/true"
TRUE = ("/bin/true",)
PLAIN = "plain spawn and wait"
EMPTY = "assay-exec, empty plan"
CONTAINED = "assay-exec, contained and read back"
LIBRARY = "assay, library"


def key(tool: str, quantity: str) -> Key:
    """Return the key of a figure of this part."""
    return Key(NAME, CASE, tool, quantity)


def visits(bench: Bench) -> list[Visit]:
    """Return all visits of this part."""
    found = [
        Visit(EACH, "direct launchers", lambda: _direct(bench)),
        Visit(EACH, "assay library", lambda: _library(bench)),
        *_commands(bench),
    ]
    if bench.benchexec is not None:
        found.append(Visit(EACH, "BenchExec library", lambda: _benchexec(bench, False)))
        if bench.contained:
            found.append(Visit(EACH, "BenchExec container", lambda: _benchexec(bench, True)))
    return found


def _direct(bench: Bench) -> Iterable[Reading]:
    commands = dict(_launchers(bench))
    found = spawn_walls_s(bench.programs, bench.rng, bench.scale.launches, list(commands.values()))
    for tool, walls_s in zip(commands, found, strict=True):
        for wall_s in walls_s:
            yield Reading(key(tool, "launch_s"), wall_s)


def _launchers(bench: Bench) -> Iterable[tuple[str, list[str]]]:
    """Yield launchers; plans are files, so that they are parsed and the record is written."""
    yield PLAIN, list(TRUE)
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    if "taskset" in bench.peers:
        yield "taskset", [bench.peers.path("taskset"), "-c", cpus, *TRUE]
    if "numactl" in bench.peers:
        yield "numactl", [bench.peers.path("numactl"), "--localalloc", *TRUE]
    plans: dict[str, dict[str, object]] = {
        EMPTY: {"containment": "none"},
        CONTAINED: {"readback": READ_BACK},
    }
    for number, (name, more) in enumerate(plans.items()):
        plan, record = bench.folder / f"plan{number}.json", bench.folder / f"record{number}.json"
        plan.write_text(json.dumps({"schema": 2, "argv": list(TRUE), **more}))
        launcher = str(find_launcher(os.environ))
        yield name, [launcher, "--plan", str(plan), "--record", str(record)]


def _library(bench: Bench) -> Iterable[Reading]:
    """Yield the costs without the first launch, which opens files that later ones reuse."""
    answer = bench.assay.ask(job="measure", argv=list(TRUE), launches=bench.scale.launches + 2)
    for between_s in answer["between_s"][1:]:
        yield Reading(key(LIBRARY, "launch_s"), between_s)


def _benchexec(bench: Bench, container: bool) -> Iterable[Reading]:
    assert bench.benchexec is not None
    answer = bench.benchexec.ask(
        job="runs", argv=list(TRUE), launches=bench.scale.few, container=container
    )
    tool = "BenchExec, library, container" if container else "BenchExec, library"
    for took_s in answer["took_s"]:
        yield Reading(key(tool, "launch_s"), took_s)


def _commands(bench: Bench) -> Iterable[Visit]:
    many, few = bench.scale.launches * 8, bench.scale.few * 4
    folder, peers, seldom = bench.folder, bench.peers, bench.scale.seldom
    yield _sized("assay measure", many, lambda n: tools.assay_measure(TRUE, n, folder))
    if "hyperfine" in peers:
        yield _sized("hyperfine", many, lambda n: tools.hyperfine(peers, TRUE, n, folder))
    if "pyperf" in peers:
        yield _sized("pyperf", few, lambda n: tools.pyperf(peers, TRUE, n, folder))
    if "ReBench" in peers:  # takes two seconds to start
        yield _sized("ReBench", many, lambda n: tools.rebench(peers, TRUE, n, folder), seldom)
    if "BenchExec" in peers:
        yield Visit(WHOLE, "runexec", lambda: _runexec(bench))


def _sized(tool: str, launches: int, make: Callable[[int], Report], every: int = 1) -> Visit:
    """Return a visit with a large and a small command."""
    small = max(2, launches // 8)

    def readings() -> Iterable[Reading]:
        large_s, small_s = make(launches).took_s, make(small).took_s
        yield Reading(key(tool, "further_s"), (large_s - small_s) / (launches - small))
        yield Reading(key(tool, "command_s"), large_s / launches)
        yield Reading(key(tool, "command_launches"), launches)

    return Visit(WHOLE, tool, readings, every)


def _runexec(bench: Bench) -> Iterable[Reading]:
    took_s = tools.runexec(bench.peers, TRUE, bench.folder, container=False).took_s
    yield Reading(key("BenchExec, runexec", "command_s"), took_s)
    yield Reading(key("BenchExec, runexec", "command_launches"), 1)
