"""Build evidence: description, in a sample, of the build that its launch ran."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from assay.records import Evidence, Sample
from assay.records.sample import BUILD, REVISION
from assay.units import show_count
from assay.untrusted import clean

if TYPE_CHECKING:
    from assay.executors.builds.cache import BuildNote

_KEY_DIGITS = 16
_COMMIT_DIGITS = 12
_SHOWN_FILES = 3


def build_evidence(note: BuildNote) -> Evidence:
    """Return evidence of a build and its duration."""
    compiler = f" ({note.compiler})" if note.compiler else ""
    note_text = f"{_named(note.key, note.argv)}{compiler}"
    return Evidence(kind=BUILD, value=note.elapsed_s, unit="s", note=note_text)


def revision_evidence(
    values: Mapping[str, str], commits: Mapping[str, str], uncommitted: Sequence[str]
) -> tuple[Evidence, ...]:
    """Return evidence of the commits that a program was built from.

    Args:
        values: values of ``build.NAME``, by name.
        commits: commits that some of these values name.
        uncommitted: tracked files with uncommitted changes.
    """
    evidence = [
        f"build.{name}={values[name]} is commit {commit[:_COMMIT_DIGITS]}"
        for name, commit in commits.items()
    ]
    if uncommitted:
        named = ", ".join(uncommitted[:_SHOWN_FILES])
        more = ", ..." if len(uncommitted) > _SHOWN_FILES else ""
        files = show_count(len(uncommitted), "file")
        evidence.append(f"{files} of the working folder with uncommitted changes: {named}{more}")
    return tuple(Evidence(kind=REVISION, note=clean(note)) for note in evidence)


def _named(key: str, argv: tuple[str, ...]) -> str:
    return f"{key[:_KEY_DIGITS]}: {shlex.join(argv)}"


def builds_in(samples: Iterable[Sample]) -> frozenset[str]:
    """Return the build descriptions of samples."""
    pieces = (piece for sample in samples for piece in sample.evidence)
    return frozenset(p.note for p in pieces if p.kind == BUILD and p.value is not None and p.note)


def is_build_of(description: str, argv: tuple[str, ...], key: str | None = None) -> bool:
    """Return whether a build description refers to this command, and to this key if given."""
    named = _named(key or description[:_KEY_DIGITS], argv)
    return description == named or description.startswith(f"{named} (")
