"""Unreadable content of a store: values and documents that this version does not know."""

from __future__ import annotations

import enum
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from assay.store.errors import DamagedStudyError

E = TypeVar("E", bound=enum.Enum)

PACKED_ERRORS = (zlib.error, LookupError)
"""Errors of damaged packed documents, and of missing references."""


def enum_member(kind: type[E], text: str, study_id: str) -> E:
    """Return the member of an enumeration for the value of a column.

    Raises:
        NotPossibleError: unknown value.
    """
    try:
        return kind(text)
    except ValueError as error:
        how = f"unknown {kind.__name__.lower()} {text!r}."
        raise unreadable_error(study_id, how) from error


@contextmanager
def reading_packed(study_id: str) -> Iterator[None]:
    """Translate errors of packed documents.

    Raises:
        DamagedStudyError: a packed document is damaged, or its references are missing.
    """
    try:
        yield
    except PACKED_ERRORS as error:
        raise damaged_document_error(study_id, error) from error


def damaged_document_error(study_id: str, error: Exception) -> DamagedStudyError:
    """Return the error for a packed document that cannot be unpacked."""
    return unreadable_error(study_id, f"damaged packed document: {error}.")


def unreadable_error(study_id: str, how: str) -> DamagedStudyError:
    """Return the error for unreadable content of a study.

    Args:
        study_id: id of the study.
        how: the unreadable part, a sentence.
    """
    return DamagedStudyError(
        f"Cannot read study {study_id}: {how}",
        "The store is damaged, or a newer assay wrote the study. Nothing was changed.",
    )
