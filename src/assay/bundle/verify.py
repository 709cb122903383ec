"""Verifying a bundle: is it as it was written, and do its verdicts follow from its samples?"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from assay.bundle.chain import START, link
from assay.bundle.difference import Difference, first_difference, first_different_line
from assay.bundle.layout import (
    CONCLUSION,
    FILE_NAME,
    MANIFEST,
    PLANS,
    SAMPLES,
    SCRIPT,
    STRATUM,
    STUDY,
    FileNote,
    Manifest,
    OutputDocument,
    StudyDocument,
    VerdictNote,
)
from assay.bundle.read import Archive, BrokenBundleError, document_in, open_bundle
from assay.bundle.recompute import is_same_conclusion, recompute, script_of
from assay.bundle.versions import different_versions, install_command, is_engine
from assay.errors import AssayError
from assay.records import Conclusion, HashedPart, Plan, Sample, Stratum

T = TypeVar("T")


@dataclass(frozen=True)
class VerdictCheck:
    """A verdict document held against its samples.

    Attributes:
        stratum: whose it is.
        samples: that it rests on, of ``of_samples`` that there are.
        conclusion: as the bundle has it.
        holds: whether the samples give it, and its plan the script.
        difference: the first key where they do not.
        why_not: why it could not be worked out.
        engine: packages of another version than recorded, with the recorded one.
    """

    stratum: int
    samples: int
    of_samples: int
    conclusion: Conclusion
    holds: bool
    difference: Difference | None = None
    why_not: str | None = None
    engine: dict[str, str] = field(default_factory=dict)

    @property
    def for_other_engine(self) -> bool:
        """Whether only the recorded engine can tell."""
        return not self.holds and bool(self.engine)

    @property
    def remedy(self) -> str:
        """How to come by the recorded engine."""
        return f"{install_command(self.engine)} installs what it was worked out with."


@dataclass
class StratumContents:
    """The documents of one stratum, as far as they were read."""

    stratum: Stratum | None = None
    plans: list[Plan] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    conclusion: Conclusion | None = None
    script: str | None = None


@dataclass(frozen=True)
class BundleCheck:
    """What was found out about a bundle.

    Attributes:
        manifest: as it stands there.
        entries: that were held against the chain.
        broken: the first thing that is not as it was written.
        verdicts: of each stratum that has one; none where the bundle is broken before them.
        open_strata: strata without a verdict: the study was not done with them.
        strata: documents of each stratum by number; none where the bundle is broken.
    """

    manifest: Manifest
    entries: int
    study: StudyDocument | None = None
    broken: BrokenBundleError | None = None
    verdicts: tuple[VerdictCheck, ...] = ()
    open_strata: tuple[int, ...] = ()
    strata: Mapping[int, StratumContents] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether nothing was found to be wrong, or beyond this version."""
        return self.broken is None and all(verdict.holds for verdict in self.verdicts)

    @property
    def exit_status(self) -> int:
        """0 good, 1 does not hold, 3 only another engine can tell."""
        if self.broken or any(not v.holds and not v.for_other_engine for v in self.verdicts):
            return 1
        return 0 if self.holds else 3


def verify(path: Path) -> BundleCheck:
    """Check a bundle.

    Raises:
        InvalidInputError: it is none.
        NotPossibleError: it cannot be read, or is of a later format.
        Broken: its manifest cannot be read.
    """
    with open_bundle(path) as archive:
        seal = archive.seal()
        manifest = seal.manifest
        reading = _Reading(archive, manifest)
        try:
            if link(manifest.head, seal.content) != seal.chain:
                raise BrokenBundleError(MANIFEST, None, "was changed")
            archive.demand_names(manifest)
            reading.read()
        except BrokenBundleError as broken:
            return BundleCheck(manifest, reading.entries, reading.study, reading.explained(broken))
        verdicts = tuple(reading.checked(note) for note in manifest.verdicts)
        concluded = {note.stratum for note in manifest.verdicts}
        return BundleCheck(
            manifest,
            reading.entries,
            reading.study,
            verdicts=verdicts,
            open_strata=tuple(sorted(reading.strata.keys() - concluded)),
            strata=reading.strata,
        )


