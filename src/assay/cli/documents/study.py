"""Types of the documents of ``assay study`` about files and deletion."""

from __future__ import annotations

from assay.records.codec import SCHEMA, Record


class ExportedFile(Record, frozen=True, kw_only=True):
    """One exported file.

    Attributes:
        form: format of the file: ``bundle``, ``csv``, ``json``, ``openmetrics`` or ``series``.
        file: path of the file.
        study: identifier of the study.
        samples: number of samples.
        size_bytes: size of the file, in bytes; absent for standard output.
        head: digest at the end of the chain of a bundle.
        replacements: number of replacements in a bundle, by kind of name.
        includes_outputs: true if the bundle contains the output of the program.
        notes: limitations of a bundle for its readers, as sentences.
    """

    form: str
    file: str
    study: str
    samples: int
    size_bytes: int | None = None
    head: str | None = None
    replacements: dict[str, int] | None = None
    includes_outputs: bool | None = None
    notes: tuple[str, ...] | None = None


class StudyExportAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay study export``.

    Attributes:
        study: identifier of the study.
        files: description of each file.
    """

    study: str
    files: tuple[ExportedFile, ...]


class VerdictDifference(Record, frozen=True, kw_only=True):
    """First difference between a recorded verdict and the recomputed one.

    Attributes:
        key: name of the key, or of the line.
        recorded: value in the bundle; ``absent`` if the bundle lacks the key.
        recomputed: value that the samples give; ``absent`` if they give none.
    """

    key: str
    recorded: str
    recomputed: str


class CheckedVerdict(Record, frozen=True, kw_only=True):
    """Check of one verdict.

    Attributes:
        stratum: number of the stratum.
        samples: number of samples that the verdict rests on.
        holds: true if the verdict follows from the samples.
        difference: first difference from the recomputed verdict.
        error: reason why the verdict cannot be computed.
        recorded_versions: versions of the packages that computed the recorded verdict, by name;
            only of packages whose present version differs.
    """

    stratum: int
    samples: int
    holds: bool
    difference: VerdictDifference | None = None
    error: str | None = None
    recorded_versions: dict[str, str] = {}


class BrokenEntry(Record, frozen=True, kw_only=True):
    """First damaged or modified part of a bundle.

    Attributes:
        file: name of the file in the bundle.
        entry: number of the entry, from 1; absent for the whole file.
        description: damage of the part, as the predicate of a sentence.
    """

    file: str
    entry: int | None = None
    description: str


class CheckedSignature(Record, frozen=True, kw_only=True):
    """Check of the signature of a bundle.

    Attributes:
        good: true if the signature is valid.
        description: signer, or reason of the failure.
    """

    good: bool
    description: str


class StudyVerifyAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay study verify``.

    Attributes:
        bundle: path of the file.
        study: identifier of the study; absent, like ``entries``, ``head``, ``versions`` and
            ``verdicts``, if the manifest of the bundle is unreadable.
        holds: true if the data, the verdicts and a given signature are valid.
        entries: number of entries in the chain whose digests are valid.
        head: digest at the end of the chain of entries.
        versions: versions of assay and its libraries, by name.
        verdicts: check of each verdict; empty if the data was changed.
        broken: first damaged or modified part.
        signature: check of the given signature.
    """

    bundle: str
    study: str | None = None
    holds: bool
    entries: int | None = None
    head: str | None = None
    versions: dict[str, str] | None = None
    verdicts: tuple[CheckedVerdict, ...] | None = None
    broken: BrokenEntry | None = None
    signature: CheckedSignature | None = None


class StudyDeleteAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay study delete``.

    Attributes:
        deleted: identifier of the study.
    """

    deleted: str


class StudyLabelAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay study label``.

    Attributes:
        study: identifier of the study.
        labels: all labels of the study, in alphabetical order.
    """

    study: str
    labels: tuple[str, ...]


class PrunedStudy(Record, frozen=True, kw_only=True):
    """Study that loses data.

    Attributes:
        id: identifier of the study.
        command: workload of the study.
        created_at: time of creation, in seconds since 1970 (UTC).
        launches: number of launches before.
        freed_bytes: approximate size of the deleted data, in bytes.
    """

    id: str
    command: str
    created_at: float
    launches: int
    freed_bytes: int


class KeptStudy(Record, frozen=True, kw_only=True):
    """Study that is left as it is.

    Attributes:
        id: identifier of the study.
        reason: reason, as a clause.
        damaged: true if a part of the study is unreadable; the exit status is then 1.
    """

    id: str
    reason: str
    damaged: bool = False


class StudyPruneAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay study prune``.

    Attributes:
        applied: true if the data were deleted; false without ``--yes``.
        studies: studies that lose data, the oldest first.
        kept: studies of the policy that are left whole.
        freed_bytes: approximate size of the deleted data, in bytes.
    """

    applied: bool
    studies: tuple[PrunedStudy, ...]
    kept: tuple[KeptStudy, ...]
    freed_bytes: int


class StudyCompactAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay study compact``.

    Attributes:
        packed_samples: number of samples whose documents were packed.
        before_bytes: size of the store before, in bytes.
        after_bytes: size of the store after, in bytes.
        free_bytes: free space within the store, for new samples, in bytes.
        vacuumed: true if free space was returned to the file system.
        left_out: studies that were left as they are.
    """

    packed_samples: int
    before_bytes: int
    after_bytes: int
    free_bytes: int
    vacuumed: bool
    left_out: tuple[KeptStudy, ...]
