"""Duration of commands that do no work."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from . import tools
from .bench import Bench
from .native import spawn_walls_s
from .reading import Key, Reading
from .schedule import Visit

NAME = "startup"
CASE = "start"
BARE = "Python interpreter of assay, no work"
IMPORT = "Python interpreter of assay, importing `assay.cli.main`"
PROSE = (BARE, IMPORT)
"""Names that are descriptions rather than commands."""
HELP = {"hyperfine": "hyperfine", "pyperf": "pyperf", "BenchExec": "runexec"}


def key(command: str) -> Key:
    """Return the key of a figure of this part."""
    return Key(NAME, CASE, command, "wall_s")


def visits(bench: Bench) -> list[Visit]:
    """Return one visit, with all commands interleaved."""
    return [Visit(NAME, "all", lambda: _all(bench))]


def commands(bench: Bench) -> dict[str, list[str]]:
    """Return the command lines by name."""
    python, assay = sys.executable, tools.assay()
    found = {
        BARE: [python, "-c", "pass"],
        IMPORT: [python, "-c", "import assay.cli.main"],
        "assay --help": [*assay, "--help"],
        "assay measure --help": [*assay, "measure", "--help"],
        "assay run -- /bin/true": [*assay, "run", "--", "/bin/true"],
    }
    for name, program in HELP.items():
        if name in bench.peers:
            found[f"{program} --help"] = [bench.peers.path(name), "--help"]
    return found


def _all(bench: Bench) -> Iterable[Reading]:
    words = commands(bench)
    found = spawn_walls_s(bench.programs, bench.rng, bench.scale.few, list(words.values()))
    for name, walls_s in zip(words, found, strict=True):
        for wall_s in walls_s:
            yield Reading(key(name), wall_s)
