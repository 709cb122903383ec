"""Result of a session over all its processes."""

from __future__ import annotations

from assay.api.composition import opened_store
from assay.api.results.result import Result
from assay.api.studies.stored import report_input
from assay.records import Status
from assay.store import Store
from assay.study.trials import conclude_trials


def session_result(study_id: str, db: str | None) -> Result:
    """Return the result of a study of trials; an interrupted one is concluded from its samples.

    Args:
        study_id: id of the study.
        db: path or URL of the store; ``None`` for the default one.

    Raises:
        NotPossibleError: another process runs the study.
    """
    with opened_store(db, create=False) as store:
        _conclude_interrupted(store, study_id)
        report, result = report_input(store, study_id)
    return Result(report, result)


def _conclude_interrupted(store: Store, study_id: str) -> None:
    if store.study(study_id).status is not Status.INTERRUPTED:
        return
    store.acquire(study_id)
    try:
        conclude_trials(store, study_id, None)
    finally:
        store.release(study_id)
