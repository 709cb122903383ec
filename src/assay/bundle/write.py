"""Writing of bundles.

The ZIP format is supported by every system and by Python, and each file is readable separately.
Members have fixed dates, owners and permissions, so that a study always yields the same bytes.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

import msgspec

from assay.bundle.chain import START, link, sealed_line
from assay.bundle.difference import first_difference
from assay.bundle.identity import Identity
from assay.bundle.layout import (
    CONCLUSION,
    FORMAT,
    MANIFEST,
    MAX_BYTES,
    MAX_ENTRY_BYTES,
    OUTPUTS,
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
    stratum_file,
)
from assay.bundle.recompute import is_same_conclusion, recompute, script_of, without_script
from assay.bundle.redact import Redactor
from assay.bundle.samples import RedactedSamples, kept
from assay.bundle.source import Source, StratumSource, without_outputs
from assay.bundle.streams import stream_of
from assay.bundle.versions import package_versions
from assay.errors import AssayError, NotPossibleError
from assay.records import Conclusion, Plan, Sample, Stage, Stratum, StudySpec, decode, encode
from assay.records.codec import SCHEMA, parse_json
from assay.settings.registry import builtin

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Earliest date in the ZIP format."""
_LEVEL = 6
MAX_RECOMPUTED = 20_000
"""Maximum number of samples whose conclusion an export recomputes, with 400 MB of memory. Readers
recompute any."""


@dataclass(frozen=True)
class WrittenBundle:
    """Written bundle.

    Attributes:
        manifest: its manifest.
        samples: number of samples.
        notes: limitations for its readers, as sentences.
    """

    manifest: Manifest
    samples: int
    notes: tuple[str, ...]


def write_bundle(
    source: Source, identity: Identity, target: BinaryIO, *, outputs: bool = True
) -> WrittenBundle:
    """Write a study as a bundle.

    Args:
        source: data of the study.
        identity: names to replace.
        target: binary file.
        outputs: include the stored outputs of the program.

    Raises:
        NotPossibleError: the study exceeds the size of a bundle.
        OSError: the file cannot be written.
    """
    if not outputs:
        source = without_outputs(source)
    redactor = Redactor(identity, builtin().names)
    record = source.record
    spec = redactor.record(record.spec)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        chained = _ChainedArchive(archive)
        study = StudyDocument(
            id=record.id,
            status=record.status,
            created_at=record.created_at,
            elapsed_s=record.elapsed_s,
            spec=spec,
        )
        chained.document(STUDY, encode(study))
        verdicts, notes = [], []
        launchers: set[str] = set()
        for stratum in source.strata:
            bare = _RedactedStratum.of(stratum, redactor)
            named = redactor.replaced.copy()
            written = _write_stratum(chained, bare, stratum, redactor, outputs)
            launchers |= written.launchers
            renamed = redactor.replaced != named or _is_renamed(record.spec, spec)
            with redactor.uncounted():
                found = _verdict(record.spec, stratum, spec, bare, renamed=renamed)
                if found is None:
                    continue
                verdicts.append(_write_verdict(chained, spec, bare, written, found))
            if not found.recomputed:
                notes.append(
                    f"The export did not recompute the conclusion of stratum {bare.stratum.number} "
                    f"from its {len(bare.samples):,} samples. `assay study verify` does."
                )
            elif found.difference is not None:
                notes.append(
                    f"The conclusion of stratum {bare.stratum.number} differs from the one that "
                    f"this assay computes from its samples ({found.difference}): another version "
                    "computed it, or it was edited. `assay study verify` will report it too."
                )
        manifest = Manifest(
            format=FORMAT,
            schema=SCHEMA,
            study=record.id,
            versions=_versions(source, launchers, redactor),
            files=tuple(chained.notes),
            head=chained.head,
            verdicts=tuple(verdicts),
            replacements=dict(sorted(redactor.replaced.items())),
            includes_outputs=outputs,
        )
        chained.seal(encode(manifest))
    return WrittenBundle(manifest, source.samples, tuple(notes))


