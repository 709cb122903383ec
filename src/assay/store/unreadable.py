"""Unreadable content of a store: values and documents that this version does not know."""

from __future__ import annotations

import enum
from typing import TypeVar

from assay.errors import NotPossibleError

E = TypeVar("E", bound=enum.Enum)


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


def unreadable_error(study_id: str, how: str) -> NotPossibleError:
    """Return the error for unreadable content of a study.

    Args:
        study_id: id of the study.
        how: the unreadable part, a sentence.
    """
    return NotPossibleError(
        f"Cannot read study {study_id}: {how}",
        "The store is damaged, or a newer assay wrote the study. Nothing was changed.",
    )
