"""Ids and labels of studies. No query reads samples or all studies."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from assay.errors import InvalidInputError
from assay.store.ids import ambiguous_error, is_last, unknown_error
from assay.store.schema import LABEL, STUDY

_OLDEST_FIRST = (STUDY.c.created_at, STUDY.c.number)
_NEWEST_FIRST = (STUDY.c.created_at.desc(), STUDY.c.number.desc())
_MAX_LABEL = 100
_SHOWN_IDS = 6


def find_id(connection: Connection, text: str) -> str:
    """Return the id that a text selects; see ``Store.find``.

    Raises:
        InvalidInputError: no match, or several.
    """
    wanted = text.strip().lower()
    found: Sequence[str]
    if is_last(wanted):
        query = select(STUDY.c.id).order_by(*_NEWEST_FIRST).limit(1)
        found = connection.execute(query).scalars().all()
    else:
        found = _beginning_with(connection, wanted) if wanted.isalnum() else ()
    if len(found) == 1 or wanted in found:
        return wanted if wanted in found else found[0]
    if found:
        raise ambiguous_error(text, found)
    known = connection.execute(select(STUDY.c.id).order_by(*_OLDEST_FIRST)).scalars().all()
    raise unknown_error(text, known)


def labels_of(connection: Connection, study_id: str) -> tuple[str, ...]:
    """Return the labels of a study in alphabetical order."""
    query = select(LABEL.c.label).where(LABEL.c.study == study_id).order_by(LABEL.c.label)
    return tuple(connection.execute(query).scalars().all())


def checked_label(label: str) -> str:
    """Return a label.

    Raises:
        InvalidInputError: it is empty, too long, or contains control characters.
    """
    if not label.strip() or len(label) > _MAX_LABEL or not label.isprintable():
        raise InvalidInputError(
            f"Invalid label {label!r}.",
            f"Write 1 to {_MAX_LABEL} printable characters, for example nightly.",
        )
    return label


def _beginning_with(connection: Connection, beginning: str) -> Sequence[str]:
    """Return the first ids with a beginning, from the index of ids; an id equal to it first."""
    if not beginning.isascii():
        return ()
    after = beginning[:-1] + chr(ord(beginning[-1]) + 1)
    query = select(STUDY.c.id).where(STUDY.c.id >= beginning, STUDY.c.id < after)
    return connection.execute(query.order_by(STUDY.c.id).limit(_SHOWN_IDS)).scalars().all()
