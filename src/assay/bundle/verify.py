"""Verification of bundles: integrity, and recomputation of conclusions from samples."""

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
from assay.bundle.versions import are_versions, different_versions, install_command
from assay.errors import AssayError
from assay.records import Conclusion, HashedPart, Plan, Sample, SampleDecoder, Stratum
from assay.search.history.packed_samples import PackedSamples

T = TypeVar("T")

MAX_KEPT = 100_000
"""Maximum number of samples of a stratum that are kept as objects, in 250 MB; others are packed."""


@dataclass(frozen=True)
class VerdictCheck:
    """Recomputation of one conclusion.

    Attributes:
        stratum: number of its stratum.
        samples: number of its samples, of ``of_samples`` in the stratum.
        conclusion: recorded conclusion.
        holds: the samples reproduce the conclusion, and its plan the script.
        difference: the first different key.
        error: reason why it could not be recomputed.
        recorded_versions: recorded version of each package whose installed version differs.
    """

    stratum: int
    samples: int
    of_samples: int
    conclusion: Conclusion
    holds: bool
    difference: Difference | None = None
    error: str | None = None
    recorded_versions: dict[str, str] = field(default_factory=dict)

    @property
    def needs_recorded_versions(self) -> bool:
        """Return whether a verification requires the recorded versions."""
        return not self.holds and bool(self.recorded_versions)

    @property
    def remedy(self) -> str:
        """Return the command that installs the recorded versions."""
        return f"{install_command(self.recorded_versions)} installs the recorded versions."


@dataclass
class StratumContents:
    """Documents of one stratum that have been read."""

    stratum: Stratum | None = None
    plans: list[Plan] = field(default_factory=list)
    samples: PackedSamples = field(default_factory=lambda: PackedSamples(kept=MAX_KEPT))
    conclusion: Conclusion | None = None
    script: str | None = None


