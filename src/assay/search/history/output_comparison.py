"""Output comparison: whether two arms of a study wrote the same output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from assay.records import Evidence, Sample, StudySpec
from assay.records.configuration import show_value
from assay.records.sample import ERRORS, OUTPUT
from assay.records.sketch import first_difference, sketches_agree
from assay.search.history.reported_errors import ReportedErrors
from assay.settings.printed_values import COMMAND, differing_words
from assay.wording.objections import (
    different_output_objection,
    output_text,
    reported_error_objection,
)

MIN_EACH = 2
"""Minimum launches of an arm to show that its output is constant."""


class OutputDigest(msgspec.Struct, frozen=True):
    """Digest of the normalised form of an output.

    Attributes:
        digest: digest of the normalised output.
        shape: digest of the normalised output without digits.
        first, last: its first and last line.
        size_bytes: size of the output.
        with_own: digest of the output with the launch's own values, except those that vary.
        sketch: sketch of its words; empty without one.
    """

    digest: str
    shape: str
    first: str
    last: str
    size_bytes: int
    with_own: str
    sketch: str = ""


def output_digest(sample: Sample) -> OutputDigest | None:
    """Return the output digest of a launch; ``None`` if its output was not examined."""
    piece = next((e for e in sample.evidence if e.kind == OUTPUT), None)
    if piece is None or piece.note is None or piece.value is None:
        return None
    digests, shape, first, last, *sketch = piece.note.split("\n")
    digest, _, with_own = digests.partition(" ")
    return OutputDigest(
        digest, shape, first, last, int(piece.value), with_own or digest, "".join(sketch)
    )


def without_lines(sample: Sample) -> Sample:
    """Return a sample without the text of its output in the evidence."""
    written = output_digest(sample)
    if written is None:
        return sample
    others = [_bare(e) for e in sample.evidence if e.kind != OUTPUT]
    digests = " ".join(dict.fromkeys((written.digest, written.with_own)))
    note = f"{digests}\n{written.shape}\n\n\n{written.sketch}"
    size = float(written.size_bytes)
    piece = Evidence(kind=OUTPUT, value=size, unit="bytes", note=note)
    return msgspec.structs.replace(sample, evidence=(*others, piece))


def _bare(piece: Evidence) -> Evidence:
    """Return evidence on errors without their lines, and other evidence unchanged."""
    if piece.kind != ERRORS or piece.note is None:
        return piece
    digests = (line.partition(" ")[0] for line in piece.note.splitlines())
    return msgspec.structs.replace(piece, note="\n".join(digests))


class ObservedOutputs:
    """Outputs of the successful launches of each arm.

    Attributes:
        errors: reported errors.
    """

    def __init__(self) -> None:
        self._arms: dict[str, _Arm] = {}
        self.errors = ReportedErrors()

    def add(self, sample: Sample, evidence: Mapping[str, Evidence] | None = None) -> None:
        """Add one sample.

        Args:
            sample: sample of a launch.
            evidence: its evidence by kind, if the caller has it.
        """
        if not sample.outcome.succeeded or (evidence is not None and OUTPUT not in evidence):
            return
        written = output_digest(sample)
        if written is None:
            return
        self.errors.add(sample)
        arm = self._arms.setdefault(sample.launch.arm, _Arm(written))
        arm.launches += 1
        arm.constant = arm.constant and written.digest == arm.first.digest

    def is_constant(self, name: str) -> bool:
        """Return whether all launches of an arm wrote the same output."""
        arm = self._arms.get(name)
        return arm is not None and arm.constant

    def agree(self, names: Sequence[str], *, numbers: bool = True) -> bool | None:
        """Return whether two arms wrote the same output; ``None`` if unknown.

        The output of each arm must be constant over its launches: varying output proves nothing.
        One launch of an arm determines only its output without numbers, since these may be a time
        of day.

        Args:
            names: names of the two arms.
            numbers: whether numbers in outputs are compared.
        """
        a, b = (self._arms.get(name) for name in names)
        if a is None or b is None or not (a.constant and b.constant):
            return None
        fewest, most = sorted((a.launches, b.launches))
        sketches = a.first.sketch, b.first.sketch
        equal = a.first.digest == b.first.digest or a.first.with_own == b.first.with_own
        if equal or sketches_agree(*sketches):
            return True
        if most < MIN_EACH:
            return None
        if a.first.shape != b.first.shape and not sketches_agree(*sketches, numbers=False):
            return False
        if not numbers:
            return True
        return None if fewest < MIN_EACH else False

    def difference(
        self, names: Sequence[str], *, numbers: bool = True, effect: str = ""
    ) -> str | None:
        """Describe the difference of two outputs; ``None`` if both may do the same work.

        Args:
            names, numbers: see ``agree``.
            effect: consequence of the difference, a clause to be added.
        """
        if self.agree(names, numbers=numbers) is not False:
            return None
        a, b = (self._arms[name].first for name in names)
        return different_output_objection(names[0], names[1], _output(a, b), _output(b, a), effect)

    def complaint(self, name: str, than: str, *, effect: str = "") -> str | None:
        """Describe an error that all launches of an arm report, and no launch of another one.

        Args:
            name, than: names of the arms.
            effect: see ``difference``.
        """
        line = self.errors.reported(name, than)
        if line is None:
            return None
        return reported_error_objection(name, than, self.errors.launches(name), line, effect)


class _Arm:
    def __init__(self, first: OutputDigest) -> None:
        self.first = first
        self.launches = 0
        self.constant = True


def describe_difference(spec: StudySpec, seen: ObservedOutputs, names: Sequence[str]) -> str | None:
    """Describe the difference of two outputs; ``None`` if it is permitted or there is none.

    Args:
        spec: specification of the study.
        seen: outputs of its launches.
        names: names of two arms.
    """
    if not spec.workload.compares_outputs:
        return None
    return seen.difference(names, numbers=compares_numbers(spec))


def work_objection(
    spec: StudySpec, seen: ObservedOutputs, names: Sequence[str], better: str
) -> str | None:
    """Describe evidence that the better of two arms does different work; ``None`` without any.

    Args:
        spec, seen, names: see ``describe_difference``.
        better: name of the better arm.
    """
    found = describe_difference(spec, seen, names)
    if found is not None or not spec.workload.compares_outputs:
        return found
    return seen.complaint(better, next(name for name in names if name != better))


def compares_numbers(spec: StudySpec) -> bool:
    """Return whether numbers in outputs of a study are compared.

    They are not if a setting may have any number, since it cannot be removed from an output.
    """
    return all(parameter.domain.values() is not None for parameter in spec.space.parameters)


def values_of(spec: StudySpec) -> frozenset[str]:
    """Return the values of the settings of a study, as a program may print them."""
    found = [v for arm in spec.arms for n, v in arm.configuration.items() if n != COMMAND]
    commands = [str(a.configuration[COMMAND]) for a in spec.arms if COMMAND in a.configuration]
    for parameter in spec.space.parameters:
        found += parameter.domain.values() or ()
        found += [] if parameter.default is None else [parameter.default]
    return frozenset(map(show_value, found)) | differing_words(commands)


def _output(one: OutputDigest, other: OutputDigest) -> str:
    line, first = "", one.first != other.first
    if first or one.last != other.last:
        line = one.first if first else one.last
    known = not line and one.first and one.sketch and other.sketch
    number = first_difference(one.sketch, other.sketch) if known else None
    return output_text(one.size_bytes, line, first=first, differing_line=number)
