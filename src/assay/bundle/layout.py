"""What a bundle holds, by name: docs/reference/bundle.md."""

from __future__ import annotations

import re
from typing import Literal

from assay.records import HashedPart, Status, StudySpec
from assay.records.codec import Record

FORMAT = "assay-bundle"
SCHEMA = 1
MANIFEST = "manifest.json"
STUDY = "study.json"

STRATUM, PLANS, SAMPLES = "stratum.json", "plans.jsonl", "samples.jsonl"
OUTPUTS, CONCLUSION, SCRIPT = "outputs.jsonl", "conclusion.json", "recommended.sh"
OF_STRATUM = (STRATUM, PLANS, SAMPLES, OUTPUTS, CONCLUSION, SCRIPT)
"""Files of one stratum, in the order of the chain; the last three may be absent."""

FILE_NAME = re.compile(
    rf"{re.escape(STUDY)}|strata/(?:0|[1-9]\d{{0,5}})/(?:{'|'.join(OF_STRATUM)})"
)

MAX_BYTES = 1 << 30
"""Of all files together, unpacked: 50,000 launches with as much output as is kept."""
MAX_ENTRY_BYTES = 16 << 20
"""Of one entry; a machine of a thousand CPUs takes half a megabyte."""
MAX_FILES = 10_000


def stratum_file(stratum: int, file: str) -> str:
    """Where a file of a stratum lies."""
    return f"strata/{stratum}/{file}"


class StudyDocument(Record, frozen=True, kw_only=True):
    """``study.json``: what was asked.

    Attributes:
        created_at: seconds since 1970 (UTC).
        elapsed_s: spent on it over all sittings.
        status: when it was exported.
    """

    id: str
    status: Status
    created_at: float
    elapsed_s: float
    spec: StudySpec


class Stream(Record, frozen=True, kw_only=True):
    """What is kept of one stream of a launch.

    Attributes:
        size_bytes: all that was written.
        sha256: over what ``hashed`` says. Where names were taken out, or a character that was cut
            through at an end, over what is here of the stream; where it was over more than that,
            names leave none.
        head, tail: first and last bytes: text, or Base64 where ``encoding`` says so.
    """

    stream: str
    size_bytes: int
    sha256: str | None = None
    hashed: HashedPart = HashedPart.WHOLE
    encoding: Literal["utf-8", "base64"] = "utf-8"
    head: str = ""
    tail: str = ""


class OutputDocument(Record, frozen=True, kw_only=True):
    """A line of ``outputs.jsonl``: of the sample with this number, counted from 1."""

    sample: int
    streams: tuple[Stream, ...]


class FileNote(Record, frozen=True, kw_only=True):
    """A file of a bundle: how many entries it has, and the chain value after the last of them."""

    name: str
    entries: int
    head: str


class VerdictNote(Record, frozen=True, kw_only=True):
    """What a verdict document rests on.

    Attributes:
        samples: the first so many of the stratum: a study may have gone on since.
        engine: version of each package that it was worked out with.
    """

    stratum: int
    samples: int
    engine: dict[str, str]


class Manifest(Record, frozen=True, kw_only=True):
    """``manifest.json``: the last entry of the chain.

    Attributes:
        files: in the order of the chain.
        head: chain value after the last of them.
        versions: of what wrote the bundle and what measured.
        replaced: how often each token stands in place of a name.
        outputs: whether outputs of the program were taken along.
    """

    format: str
    schema: int
    study: str
    versions: dict[str, str]
    files: tuple[FileNote, ...]
    head: str
    verdicts: tuple[VerdictNote, ...] = ()
    replaced: dict[str, int] = {}
    outputs: bool = True
