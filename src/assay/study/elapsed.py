"""Time that was spent on a study, from its record and its launches."""

from __future__ import annotations

from assay.records import (
    Status,
)
from assay.store import Store, StudyRecord
from assay.study.earlier_samples import launching_s


def elapsed_of(store: Store, record: StudyRecord) -> float:
    """Return the time spent on a study over all strata, in seconds.

    A running or killed session has not stored its time; the times of its launches are used instead.
    """
    if record.status is Status.DONE:
        return record.elapsed_s
    return max(record.elapsed_s, _launching_s(store, record))


def _launching_s(store: Store, record: StudyRecord, without: int | None = None) -> float:
    """Return a lower bound of the time of the launches of a study, in seconds.

    Args:
        store: store of the study.
        record: record of the study.
        without: number of a stratum to leave out.
    """
    numbers = (stratum.number for stratum in record.strata if stratum.number != without)
    return sum(
        launching_s(s) for number in numbers for s in store.iterate_samples(record.id, number)
    )


def recounted_s(store: Store, study_id: str, stratum: int, here_s: float) -> float:
    """Return the time spent on a stratum; each has the whole budget of the study.

    The store knows neither the stratum of a session nor the time of a killed one. Both follow from
    the samples, and the missing time is added to the study.

    Args:
        store: store of the study.
        study_id: complete id.
        stratum: number of the stratum.
        here_s: lower bound of the time of its launches, in seconds.
    """
    record = store.study(study_id)
    spent_s = max(record.elapsed_s, here_s + _launching_s(store, record, without=stratum))
    store.add_elapsed(study_id, max(0.0, spent_s - record.elapsed_s))
    return here_s if len(record.strata) > 1 else spent_s
