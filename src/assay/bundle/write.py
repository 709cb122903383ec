"""Writing a bundle.

A ZIP archive: any system opens one, each file can be read without the others, and Python brings
all it takes. Members have no dates, owners or rights of their own, so that the same study gives
the same bytes.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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
    SCHEMA,
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
from assay.bundle.source import Source, StratumSource, without_outputs
from assay.bundle.streams import stream_of
from assay.bundle.versions import engine
from assay.errors import AssayError, NotPossibleError
from assay.records import Conclusion, Plan, Sample, Stratum, StudySpec, encode
from assay.records.codec import parse_json
from assay.settings.registry import builtin

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest date that ZIP can tell."""
_LEVEL = 6


@dataclass(frozen=True)
class WrittenBundle:
    """A bundle that was written.

    Attributes:
        manifest: of it.
        samples: how many it holds.
        notes: what its reader will stumble over, in sentences.
    """

    manifest: Manifest
    samples: int
    notes: tuple[str, ...]


def write_bundle(
    source: Source, identity: Identity, target: BinaryIO, *, outputs: bool = True
) -> WrittenBundle:
    """Write a study as a bundle.

    Args:
        source: the study.
        identity: what is taken out of it.
        target: a file to write.
        outputs: whether what was kept of the program's outputs goes along.

    Raises:
        NotPossibleError: the study is larger than a bundle may be.
        OSError: the file cannot be written.
    """
    if not outputs:
        source = without_outputs(source)
    redactor = Redactor(identity, builtin().names)
    record = source.record
    spec = redactor.record(record.spec)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        chained = _Chained(archive)
        study = StudyDocument(
            id=record.id,
            status=record.status,
            created_at=record.created_at,
            elapsed_s=record.elapsed_s,
            spec=spec,
        )
        chained.document(STUDY, encode(study))
        verdicts, notes = [], []
        for one in source.strata:
            bare = _Bare.of(one, redactor)
            _write_stratum(chained, bare, one, redactor, outputs)
            found = _verdict(record.spec, one, spec, bare)
            if found is None:
                continue
            verdicts.append(_write_verdict(chained, spec, bare, found))
            if found.unlike is not None:
                notes.append(
                    f"The verdict of stratum {bare.stratum.number} is not what this assay works "
                    f"out from its samples ({found.unlike}): another version, or a hand, made it. "
                    "`assay study verify` will say so too."
                )
        manifest = Manifest(
            format=FORMAT,
            schema=SCHEMA,
            study=record.id,
            versions=_versions(source, redactor),
            files=tuple(chained.notes),
            head=chained.head,
            verdicts=tuple(verdicts),
            replaced=dict(sorted(redactor.replaced.items())),
            outputs=outputs,
        )
        chained.seal(encode(manifest))
    return WrittenBundle(manifest, sum(len(one.samples) for one in source.strata), tuple(notes))


