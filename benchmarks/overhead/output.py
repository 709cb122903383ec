"""Cost of a program with much output, compared with output to a plain file."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterable

from .bench import Bench
from .native import TIMEOUT_S
from .reading import Key, Reading
from .schedule import Unusable, Visit

NAME = "output"
PLAIN = "plain file"
ASSAY = "assay"
FIGURE = "assay, a figure read from it"
PATTERN = "score=([0-9.]+)"


def key(case: str, tool: str, quantity: str) -> Key:
    """Return the key of a figure of this part."""
    return Key(NAME, case, tool, quantity)


def visits(bench: Bench) -> list[Visit]:
    """Return all visits of this part, each with one launch."""
    makers: dict[str, Callable[[], Iterable[Reading]]] = {
        PLAIN: lambda: _plain(bench),
        ASSAY: lambda: _assay(bench, ASSAY, None),
        FIGURE: lambda: _assay(bench, FIGURE, PATTERN),
    }
    return [Visit(NAME, name, make, bench.scale.seldom) for name, make in makers.items()]


def case_of(output_mib: int) -> str:
    """Return the name of an amount of text."""
    return f"{output_mib} MiB"


def _argv(bench: Bench) -> list[str]:
    return [bench.programs.flood, str(bench.scale.output_mib)]


def _plain(bench: Bench) -> Iterable[Reading]:
    _written_s(bench)
    yield Reading(key(case_of(bench.scale.output_mib), PLAIN, "took_s"), _written_s(bench))


def _written_s(bench: Bench) -> float:
    """Return the time to write the output to a file, which is then removed.

    It also runs before each measured time: a guest that returned memory to its host gets it back
    page by page, which costs the first writer seconds.
    """
    file = bench.folder / "flood"
    began = time.perf_counter()
    with file.open("wb") as stream:
        subprocess.run(_argv(bench), stdout=stream, check=True, timeout=TIMEOUT_S)
    took_s = time.perf_counter() - began
    file.unlink()
    return took_s


def _assay(bench: Bench, tool: str, pattern: str | None) -> Iterable[Reading]:
    _written_s(bench)
    answer = bench.assay.ask(job="launch", argv=_argv(bench), pattern=pattern)
    if pattern is not None and answer["score"] is None:
        raise Unusable("the figure at the end of the output was not found")
    for quantity in ("took_s", "wall_s", "grown_bytes", "launcher_bytes"):
        yield Reading(key(case_of(bench.scale.output_mib), tool, quantity), answer[quantity])
