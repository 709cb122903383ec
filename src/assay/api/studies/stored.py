"""Stored studies as input of reports."""

from __future__ import annotations

from assay.machine.document import machine_in
from assay.reporting.inputs import ReportInput
from assay.search.space.labels import label_conclusion, label_samples
from assay.store import Store
from assay.study.elapsed import elapsed_of
from assay.study.result import StudyResult, stored_result


def report_input(store: Store, study_id: str) -> tuple[ReportInput, StudyResult | None]:
    """Return the newest stratum of a study as input of a report, and its stored result.

    Args:
        store: store of the study.
        study_id: complete id.

    Raises:
        InvalidInputError: the store has no such study.
    """
    record = store.study(study_id)
    newest = record.strata[-1]
    samples = store.samples(study_id, newest.number)
    result = stored_result(store, record, samples)
    conclusion = label_conclusion(record.spec, result.conclusion) if result else None
    recommendation = conclusion.recommendation if conclusion else None
    report = ReportInput(
        study_id=study_id,
        spec=record.spec,
        strata=record.strata,
        samples=label_samples(record.spec, samples),
        conclusion=conclusion,
        machine=machine_in(newest.host),
        assay_version=newest.assay_version,
        created_at=record.created_at,
        elapsed_s=elapsed_of(store, record),
        script=recommendation.script if recommendation else "",
        status=record.status,
        floor=result.floor if result else None,
        explanation=result.explanation if result else None,
    )
    return report, result
