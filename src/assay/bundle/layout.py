"""Layout of a bundle: names and documents of its files (docs/reference/bundle.md)."""

from __future__ import annotations

import re
from typing import Literal

from assay.records import HashedPart, Status, StudySpec
from assay.records.codec import Record

FORMAT = "assay-bundle"
MANIFEST = "manifest.json"
STUDY = "study.json"

STRATUM, PLANS, SAMPLES = "stratum.json", "plans.jsonl", "samples.jsonl"
OUTPUTS, CONCLUSION, SCRIPT = "outputs.jsonl", "conclusion.json", "recommended.sh"
STRATUM_FILES = (STRATUM, PLANS, SAMPLES, OUTPUTS, CONCLUSION, SCRIPT)
"""Files of one stratum, in the order of the chain; the last three may be absent."""

FILE_NAME = re.compile(
    rf"{re.escape(STUDY)}|strata/(?:0|[1-9]\d{{0,5}})/(?:{'|'.join(STRATUM_FILES)})"
)

MAX_BYTES = 1 << 30
"""Maximum unpacked size of all files: 50,000 launches with complete outputs."""
MAX_ENTRY_BYTES = 16 << 20
"""Maximum size of an entry; a machine document of a thousand CPUs takes half a megabyte."""
MAX_FILES = 10_000


def stratum_file(stratum: int, file: str) -> str:
    """Return the name of a file of a stratum."""
    return f"strata/{stratum}/{file}"


class StudyDocument(Record, frozen=True, kw_only=True):
    """``study.json``: the specification.

    Attributes:
        created_at: time of creation, in seconds since 1970 (UTC).
        elapsed_s: time spent over all sessions, in seconds.
        status: status at the time of export.
    """

    id: str
    status: Status
    created_at: float
    elapsed_s: float
    spec: StudySpec


class Stream(Record, frozen=True, kw_only=True):
    """Stored part of a stream of a launch.

    Attributes:
        stream: name of the stream: ``stdout`` or ``stderr``.
        size_bytes: number of bytes written.
        sha256: digest of the part named by ``digest_scope``. If names were replaced or a character
            was cut at an end, digest of the stored part; ``None`` if names were replaced and the
            digest would cover more than that.
        digest_scope: part of the stream that ``sha256`` covers.
        encoding: encoding of ``head`` and ``tail``.
        head: first bytes, as text or in Base64.
        tail: last bytes, as text or in Base64.
    """

    stream: str
    size_bytes: int
    sha256: str | None = None
    digest_scope: HashedPart = HashedPart.WHOLE
    encoding: Literal["utf-8", "base64"] = "utf-8"
    head: str = ""
    tail: str = ""


class OutputDocument(Record, frozen=True, kw_only=True):
    """Line of ``outputs.jsonl``: outputs of the sample with this number, counted from 1."""

    sample: int
    streams: tuple[Stream, ...]


class FileNote(Record, frozen=True, kw_only=True):
    """File of a bundle.

    Attributes:
        name: path of the file in the archive.
        entries: number of entries.
        head: chain value of the last entry: a SHA-256 in hexadecimal digits.
    """

    name: str
    entries: int
    head: str


class VerdictNote(Record, frozen=True, kw_only=True):
    """Basis of a conclusion.

    Attributes:
        stratum: number of the stratum, from 0.
        samples: number of samples from the start of the stratum; later ones are not part of it.
        versions: version of each package that computed it.
    """

    stratum: int
    samples: int
    versions: dict[str, str]


class Manifest(Record, frozen=True, kw_only=True):
    """``manifest.json``: the last entry of the chain.

    Attributes:
        format: name of the format: ``assay-bundle``.
        schema: version of the format.
        study: identifier of the study.
        versions: versions of the programs that wrote the bundle and that measured.
        files: files in the order of the chain.
        head: chain value after the last file.
        verdicts: basis of the conclusion of each stratum that has one.
        replacements: number of replacements by token.
        includes_outputs: true if the bundle contains outputs of the program.
    """

    format: str
    schema: int
    study: str
    versions: dict[str, str]
    files: tuple[FileNote, ...]
    head: str
    verdicts: tuple[VerdictNote, ...] = ()
    replacements: dict[str, int] = {}
    includes_outputs: bool = True
