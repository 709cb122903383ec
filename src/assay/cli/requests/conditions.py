"""Conditions of ``assay study compare``: launches of studies, or published figures."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from assay.api.composition import opened_store
from assay.errors import InvalidInputError, NotPossibleError
from assay.records import Conclusion, Kind, Sample, Status, Stratum, StudySpec
from assay.records.comparison import ConditionSource
from assay.requests.stored_study import StudyCompareRequest
from assay.search.occasions.measured import measured_condition
from assay.search.occasions.pool import OccasionCandidate
from assay.search.occasions.published import SUMMARY_EXAMPLE, is_summary, row_of, summary_of
from assay.search.occasions.side import MeasuredCondition, Side
from assay.store import Store, StoredStratum

TABLES = (".csv",)
BUNDLES = (".zip", ".assay")
MAX_TABLE_BYTES = 16 << 20
_NAMED = (
    "Name a study, the file of a bundle, a line of a table as runs.csv:2, or " + SUMMARY_EXAMPLE
)


@dataclass(frozen=True)
class _StudyPart:
    """Part of a study: ``ID:STRATUM@ARM``; stratum and arm are optional."""

    name: str
    stratum: int | None = None
    arm: str | None = None


@dataclass(frozen=True)
class _Study:
    """One study, from the store or from a bundle."""

    id: str
    source: ConditionSource
    spec: StudySpec
    strata: Sequence[OccasionCandidate]
    conclusions: dict[int, Conclusion]
    notes: tuple[str, ...] = ()


class Conditions:
    """Reader of conditions; opens the store when the first condition needs it.

    Args:
        request: requested comparison.
        db: URL of the store; ``None`` for the default one.
        stack: context that closes the store.
    """

    def __init__(
        self, request: StudyCompareRequest, db: str | None, stack: contextlib.ExitStack
    ) -> None:
        self._request = request
        self._db = db
        self._stack = stack

    @cached_property
    def _store(self) -> Store:
        return self._stack.enter_context(opened_store(self._db, create=False))

    def side(self, text: str) -> Side:
        """Return the condition of a word.

        Raises:
            InvalidInputError: an unknown or unusable condition.
            NotPossibleError: the file is unreadable.
        """
        if is_summary(text) and not Path(text).exists():
            return summary_of(text)
        table = _table_line(text)
        if table is not None:
            path, line = table
            return row_of(_table(path), str(path), line)
        part = _file_part(text)
        if part is not None:
            return self._measured(text, part, _bundle(Path(part.name)))
        part = _stored_part(text)
        return self._measured(text, part, self._stored(part.name))

    def _measured(self, text: str, part: _StudyPart, study: _Study) -> MeasuredCondition:
        by_number = {one.stratum.number: one for one in study.strata}
        if not by_number:
            raise InvalidInputError(
                f"{text}: the study has no launches yet.", "Name another study."
            )
        number = max(by_number) if part.stratum is None else part.stratum
        if number not in by_number:
            known = ", ".join(map(str, by_number))
            raise InvalidInputError(
                f"{text}: the study has no stratum {number}.", f"It has {known}."
            )
        chosen = by_number[number]
        found = measured_condition(
            text,
            study.source,
            study.id,
            study.spec,
            chosen.stratum,
            chosen.samples(),
            conclusion=study.conclusions.get(number),
            arm=part.arm,
            metric=self._request.metric,
        )
        notes = tuple(f"{text}: {note}" for note in study.notes)
        return replace(found, notes=(*notes, *found.notes))

    def occasion_candidates(self, machines: Collection[str]) -> list[OccasionCandidate]:
        """Return the strata that may be an occasion: named ones, and those of the store.

        Args:
            machines: fingerprints of the compared machines. Calibrations of others are returned as
                well, for a note on them.
        """
        words = self._request.occasions
        found = [replace(one, named=True) for text in words for one in self._named(text)]
        with contextlib.suppress(InvalidInputError):  # without a store there are no more
            store = self._store
            strata = store.strata_of_machines(machines, Kind.CALIBRATE)
            found += [_stored_candidate(store, one) for one in strata]
        once = {(one.study, one.stratum.number): one for one in reversed(found)}
        return list(once.values())

    def _named(self, text: str) -> Sequence[OccasionCandidate]:
        part = _file_part(text)
        if part is not None:
            return _bundle(Path(part.name)).strata
        return self._stored(_stored_part(text).name).strata

    def _stored(self, text: str) -> _Study:
        store = self._store
        try:
            study_id = store.find(text)
        except InvalidInputError as error:
            raise InvalidInputError(
                error.cause, f"{error.remedy or ''} {_NAMED}".strip()
            ) from error
        record = store.study(study_id)
        running = record.status is Status.RUNNING
        return _Study(
            id=study_id,
            source=ConditionSource.STUDY,
            spec=record.spec,
            strata=self._strata_of(study_id),
            conclusions=store.conclusions(study_id),
            notes=("the study is still running: the comparison uses its launches so far",)
            if running
            else (),
        )

    def _strata_of(self, study_id: str) -> list[OccasionCandidate]:
        store = self._store
        record = store.study(study_id)

        def samples(number: int) -> Iterator[Sample]:
            return store.iterate_samples(study_id, number)

        return [_candidate(study_id, record.spec, one, samples) for one in record.strata]


def _stored_candidate(store: Store, one: StoredStratum) -> OccasionCandidate:
    """Return a candidate whose samples are read only if its time does not exclude it."""
    number = one.stratum.number
    candidate = _candidate(
        one.study, one.spec, one.stratum, lambda _: store.iterate_samples(one.study, number)
    )
    first = (one.created_at, one.created_at + one.elapsed_s)
    # A later stratum may have begun on another day.
    return replace(candidate, began=first if number == 0 else None, max_launches=one.launches)


def _candidate(
    study: str, spec: StudySpec, stratum: Stratum, samples: Callable[[int], Iterable[Sample]]
) -> OccasionCandidate:
    return OccasionCandidate(study, spec, stratum, lambda: samples(stratum.number))


def _table_line(text: str) -> tuple[Path, int] | None:
    """Return the file and the line of a row of a table; ``None`` for other words.

    Raises:
        InvalidInputError: a table without a line, or a missing one.
    """
    name, colon, line = text.rpartition(":")
    numbered = bool(colon) and line.isascii() and line.isdecimal() and len(line) < 10
    path = Path(name if numbered else text)
    if path.suffix.lower() not in TABLES:
        return None
    if not path.is_file():
        raise InvalidInputError(f"There is no file {path}.", _NAMED)
    if not numbered:
        raise InvalidInputError(
            f"{text} is a table; a row of it is named by its line.", f"Write for example {path}:2"
        )
    return path, int(line)


def _table(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_TABLE_BYTES:
            raise InvalidInputError(
                f"{path} exceeds the {MAX_TABLE_BYTES >> 20} MiB of a table.",
                "Keep only the rows to compare.",
            )
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{path} is not text in UTF-8.", "Save it as CSV in UTF-8."
        ) from error
    except OSError as error:
        raise NotPossibleError(
            f"{path} cannot be read: {error.strerror}.", "Check its permissions with `ls -l`."
        ) from error


def _file_part(text: str) -> _StudyPart | None:
    """Return the bundle, stratum and arm of a word; ``None`` if it names no file."""
    for name, arm in _splits(text):
        if Path(name).is_file():
            return _StudyPart(name, None, arm)
        before, colon, number = name.rpartition(":")
        if colon and _is_number(number) and Path(before).is_file():
            return _StudyPart(before, int(number), arm)
    if "/" in text or Path(text.partition("@")[0]).suffix in BUNDLES:
        raise InvalidInputError(f"There is no file {text.partition('@')[0]}.", _NAMED)
    return None


def _splits(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield the word split into name and arm, at each possible separator."""
    yield text, None
    for at, letter in enumerate(text):
        if letter == "@":
            yield text[:at], text[at + 1 :]


