"""Same work: whether two arms of a study wrote the same output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from assay.records import Evidence, Outcome, Sample, StudySpec
from assay.records.configuration import show_value
from assay.records.domain import Choices
from assay.records.sample import OUTPUT
from assay.units import show_bytes, show_count
from assay.untrusted import clean

EACH = 2
"""Launches of each arm that show that its output is constant."""


class Written(msgspec.Struct, frozen=True):
    """The comparable form of an output.

    Attributes:
        digest: of the form.
        shape: digest of the form without digits.
        first, last: its first and last line.
        size_bytes: of the output itself.
    """

    digest: str
    shape: str
    first: str
    last: str
    size_bytes: int


def written_by(sample: Sample) -> Written | None:
    """Return what a launch wrote; ``None`` where it was not looked at."""
    piece = next((e for e in sample.evidence if e.kind == OUTPUT), None)
    if piece is None or piece.note is None or piece.value is None:
        return None
    digest, shape, first, last = piece.note.split("\n")
    return Written(digest, shape, first, last, int(piece.value))


def without_lines(sample: Sample) -> Sample:
    """Return a sample whose evidence on its output holds none of its text."""
    written = written_by(sample)
    if written is None:
        return sample
    others = [e for e in sample.evidence if e.kind != OUTPUT]
    note = f"{written.digest}\n{written.shape}\n\n"
    size = float(written.size_bytes)
    piece = Evidence(kind=OUTPUT, value=size, unit="bytes", note=note)
    return msgspec.structs.replace(sample, evidence=(*others, piece))


def different_output(
    spec: StudySpec, samples: Sequence[Sample], names: Sequence[str]
) -> str | None:
    """Say how the outputs of two arms differ; ``None`` where they may be of the same work.

    The output of each arm has to be the same in all of its launches: one that varies by itself
    tells nothing. One launch of an arm shows no more than the form of its output without numbers,
    which may hold a time of day.

    Args:
        spec: of the study.
        samples: all, in the order they were made.
        names: of two arms.
    """
    if spec.workload.outputs_may_differ:
        return None
    a, b = ([w for w in map(written_by, _of(samples, name)) if w is not None] for name in names)
    if not a or not b or not (_constant(a) and _constant(b)):
        return None
    fewest, most = sorted((len(a), len(b)))
    if most < EACH or a[0].digest == b[0].digest:
        return None
    if fewest < EACH and a[0].shape == b[0].shape:
        return None
    return (
        f"different output: {names[1]} wrote {_told(b[0], a[0])}, and {names[0]} "
        f"{_told(a[0], b[0])}"
    )


def values_of(spec: StudySpec) -> frozenset[str]:
    """Return the values that the settings of a study may have, as a program may print them."""
    found = [v for arm in spec.arms for v in arm.configuration.values()]
    for parameter in spec.space.parameters:
        domain = parameter.domain
        found += domain.options if isinstance(domain, Choices) else ()
        found += [] if parameter.default is None else [parameter.default]
    return frozenset(map(show_value, found))


def _of(samples: Iterable[Sample], name: str) -> Iterable[Sample]:
    return (s for s in samples if s.launch.arm == name and s.outcome is Outcome.OK)


def _constant(written: Sequence[Written]) -> bool:
    return len({one.digest for one in written}) == 1


def _told(one: Written, other: Written) -> str:
    size = (
        show_bytes(one.size_bytes) if one.size_bytes >= 1024 else show_count(one.size_bytes, "byte")
    )
    if not one.size_bytes:
        return "nothing"
    line = one.first if one.first != other.first else one.last if one.last != other.last else ""
    where = "beginning with " if line and one.first != other.first else "ending with "
    return f"{size}, {where}{clean(line)!r}" if line else size