class _ChainedArchive:
    """Archive of files with a hash chain over their entries."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._written = 0
        self.head = START
        self.notes: list[FileNote] = []

    def document(self, name: str, content: bytes, end: bytes = b"\n") -> None:
        """Add a file that is a single entry."""
        self._write(name, iter([content + end]))
        self._link(content)
        self._note(name, 1)

    def lines(self, name: str, entries: Iterable[bytes]) -> None:
        """Add a file with an entry and its chain value in each line."""
        count = 0

        def linked() -> Iterator[bytes]:
            nonlocal count
            for entry in entries:
                self._link(entry)
                count += 1
                yield sealed_line(self.head, entry)

        self._write(name, linked())
        self._note(name, count)

    def seal(self, manifest: bytes) -> None:
        """Add the manifest as the last entry."""
        self._write(MANIFEST, iter([sealed_line(link(self.head, manifest), manifest)]))

    def _link(self, content: bytes) -> None:
        self.head = link(self.head, content)

    def _note(self, name: str, entries: int) -> None:
        self.notes.append(FileNote(name=name, entries=entries, head=self.head))

    def _write(self, name: str, pieces: Iterator[bytes]) -> None:
        about = zipfile.ZipInfo(name, _EPOCH)
        about.compress_type = zipfile.ZIP_DEFLATED
        about.create_system = 3  # Unix, independent of the writing system
        about.external_attr = 0o100644 << 16
        with self._archive.open(about, "w") as file:
            for piece in pieces:
                self._written += len(piece)
                if len(piece) > MAX_ENTRY_BYTES or self._written > MAX_BYTES:
                    raise NotPossibleError(
                        f"The study exceeds the size of a bundle ({MAX_BYTES >> 30} GiB).",
                        "Omit the outputs of the program with --no-outputs.",
                    )
                file.write(piece)


@dataclass(frozen=True)
class _RedactedStratum:
    """Stratum with tokens instead of names."""

    stratum: Stratum
    plans: tuple[Plan, ...]
    samples: RedactedSamples
    conclusion: Conclusion | None
    has_named_conclusion: bool = False

    @classmethod
    def of(cls, stratum: StratumSource, redactor: Redactor) -> _RedactedStratum:
        """Return a stratum; its samples are redacted as they are read."""
        conclusion = None if stratum.conclusion is None else redactor.record(stratum.conclusion)
        return cls(
            redactor.stratum(stratum.stratum),
            tuple(redactor.record(plan) for plan in stratum.plans),
            RedactedSamples(stratum.samples, redactor),
            conclusion,
            conclusion != stratum.conclusion,
        )


def _write_stratum(
    chained: _ChainedArchive,
    bare: _RedactedStratum,
    stratum: StratumSource,
    redactor: Redactor,
    outputs: bool,
) -> _WrittenSamples:
    number = bare.stratum.number
    chained.document(stratum_file(number, STRATUM), encode(bare.stratum))
    chained.lines(stratum_file(number, PLANS), map(encode, bare.plans))
    written = _WrittenSamples()
    chained.lines(stratum_file(number, SAMPLES), written.lines(bare.samples))
    if outputs:
        chained.lines(stratum_file(number, OUTPUTS), _output_lines(stratum, redactor))
    return written


@dataclass
class _WrittenSamples:
    """Properties of the samples of a stratum, noted while they are written.

    Attributes:
        launchers: versions of the launcher.
        first_launches: samples that show which variables the program reads.
    """

    launchers: set[str] = field(default_factory=set)
    first_launches: list[Sample] = field(default_factory=list)

    def lines(self, samples: RedactedSamples) -> Iterator[bytes]:
        """Yield the documents of samples."""
        for sample in samples.partial():
            document = encode(sample)
            self.launchers.add(sample.launcher_version)
            if sample.launch.stage is Stage.SURVEY:
                self.first_launches.append(decode(document, Sample))
            yield document


def _output_lines(stratum: StratumSource, redactor: Redactor) -> Iterator[bytes]:
    for number, outputs in enumerate(stratum.outputs(), start=1):
        if outputs:
            streams = tuple(stream_of(output, redactor.bytes) for output in outputs)
            yield encode(OutputDocument(sample=number, streams=streams))


@dataclass(frozen=True)
class _Verdict:
    """Conclusion in the form of a bundle.

    Attributes:
        conclusion: conclusion without scripts.
        versions: versions that computed it.
        difference: first difference from the recomputed conclusion, or reason why it could not be
            recomputed.
        recomputed: the export recomputed it, or tried to.
    """

    conclusion: Conclusion
    versions: dict[str, str]
    difference: str | None = None
    recomputed: bool = True


def _is_renamed(spec: StudySpec, bare_spec: StudySpec) -> bool:
    """Return whether names were replaced in more of a specification than its working directory."""
    workload = msgspec.structs.replace(bare_spec.workload, cwd=spec.workload.cwd)
    return msgspec.structs.replace(bare_spec, workload=workload) != spec


def _verdict(
    spec: StudySpec,
    stratum: StratumSource,
    bare_spec: StudySpec,
    bare: _RedactedStratum,
    *,
    renamed: bool,
) -> _Verdict | None:
    """Return the conclusion for the documents in the bundle.

    It is recomputed from the redacted documents: replacing names in the recorded conclusion would
    not yield the same sentences, since some are shortened and some quote single words. A conclusion
    on many samples is recomputed only if names were replaced: it would need all of them in memory.
    """
    if stratum.conclusion is None or bare.conclusion is None:
        return None
    versions = {"assay": bare.stratum.assay_version}
    if len(bare.samples) > MAX_RECOMPUTED and not renamed and not bare.has_named_conclusion:
        return _Verdict(without_script(bare.conclusion), versions, recomputed=False)
    samples = kept(bare.samples)
    try:
        found = recompute(spec, kept(stratum.samples), stratum.stratum, stratum.conclusion)
        if is_same_conclusion(found, stratum.conclusion):
            again = recompute(bare_spec, samples, bare.stratum, bare.conclusion)
            if _figures(again) == _figures(bare.conclusion):
                return _Verdict(without_script(again), package_versions())
            found = again
        first = first_difference(without_script(bare.conclusion), without_script(found))
        difference = first.key if first else "its text"
    except AssayError as error:
        difference = error.cause.rstrip(".")
    return _Verdict(without_script(bare.conclusion), versions, difference)


def _figures(conclusion: Conclusion) -> object:
    """Return all values of a conclusion except text."""
    bare = msgspec.structs.replace(without_script(conclusion), stop_code="")
    return _masked(parse_json(encode(bare)))


def _masked(value: object) -> object:
    match value:
        case str():
            return ""
        case dict():
            return [_masked(item) for item in value.values()]
        case list():
            return [_masked(item) for item in value]
        case _:
            return value


def _write_verdict(
    chained: _ChainedArchive,
    spec: StudySpec,
    bare: _RedactedStratum,
    written: _WrittenSamples,
    found: _Verdict,
) -> VerdictNote:
    number, conclusion = bare.stratum.number, found.conclusion
    chained.document(stratum_file(number, CONCLUSION), encode(conclusion))
    script = script_of(conclusion, bare.plans, spec.workload, written.first_launches)
    if script is not None:
        chained.document(stratum_file(number, SCRIPT), script.encode(), end=b"")
    return VerdictNote(stratum=number, samples=conclusion.launches, versions=found.versions)


def _versions(source: Source, launchers: set[str], redactor: Redactor) -> dict[str, str]:
    """Return the versions of the programs that wrote the bundle and measured, and of the store."""
    from assay.store.revisions import HEAD

    measured = _several(stratum.stratum.assay_version for stratum in source.strata)
    return {
        **package_versions(),
        "measured_by": redactor.text(measured),
        "launcher": redactor.text(_several(launchers)),
        "store_schema": HEAD,
    }


def _several(found: Iterable[str]) -> str:
    return ", ".join(sorted({text for text in found if text}))
