"""Shared objects that a program had mapped, as evidence of its first launch.

The digest of the program covers the libraries that it links to. Objects that it loads at run time
(plug-ins, a BLAS behind a switch) are known only from ``/proc/PID/maps``, which the survey reads
completely. A file is identified by path, size and modification time, as in
:mod:`assay.machine.identity`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from assay.records import Evidence, Launch, RunFacts, Sample, Stage

KIND = "libraries"
_OBJECT = re.compile(r"\.so(?:\.[0-9.]+)?$")
_STAMP = re.compile(r"(?P<path>/.+) \d+ \d+")


def libraries_evidence(launch: Launch, facts: RunFacts) -> Evidence | None:
    """Return the mapped shared objects; ``None`` if the maps were not read completely."""
    if launch.stage is not Stage.SURVEY or facts.readback is None or facts.readback.maps is None:
        return None
    objects = sorted({path for path in facts.readback.maps if _OBJECT.search(path)})
    stamps = [stamp for stamp in map(_stamp, objects) if stamp is not None]
    if not stamps:
        return None
    return Evidence(kind=KIND, value=float(len(stamps)), note="\n".join(stamps))


def libraries_changed(samples: Iterable[Sample], *, include_removed: bool = True) -> list[str]:
    """Return the sorted paths of libraries that have changed since samples were taken.

    Args:
        samples: samples; the first one names the mapped objects.
        include_removed: include removed libraries as well.
    """
    stamps = {
        line
        for sample in samples
        for evidence in sample.evidence
        if evidence.kind == KIND and evidence.note
        for line in evidence.note.splitlines()
    }
    found = [match for match in map(_STAMP.fullmatch, stamps) if match]
    now = {match[0]: _stamp(match["path"]) for match in found}
    return sorted(
        {
            match["path"]
            for match in found
            if now[match[0]] != match[0] and (include_removed or now[match[0]] is not None)
        }
    )


def _stamp(path: str) -> str | None:
    try:
        seen = Path(path).stat()
    except OSError:
        return None  # unpacked for the run, and removed after it
    return f"{path} {seen.st_size} {seen.st_mtime_ns}"