class _Reading:
    """Reads the files of a bundle in order, and holds each entry against the chain."""

    def __init__(self, archive: Archive, manifest: Manifest) -> None:
        self._archive = archive
        self._manifest = manifest
        self._head = START
        self.entries = 0
        self.study: StudyDocument | None = None
        self.strata: dict[int, StratumContents] = {}

    def read(self) -> None:
        """All of it.

        Raises:
            Broken: names the first entry that is not as it was written.
        """
        for note in self._manifest.files:
            self._read(note)
        if self._head != self._manifest.head:
            raise BrokenBundleError(MANIFEST, None, "ends the chain elsewhere than its files do")
        if self.study is None or self.study.id != self._manifest.study:
            raise BrokenBundleError(STUDY, None, "is missing, or of another")
        for number, found in self.strata.items():
            if found.stratum is None or found.stratum.number != number:
                raise BrokenBundleError(
                    f"strata/{number}/{STRATUM}", None, "is missing, or of another"
                )
        self._demand_verdicts()

    def _demand_verdicts(self) -> None:
        """Every verdict document is told of in the manifest, so that none goes unchecked."""
        listed = [note.stratum for note in self._manifest.verdicts]
        there = [n for n, found in self.strata.items() if found.conclusion is not None]
        if sorted(listed) != sorted(there):
            raise BrokenBundleError(MANIFEST, None, "tells of other verdicts than are here")
        for note in self._manifest.verdicts:
            found = self.strata[note.stratum]
            assert found.conclusion is not None
            if not is_engine(note.engine):
                raise BrokenBundleError(MANIFEST, None, "tells of versions that are none")
            if note.samples != found.conclusion.launches or note.samples > len(found.samples):
                raise BrokenBundleError(
                    MANIFEST, None, f"tells of {note.samples} samples of a verdict"
                )
        for number, found in self.strata.items():
            if found.script is not None and found.conclusion is None:
                raise BrokenBundleError(f"strata/{number}/{SCRIPT}", None, "belongs to no verdict")

    def _read(self, note: FileNote) -> None:
        if note.name.endswith(".jsonl"):
            kind, take = self._entries_of(note.name)
            self._lines(note, kind, take)
        else:
            self._document(note)
        if self._head != note.head:
            raise BrokenBundleError(note.name, None, "does not end as the manifest says")

    def _document(self, note: FileNote) -> None:
        content = self._archive.content(note.name)
        entry = content if note.name.endswith(SCRIPT) else content.removesuffix(b"\n")
        head = link(self._head, entry)
        if note.entries != 1 or head != note.head:
            if note.name.endswith(CONCLUSION):  # which can be told more of
                with contextlib.suppress(BrokenBundleError):
                    self._take_document(note.name, entry)
            raise BrokenBundleError(note.name, None, "was changed")
        self._head = head
        self.entries += 1
        self._take_document(note.name, entry)

    def _take_document(self, name: str, entry: bytes) -> None:
        if name == STUDY:
            self.study = document_in(entry, StudyDocument, name, None)
            return
        found, file = self._stratum_of(name)
        if file == STRATUM:
            found.stratum = document_in(entry, Stratum, name, None)
        elif file == CONCLUSION:
            found.conclusion = document_in(entry, Conclusion, name, None)
        else:
            found.script = entry.decode(errors="replace")

    def _lines(self, note: FileNote, kind: type[T], take: Callable[[T, int], None]) -> None:
        number = 0
        for number, line in enumerate(self._archive.lines(note.name), start=1):
            content = bytes(line.entry)
            head = link(self._head, content)
            if head != line.chain:
                raise BrokenBundleError(note.name, number, self._misfit(note, number))
            self._head = head
            self.entries += 1
            take(document_in(content, kind, note.name, number), number)
        if number != note.entries:
            raise BrokenBundleError(
                note.name,
                None,
                f"has {number} of the {note.entries} entries that the manifest tells of",
            )

    def _misfit(self, note: FileNote, number: int) -> str:
        count = sum(1 for _ in self._counted(note.name))
        if count < note.entries:
            return f"was changed, or {note.entries - count} before it taken out"
        if count > note.entries:
            return f"was changed, or {count - note.entries} before it put in"
        return "was changed" + self._told(note.name, number)

    def _told(self, name: str, number: int) -> str:
        return (
            f" (sample {number} of stratum {name.split('/')[1]})" if name.endswith(SAMPLES) else ""
        )

    def _counted(self, name: str) -> Iterator[object]:
        try:
            yield from self._archive.lines(name)
        except BrokenBundleError:
            return

    def _entries_of(self, name: str) -> tuple[type[Any], Callable[[Any, int], None]]:
        found, file = self._stratum_of(name)

        def take_output(document: OutputDocument, number: int) -> None:
            _demand_output(document, name, number, len(found.samples))

        if file == PLANS:
            return Plan, lambda plan, _: found.plans.append(plan)
        if file == SAMPLES:
            return Sample, lambda sample, _: found.samples.append(sample)
        return OutputDocument, take_output

    def _stratum_of(self, name: str) -> tuple[StratumContents, str]:
        assert FILE_NAME.fullmatch(name)
        _, number, file = name.split("/")
        return self.strata.setdefault(int(number), StratumContents()), file

    def explained(self, broken: BrokenBundleError) -> BrokenBundleError:
        """Where a verdict document alone was changed: which key of it, and both values."""
        if not broken.file.endswith(CONCLUSION) or self.study is None:
            return broken
        number = int(broken.file.split("/")[1])
        note = next((n for n in self._manifest.verdicts if n.stratum == number), None)
        if note is None or self.strata[number].conclusion is None:
            return broken
        check = self.checked(note)
        if check.difference is None:
            return broken
        return BrokenBundleError(
            broken.file, None, f"{broken.what}: {difference_text(check.difference)}"
        )

    def checked(self, note: VerdictNote) -> VerdictCheck:
        """The verdict document of a stratum, held against its samples."""
        found = self.strata[note.stratum]
        assert self.study is not None and found.stratum is not None
        assert found.conclusion is not None
        check = VerdictCheck(
            stratum=note.stratum,
            samples=note.samples,
            of_samples=len(found.samples),
            conclusion=found.conclusion,
            holds=False,
            engine=different_versions(note.engine),
        )
        try:
            again = recompute(self.study.spec, found.samples, found.stratum, found.conclusion)
        except AssayError as error:
            return replace(check, why_not=error.cause)
        if not is_same_conclusion(again, found.conclusion):
            return replace(check, difference=first_difference(found.conclusion, again))
        try:
            workload = self.study.spec.workload
            script = script_of(found.conclusion, found.plans, workload, found.samples)
        except AssayError as error:
            return replace(check, why_not=error.cause)
        other = first_different_line(SCRIPT, found.script, script)
        return replace(check, holds=other is None, difference=other)


