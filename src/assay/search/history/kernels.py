"""Kernels of a study: their evidence, and the differences between them.

The first sample of each boot carries the readings that differ from those of the boot in which the
study began. A reading counts as a difference of two kernels if it is the same in all boots of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from assay.records import Evidence, KernelComparison, KernelDifference, Sample
from assay.search.history.packed_samples import with_evidence

KERNEL_EVIDENCE = "boot_kernel"
"""Kind of evidence on the kernel of a boot."""
OPTION_PREFIX = "CONFIG_"
"""Prefix of option names in kernel configuration files."""
_OFF = (None, "n")
"""Values of a disabled option; older kernels do not know it."""

Readings = Mapping[str, str]


class _Note(msgspec.Struct, frozen=True):
    """Note of the evidence: releases, initial and current readings, releases without options."""

    began: str
    release: str
    differs: dict[str, tuple[str | None, str | None]]
    unread: tuple[str, ...] = ()


def kernel_evidence(began: tuple[str, Readings], here: tuple[str, Readings]) -> Evidence:
    """Describe the kernel of a boot by its differences from the first one.

    Args:
        began: release and readings of the boot in which the study began.
        here: release and readings of the current boot.
    """
    (first, then), (release, now) = began, here
    unread = [name for name, found in (began, here) if not any(map(_is_option, found))]
    names = [n for n in sorted(then.keys() | now.keys()) if not (unread and _is_option(n))]
    differs = {name: (then.get(name), now.get(name)) for name in names}
    differs = {name: pair for name, pair in differs.items() if not _is_equivalent(name, *pair)}
    note = _Note(first, release, differs, tuple(dict.fromkeys(unread)))
    return Evidence(kind=KERNEL_EVIDENCE, note=msgspec.json.encode(note).decode())


def kernels_of(samples: Sequence[Sample]) -> KernelComparison | None:
    """Compare the kernels of samples; return ``None`` if there is only one."""
    found = with_evidence(samples, KERNEL_EVIDENCE)
    notes = [note for sample in found for note in _notes(sample)]
    if not notes:
        return None
    first = notes[0].began
    releases = tuple(dict.fromkeys((first, *(note.release for note in notes))))
    if len(releases) < 2:
        return None
    unread = tuple(dict.fromkeys(name for note in notes for name in note.unread))
    names = sorted({name for note in notes for name in note.differs})
    differences = []
    for name in names:
        if unread and _is_option(name):
            continue
        then = next(note.differs[name][0] for note in notes if name in note.differs)
        values = [
            {note.differs.get(name, (then, then))[1] for note in notes if note.release == release}
            or {then}
            for release in releases
        ]
        if all(len(seen) == 1 for seen in values):
            each = tuple(seen.pop() for seen in values)
            if any(not _is_equivalent(name, each[0], other) for other in each[1:]):
                differences.append(KernelDifference(name=name, values=each))
    differences.sort(
        key=lambda change: (_is_option(change.name), None in change.values, change.name)
    )
    return KernelComparison(
        releases=releases, differences=tuple(differences), unreadable_releases=unread
    )


def _notes(sample: Sample) -> list[_Note]:
    notes = (e.note for e in sample.evidence if e.kind == KERNEL_EVIDENCE and e.note)
    return [msgspec.json.decode(text, type=_Note) for text in notes]


def _is_option(name: str) -> bool:
    return name.startswith(OPTION_PREFIX)


def _is_equivalent(name: str, one: str | None, other: str | None) -> bool:
    return one == other or (_is_option(name) and one in _OFF and other in _OFF)