def _stored_part(text: str) -> _StudyPart:
    name, at, arm = text.partition("@")
    name, colon, number = name.partition(":")
    if colon and not _is_number(number):
        raise InvalidInputError(f"{text}: {number!r} is not the number of a stratum.", _NAMED)
    return _StudyPart(name, int(number) if colon else None, arm if at else None)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 7


def _bundle(path: Path) -> _Study:
    """Read and verify a bundle.

    Raises:
        InvalidInputError: not a bundle, or a modified one.
        NotPossibleError: it is unreadable, or has a later format.
    """
    from assay.bundle.read import BrokenBundleError
    from assay.bundle.verify import verify

    if not zipfile.is_zipfile(path):
        raise InvalidInputError(f"{path} is neither a bundle nor a table.", _NAMED)
    try:
        checked = verify(path)
    except BrokenBundleError as broken:
        raise _modified_error(path, broken.cause, broken.remedy) from broken
    if checked.broken is not None:
        raise _modified_error(path, checked.broken.cause, checked.broken.remedy)
    if checked.exit_status == 1:
        raise _modified_error(
            path,
            "a verdict in it does not follow from its samples.",
            f"`assay study verify {path}` names it.",
        )
    assert checked.study is not None
    spec, study_id = checked.study.spec, checked.study.id
    contents = checked.strata
    unchecked = "its verdict is that of another version of assay and was not checked"
    return _Study(
        id=study_id,
        source=ConditionSource.BUNDLE,
        spec=spec,
        strata=[
            _candidate(study_id, spec, one.stratum, lambda number: contents[number].samples)
            for one in contents.values()
            if one.stratum is not None
        ],
        conclusions={
            number: one.conclusion for number, one in contents.items() if one.conclusion is not None
        },
        notes=() if checked.holds else (unchecked,),
    )


def _modified_error(path: Path, cause: str, remedy: str | None) -> InvalidInputError:
    return InvalidInputError(
        f"{path} was changed after it was written, and is not compared: {cause}", remedy
    )
