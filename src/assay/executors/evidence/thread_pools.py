"""Thread-pool variables that the measured processes read, as evidence.

Scripts and ``assay run --from`` set only these. A study sets the variables of all known pools, and
most programs read one or two of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.machine.programs.pool_readers import read_variables
from assay.records import Evidence, Launch, RunFacts, Sample, Stage
from assay.settings.pools import POOLS

KIND = "pools"


def pools_evidence(launch: Launch, facts: RunFacts) -> Evidence | None:
    """Return the variables that a first launch read; without a value if they are unknown.

    The result is ``None`` if the launch ended before it was examined.
    """
    if launch.stage is not Stage.SURVEY or facts.readback is None or facts.readback.maps is None:
        return None
    found = read_variables(facts.readback.maps, POOLS)
    if found is None:
        return Evidence(kind=KIND)
    names = " ".join(name for name in POOLS if name in found)
    return Evidence(kind=KIND, value=float(len(found)), note=names or None)


def pools_read_in(samples: Iterable[Sample]) -> frozenset[str] | None:
    """Return the variables that the first launches of a study read.

    Returns:
        ``None`` if they are unknown for an examined launch, or no launch was examined.
    """
    found: set[str] = set()
    known = False
    for sample in samples:
        if sample.launch.stage is not Stage.SURVEY or not sample.outcome.succeeded:
            continue
        piece = next((one for one in sample.evidence if one.kind == KIND), None)
        if piece is None:
            continue  # too short to be examined
        if piece.value is None:
            return None
        known = True
        found.update((piece.note or "").split())
    return frozenset(found) if known else None