@dataclass(frozen=True)
class BundleCheck:
    """Result of the verification of a bundle.

    Attributes:
        manifest: the manifest.
        entries: number of entries with verified chain values.
        study: the study document, if it was read.
        broken: the first damaged or modified part.
        verdicts: recomputed conclusions; empty if the bundle is broken before them.
        open_strata: strata without a conclusion.
        strata: documents of each stratum by number; empty if the bundle is broken.
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
        """Return whether the bundle is intact and all conclusions are reproduced."""
        return self.broken is None and all(verdict.holds for verdict in self.verdicts)

    @property
    def exit_status(self) -> int:
        """Return 0 for success, 1 for failure, 3 if the recorded versions are required."""
        if self.broken or any(not v.holds and not v.needs_recorded_versions for v in self.verdicts):
            return 1
        return 0 if self.holds else 3


def verify(path: Path) -> BundleCheck:
    """Verify a bundle.

    Raises:
        InvalidInputError: not a bundle.
        NotPossibleError: unreadable file, or a later format.
        BrokenBundleError: unreadable manifest.
    """
    with open_bundle(path) as archive:
        seal = archive.seal()
        manifest = seal.manifest
        reading = _BundleReader(archive, manifest)
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


class _BundleReader:
    """Reader that verifies the chain value of each entry, in order."""

    def __init__(self, archive: Archive, manifest: Manifest) -> None:
        self._archive = archive
        self._manifest = manifest
        self._head = START
        self.entries = 0
        self.study: StudyDocument | None = None
        self.strata: dict[int, StratumContents] = {}
        self._samples: Any = SampleDecoder()

    def read(self) -> None:
        """Read all files.

        Raises:
            BrokenBundleError: names the first damaged or modified entry.
        """
        for note in self._manifest.files:
            self._read(note)
        if self._head != self._manifest.head:
            raise BrokenBundleError(MANIFEST, None, "does not match the end of the chain")
        if self.study is None or self.study.id != self._manifest.study:
            raise BrokenBundleError(STUDY, None, "is missing, or belongs to another study")
        for number, found in self.strata.items():
            if found.stratum is None or found.stratum.number != number:
                raise BrokenBundleError(
                    f"strata/{number}/{STRATUM}",
                    None,
                    "is missing, or belongs to another stratum",
                )
        self._demand_verdicts()

    def _demand_verdicts(self) -> None:
        """Raise an error for conclusions that the manifest does not list."""
        listed = [note.stratum for note in self._manifest.verdicts]
        concluded = [n for n, found in self.strata.items() if found.conclusion is not None]
        if sorted(listed) != sorted(concluded):
            raise BrokenBundleError(
                MANIFEST, None, "does not list the conclusions that the bundle contains"
            )
        for note in self._manifest.verdicts:
            found = self.strata[note.stratum]
            assert found.conclusion is not None
            if not are_versions(note.versions):
                raise BrokenBundleError(MANIFEST, None, "contains invalid versions")
            if note.samples != found.conclusion.launches or note.samples > len(found.samples):
                raise BrokenBundleError(
                    MANIFEST, None, f"claims {note.samples} samples for a verdict"
                )
        for number, found in self.strata.items():
            if found.script is not None and found.conclusion is None:
                raise BrokenBundleError(f"strata/{number}/{SCRIPT}", None, "has no conclusion")

    def _read(self, note: FileNote) -> None:
        if note.name.endswith(".jsonl"):
            kind, take = self._entries_of(note.name)
            self._lines(note, kind, take)
        else:
            self._document(note)
        if self._head != note.head:
            raise BrokenBundleError(
                note.name, None, "does not end with the chain value of the manifest"
            )

    def _document(self, note: FileNote) -> None:
        content = self._archive.content(note.name)
        entry = content if note.name.endswith(SCRIPT) else content.removesuffix(b"\n")
        head = link(self._head, entry)
        if note.entries != 1 or head != note.head:
            if note.name.endswith(CONCLUSION):  # its error message can name the key
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
                raise BrokenBundleError(note.name, number, self._mismatch_text(note, number))
            self._head = head
            self.entries += 1
            decoded = self._samples.decode if kind is Sample else None
            take(document_in(content, kind, note.name, number, decoded), number)
        if number != note.entries:
            raise BrokenBundleError(
                note.name,
                None,
                f"has {number} of the {note.entries} entries in the manifest",
            )

    def _mismatch_text(self, note: FileNote, number: int) -> str:
        count = sum(1 for _ in self._counted(note.name))
        if count < note.entries:
            return f"was changed, or {note.entries - count} earlier ones were removed"
        if count > note.entries:
            return f"was changed, or {count - note.entries} earlier ones were inserted"
        return "was changed" + self._message(note.name, number)

    def _message(self, name: str, number: int) -> str:
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
        """Return the error with the key and both values, if only a conclusion was changed."""
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
            broken.file, None, f"{broken.description}: {difference_text(check.difference)}"
        )

    def checked(self, note: VerdictNote) -> VerdictCheck:
        """Recompute the conclusion of a stratum."""
        found = self.strata[note.stratum]
        assert self.study is not None and found.stratum is not None
        assert found.conclusion is not None
        check = VerdictCheck(
            stratum=note.stratum,
            samples=note.samples,
            of_samples=len(found.samples),
            conclusion=found.conclusion,
            holds=False,
            recorded_versions=different_versions(note.versions),
        )
        try:
            again = recompute(self.study.spec, found.samples, found.stratum, found.conclusion)
        except AssayError as error:
            return replace(check, error=error.cause)
        if not is_same_conclusion(again, found.conclusion):
            return replace(check, difference=first_difference(found.conclusion, again))
        try:
            workload = self.study.spec.workload
            script = script_of(found.conclusion, found.plans, workload, found.samples)
        except AssayError as error:
            return replace(check, error=error.cause)
        other = first_different_line(SCRIPT, found.script, script)
        return replace(check, holds=other is None, difference=other)


def difference_text(difference: Difference) -> str:
    """Return a difference in words."""
    return (
        f"{difference.key} is {difference.recorded}, but its samples yield {difference.recomputed}"
    )


def _demand_output(document: OutputDocument, name: str, entry: int, samples: int) -> None:
    """Verify the digest of a stored output.

    Raises:
        BrokenBundleError: another digest, or an unknown sample.
    """
    if not 1 <= document.sample <= samples:
        raise BrokenBundleError(name, entry, f"belongs to the missing sample {document.sample}")
    for stream in document.streams:
        # The digest of a long stream also covers the omitted middle.
        if stream.sha256 is None or (stream.tail and stream.digest_scope is not HashedPart.ENDS):
            continue
        try:
            ends = [_bytes_of(text, stream.encoding) for text in (stream.head, stream.tail)]
        except (binascii.Error, ValueError) as error:
            raise BrokenBundleError(
                name, entry, f"has invalid Base64 in {stream.stream}"
            ) from error
        if hashlib.sha256(b"".join(ends)).hexdigest() != stream.sha256:
            raise BrokenBundleError(name, entry, f"has a wrong digest of {stream.stream}")


def _bytes_of(text: str, encoding: str) -> bytes:
    return base64.b64decode(text) if encoding == "base64" else text.encode()
