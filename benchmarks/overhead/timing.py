"""Timing: whether the time that a tool tells is that of plain spawn and wait.

The program spins for a known time by the monotonic clock, so that its length does not hang on the
speed of the machine; exec and exit come to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from . import tools
from .bench import Bench
from .native import spawn_walls_s, spin_ends
from .reading import Key, Reading
from .schedule import Visit

NAME = "timing"
SPINS_MS = (1, 5, 20, 100)
PLAIN = "plain spawn and wait"
ASSAY = "assay"


def case_of(spin_ms: int) -> str:
    """Name of a spin."""
    return f"{spin_ms} ms"


def key(case: str, tool: str) -> Key:
    """Of a figure of this part."""
    return Key(NAME, case, tool, "wall_s")


def end_key(case: str, quantity: str) -> Key:
    """Of what lies before (``before_s``) and after (``after_s``) the spin in the plain figure."""
    return Key(NAME, case, PLAIN, quantity)


def visits(bench: Bench) -> list[Visit]:
    """All visits of this part."""
    return [*_told(bench), *_ends(bench)]


def _ends(bench: Bench) -> Iterable[Visit]:
    for spin_ms in SPINS_MS:
        case = case_of(spin_ms)

        def readings(spin_ms: int = spin_ms, case: str = case) -> Iterable[Reading]:
            for ends in spin_ends(bench.programs, bench.scale.spins, spin_ms):
                yield Reading(end_key(case, "before_s"), ends.before_s)
                yield Reading(end_key(case, "after_s"), ends.after_s)

        yield Visit(f"spin of {case}", f"{PLAIN}, its ends", readings)


def _told(bench: Bench) -> list[Visit]:
    return [
        Visit(f"spin of {case_of(spin_ms)}", tool, _visit(tool, spin_ms, walls, bench))
        for case, spin_ms in enumerate(SPINS_MS)
        for tool, walls in _tools(bench).items()
        if bench.wanted(tool, case)
    ]


Walls = Callable[[list[str]], Iterable[float]]


def _visit(tool: str, spin_ms: int, walls: Walls, bench: Bench) -> Callable[[], Iterable[Reading]]:
    def readings() -> Iterable[Reading]:
        found = list(walls([bench.programs.spin, str(spin_ms)]))
        return [Reading(key(case_of(spin_ms), tool), wall_s) for wall_s in found]

    return readings


def _tools(bench: Bench) -> dict[str, Walls]:
    """What each tool tells of a command, launched a few times."""
    spins, few = bench.scale.spins, max(2, bench.scale.spins // 2)
    folder, peers, benchexec = bench.folder, bench.peers, bench.benchexec
    found: dict[str, Walls] = {
        PLAIN: lambda argv: spawn_walls_s(bench.programs, bench.rng, spins, [argv])[0],
        ASSAY: lambda argv: bench.assay.ask(job="measure", argv=argv, launches=spins)["wall_s"],
    }
    if "hyperfine" in peers:
        found["hyperfine"] = lambda argv: tools.hyperfine(peers, argv, spins, folder).wall_s
    if "pyperf" in peers:
        found["pyperf"] = lambda argv: tools.pyperf(peers, argv, few, folder).wall_s
    if benchexec is not None:
        found["BenchExec"] = lambda argv: benchexec.ask(
            job="runs", argv=argv, launches=few, container=False
        )["wall_s"]
        if bench.contained:
            found["BenchExec, container"] = lambda argv: benchexec.ask(
                job="runs", argv=argv, launches=few, container=True
            )["wall_s"]
    return found