class _Chained:
    """Files in an archive, each entry tied to the one before."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._written = 0
        self.head = START
        self.notes: list[FileNote] = []

    def document(self, name: str, content: bytes, end: bytes = b"\n") -> None:
        """A file that is one entry."""
        self._write(name, iter([content + end]))
        self._link(content)
        self._note(name, 1)

    def lines(self, name: str, entries: Iterable[bytes]) -> None:
        """A file with an entry in each line, beside its chain value."""
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
        """The manifest, as the last entry."""
        self._write(MANIFEST, iter([sealed_line(link(self.head, manifest), manifest)]))

    def _link(self, content: bytes) -> None:
        self.head = link(self.head, content)

    def _note(self, name: str, entries: int) -> None:
        self.notes.append(FileNote(name=name, entries=entries, head=self.head))

    def _write(self, name: str, pieces: Iterator[bytes]) -> None:
        about = zipfile.ZipInfo(name, _EPOCH)
        about.compress_type = zipfile.ZIP_DEFLATED
        about.create_system = 3  # Unix, wherever it is written
        about.external_attr = 0o100644 << 16
        with self._archive.open(about, "w") as file:
            for piece in pieces:
                self._written += len(piece)
                if len(piece) > MAX_ENTRY_BYTES or self._written > MAX_BYTES:
                    raise NotPossibleError(
                        f"The study is too large for a bundle ({MAX_BYTES >> 30} GiB at most).",
                        "--no-outputs leaves out what the program wrote.",
                    )
                file.write(piece)


@dataclass(frozen=True)
class _Bare:
    """A stratum with tokens in place of names."""

    stratum: Stratum
    plans: tuple[Plan, ...]
    samples: tuple[Sample, ...]
    conclusion: Conclusion | None

    @classmethod
    def of(cls, one: StratumSource, redactor: Redactor) -> _Bare:
        return cls(
            redactor.stratum(one.stratum),
            tuple(redactor.record(plan) for plan in one.plans),
            tuple(redactor.record(sample) for sample in one.samples),
            None if one.conclusion is None else redactor.record(one.conclusion),
        )


def _write_stratum(
    chained: _Chained, bare: _Bare, one: StratumSource, redactor: Redactor, outputs: bool
) -> None:
    number = bare.stratum.number
    chained.document(stratum_file(number, STRATUM), encode(bare.stratum))
    chained.lines(stratum_file(number, PLANS), map(encode, bare.plans))
    chained.lines(stratum_file(number, SAMPLES), map(encode, bare.samples))
    if outputs:
        chained.lines(stratum_file(number, OUTPUTS), _output_lines(one, redactor))


def _output_lines(one: StratumSource, redactor: Redactor) -> Iterator[bytes]:
    for number, kept in enumerate(one.outputs(), start=1):
        if kept:
            streams = tuple(stream_of(output, redactor.bytes) for output in kept)
            yield encode(OutputDocument(sample=number, streams=streams))


@dataclass(frozen=True)
class _Verdict:
    """A verdict document as a bundle holds it.

    Attributes:
        engine: what it was worked out with.
        unlike: where it is not what was worked out here: the first key, or why nothing could be.
    """

    conclusion: Conclusion
    engine: dict[str, str]
    unlike: str | None = None


def _verdict(
    spec: StudySpec, one: StratumSource, bare_spec: StudySpec, bare: _Bare
) -> _Verdict | None:
    """The verdict document on what the bundle holds.

    It is worked out anew from the documents in the bundle: a sentence that was cut to length, or a
    word that was quoted, cannot be had from the old one by replacing names.
    """
    if one.conclusion is None or bare.conclusion is None:
        return None
    try:
        found = recompute(spec, one.samples, one.stratum, one.conclusion)
        if is_same_conclusion(found, one.conclusion):
            again = recompute(bare_spec, bare.samples, bare.stratum, bare.conclusion)
            if _figures(again) == _figures(bare.conclusion):
                return _Verdict(without_script(again), engine())
            found = again
        differs = first_difference(without_script(bare.conclusion), without_script(found))
        unlike = differs.key if differs else "its text"
    except AssayError as error:
        unlike = error.cause.rstrip(".")
    return _Verdict(without_script(bare.conclusion), {"assay": bare.stratum.engine}, unlike)


def _figures(conclusion: Conclusion) -> object:
    """All that is no text."""
    bare = msgspec.structs.replace(without_script(conclusion), reason="")
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


def _write_verdict(chained: _Chained, spec: StudySpec, bare: _Bare, found: _Verdict) -> VerdictNote:
    number, conclusion = bare.stratum.number, found.conclusion
    chained.document(stratum_file(number, CONCLUSION), encode(conclusion))
    script = script_of(conclusion, bare.plans, spec.workload, bare.samples)
    if script is not None:
        chained.document(stratum_file(number, SCRIPT), script.encode(), end=b"")
    return VerdictNote(stratum=number, samples=conclusion.launches, engine=found.engine)


def _versions(source: Source, redactor: Redactor) -> dict[str, str]:
    """What wrote the bundle, what measured, and how the store was laid out."""
    from assay.store.schema import HEAD

    measured = _several(one.stratum.engine for one in source.strata)
    launchers = _several(sample.engine for one in source.strata for sample in one.samples)
    return {
        **engine(),
        "measured_by": redactor.text(measured),
        "launcher": redactor.text(launchers),
        "store_schema": HEAD,
    }


def _several(found: Iterable[str]) -> str:
    return ", ".join(sorted({one for one in found if one}))
