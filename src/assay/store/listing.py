"""Selection of studies, and their ids and labels. No query reads samples or all studies."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, Select, func, or_, select

from assay.errors import InvalidInputError
from assay.store.base import StudySelection
from assay.store.ids import ambiguous_error, is_last, unknown_error
from assay.store.rows import LAUNCHES, Row
from assay.store.schema import LABEL, STRATUM, STUDY

_OLDEST_FIRST = (STUDY.c.created_at, STUDY.c.number)
_NEWEST_FIRST = (STUDY.c.created_at.desc(), STUDY.c.number.desc())
_MAX_LABEL = 100
_SHOWN_IDS = 6
_COLUMNS = ("number", "id", "command", "kind", "status", "created_at")
_LABELS = (
    select(func.group_concat(LABEL.c.label, "\n"))
    .where(LABEL.c.study == STUDY.c.id)
    .scalar_subquery()
    .label("labels")
)


def selected_rows(connection: Connection, selection: StudySelection) -> Sequence[Row]:
    """Return the rows of the selected studies, oldest first.

    They have the columns ``launches`` and ``labels``, whose lines are labels.
    """
    columns = [STUDY.c[name] for name in _COLUMNS]
    query = select(*columns, LAUNCHES, _LABELS).where(*_conditions(selection))
    if selection.limit is None:
        return connection.execute(query.order_by(*_OLDEST_FIRST)).all()
    newest = connection.execute(query.order_by(*_NEWEST_FIRST).limit(selection.limit)).all()
    return newest[::-1]


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


def labels_in(lines: str | None) -> tuple[str, ...]:
    """Return the labels in the column of ``selected_rows``."""
    return tuple(sorted(lines.split("\n"))) if lines else ()


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


def _conditions(selection: StudySelection) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if selection.label is not None:
        labelled = select(LABEL.c.study).where(LABEL.c.label == selection.label)
        found.append(STUDY.c.id.in_(labelled))
    if selection.command is not None:
        found.append(func.instr(STUDY.c.command, selection.command) > 0)
    if selection.since is not None:
        found.append(STUDY.c.created_at >= selection.since)
    if selection.before is not None:
        found.append(STUDY.c.created_at < selection.before)
    if selection.machine is not None:
        found.append(STUDY.c.id.in_(_measured_on(selection.machine)))
    return found


def _measured_on(machine: str) -> Select[tuple[str]]:
    """Return a query of the ids of studies on a machine."""
    # Strata of schema 0004 and older state the processor in their document only.
    model = func.coalesce(STRATUM.c.model, func.json_extract(STRATUM.c.document, "$.model"))
    matches = or_(
        func.substr(STRATUM.c.machine, 1, len(machine)) == machine,
        func.instr(func.lower(model), machine.lower()) > 0,
    )
    return select(STRATUM.c.study).where(matches)