def difference_text(difference: Difference) -> str:
    """A difference in words."""
    return (
        f"{difference.key} is {difference.recorded}, and its samples give {difference.recomputed}"
    )


def _demand_output(document: OutputDocument, name: str, entry: int, samples: int) -> None:
    """Hold what was kept of an output against its digest.

    Raises:
        Broken: it does not fit, or belongs to no sample.
    """
    if not 1 <= document.sample <= samples:
        raise BrokenBundleError(
            name, entry, f"belongs to sample {document.sample}, which is not here"
        )
    for stream in document.streams:
        # Of a long stream the digest is over what lies between the ends as well.
        if stream.sha256 is None or (stream.tail and stream.hashed is not HashedPart.ENDS):
            continue
        try:
            ends = [_bytes_of(text, stream.encoding) for text in (stream.head, stream.tail)]
        except (binascii.Error, ValueError) as error:
            raise BrokenBundleError(name, entry, f"its {stream.stream} is no Base64") from error
        if hashlib.sha256(b"".join(ends)).hexdigest() != stream.sha256:
            raise BrokenBundleError(name, entry, f"its {stream.stream} does not fit its digest")


def _bytes_of(text: str, encoding: str) -> bytes:
    return base64.b64decode(text) if encoding == "base64" else text.encode()
