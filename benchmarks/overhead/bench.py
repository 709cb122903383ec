"""State that all parts share."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from .native import Programs
from .peers import Peers
from .schedule import Scale, Unusable
from .server import Server, assay_server, benchexec_server

BALLAST_MIB = 600


@dataclass(frozen=True)
class Bench:
    """State that all parts share.

    Attributes:
        folder: temporary folder for files.
        assay, large: workers with the library; ``large`` uses 600 MiB.
        benchexec: worker with BenchExec; absent without BenchExec.
        contained: true if containers of BenchExec are available.
    """

    programs: Programs
    peers: Peers
    scale: Scale
    rng: random.Random
    folder: Path
    assay: Server
    large: Server
    benchexec: Server | None
    contained: bool

    def wanted(self, tool: str, case: int) -> bool:
        """Return whether a tool runs a case; in a smoke test, others run only the first."""
        return self.scale.peers_everywhere or case == 0 or tool.startswith("assay")


@contextmanager
def set_up(
    programs: Programs, peers: Peers, scale: Scale, rng: random.Random, folder: Path
) -> Iterator[Bench]:
    """Start the workers; end them afterwards."""
    with ExitStack() as stack:
        benchexec = None
        if "BenchExec" in peers:
            python = peers.python("BenchExec")
            benchexec = stack.enter_context(benchexec_server(python, folder))
            if not _runs(benchexec, container=False):
                benchexec, peers = None, peers.without("BenchExec")
        assay = stack.enter_context(assay_server())
        large = stack.enter_context(assay_server(BALLAST_MIB))
        contained = benchexec is not None and _runs(benchexec, container=True)
        yield Bench(programs, peers, scale, rng, folder, assay, large, benchexec, contained)


def _runs(benchexec: Server, *, container: bool) -> bool:
    try:
        benchexec.ask(job="runs", argv=["/bin/true"], launches=1, container=container)
    except Unusable:
        return False
    return True
