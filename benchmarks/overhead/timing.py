"""Bias of the wall time that a tool reports.

The program spins for a known time by the monotonic clock, so that its duration does not depend on
the speed of the machine. Exec and exit add to that time. Two clocks measure the true time in the
same launches: from before a plain spawn, or from just before exec, to after the wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from . import tools
from .bench import Bench
from .native import spawned, spin_ends
from .reading import Key, Reading
from .schedule import Visit

NAME = "timing"
ROUNDS = 60
SPINS_MS = (1, 5, 20, 100)
LAUNCHES = {1: 20, 5: 20, 20: 20, 100: 5}
"""Launches of each spin in a round; the share of launches that are off requires thousands."""
PLAIN = "plain spawn and wait"
EXEC = "second clock, exec to exit"
WARM = "assay measure, warm"
COLD = "assay measure, cold"
ASSAY = (WARM, COLD)
OFF_S = 5e-3
"""Least distance from the median of plain spawn and wait at which a launch is off, in seconds."""


def case_of(spin_ms: int) -> str:
    """Return the name of a spin."""
    return f"{spin_ms} ms"


def key(case: str, tool: str) -> Key:
    """Return the key of a wall time."""
    return Key(NAME, case, tool, "wall_s")


def cpu_key(case: str, tool: str) -> Key:
    """Return the key of a CPU time, user and system together."""
    return Key(NAME, case, tool, "cpu_s")


def end_key(case: str, quantity: str) -> Key:
    """Return the key of the time before (``before_s``) or after (``after_s``) the spin."""
    return Key(NAME, case, PLAIN, quantity)


def visits(bench: Bench) -> list[Visit]:
    """Return all visits of this part."""
    return [*_reported(bench), *_ends(bench)]


def _ends(bench: Bench) -> Iterable[Visit]:
    for spin_ms in SPINS_MS:
        case = case_of(spin_ms)

        def readings(spin_ms: int = spin_ms, case: str = case) -> Iterable[Reading]:
            for ends in spin_ends(bench.programs, bench.scale.spins, spin_ms):
                yield Reading(end_key(case, "before_s"), ends.before_s)
                yield Reading(end_key(case, "after_s"), ends.after_s)

        yield Visit(f"spin of {case}", f"{PLAIN}, its ends", readings, bench.scale.seldom)


def _reported(bench: Bench) -> list[Visit]:
    found = []
    for number, spin_ms in enumerate(SPINS_MS):
        group = f"spin of {case_of(spin_ms)}"
        launches = min(LAUNCHES[spin_ms], bench.scale.launches)
        found.append(Visit(group, PLAIN, _plain(bench, spin_ms, launches)))
        for tool, every, reader in _tools(bench, launches):
            if bench.wanted(tool, number):
                found.append(Visit(group, tool, _visit(tool, spin_ms, reader, bench), every))
    return found


Reported = tuple[float, float | None]
"""Wall time, and CPU time if the tool reports it for each launch."""
Reader = Callable[[list[str]], Iterable[Reported]]


def _plain(bench: Bench, spin_ms: int, launches: int) -> Callable[[], Iterable[Reading]]:
    def readings() -> Iterable[Reading]:
        argv = [bench.programs.spin, str(spin_ms)]
        for launch in spawned(bench.programs, bench.rng, launches, [argv])[0]:
            yield Reading(key(case_of(spin_ms), PLAIN), launch.spawn_s)
            yield Reading(key(case_of(spin_ms), EXEC), launch.exec_s)
            yield Reading(cpu_key(case_of(spin_ms), PLAIN), launch.cpu_s)

    return readings


def _visit(
    tool: str, spin_ms: int, reader: Reader, bench: Bench
) -> Callable[[], Iterable[Reading]]:
    def readings() -> Iterable[Reading]:
        for wall_s, cpu_s in reader([bench.programs.spin, str(spin_ms)]):
            yield Reading(key(case_of(spin_ms), tool), wall_s)
            if cpu_s is not None:
                yield Reading(cpu_key(case_of(spin_ms), tool), cpu_s)

    return readings


def _tools(bench: Bench, launches: int) -> Iterable[tuple[str, int, Reader]]:
    """Yield each tool, the interval between its rounds, and a reader of its times."""
    few = max(2, bench.scale.spins // 2)
    folder, peers, benchexec, seldom = (
        bench.folder,
        bench.peers,
        bench.benchexec,
        bench.scale.seldom,
    )
    yield WARM, 1, lambda argv: _measured(bench, argv, launches + 1)[1:]
    yield COLD, 1, lambda argv: _measured(bench, argv, 1)
    if "hyperfine" in peers:
        yield (
            "hyperfine",
            1,
            lambda argv: _walls(tools.hyperfine(peers, argv, launches, folder).wall_s),
        )
    if "perf stat" in peers:
        yield "perf stat", 1, lambda argv: _walls(tools.perf_stat(peers, argv, few, folder))
    if "pyperf" in peers:
        yield "pyperf", seldom, lambda argv: _walls(tools.pyperf(peers, argv, few, folder).wall_s)
    if benchexec is not None:
        for container in (False, True)[: 2 if bench.contained else 1]:
            name = "BenchExec, container" if container else "BenchExec"

            def runs(argv: list[str], container: bool = container) -> Iterable[Reported]:
                job = benchexec.ask(job="runs", argv=argv, launches=few, container=container)
                return _walls(job["wall_s"])

            yield name, seldom, runs


def _walls(walls_s: Iterable[float]) -> Iterable[Reported]:
    return ((wall_s, None) for wall_s in walls_s)


def _measured(bench: Bench, argv: list[str], launches: int) -> list[Reported]:
    samples = tools.measured(argv, launches, bench.folder)
    return [(sample["wall_s"], sample["user_s"] + sample["sys_s"]) for sample in samples]
