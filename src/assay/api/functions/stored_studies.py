"""Public functions on stored studies."""

from __future__ import annotations

from typing import Unpack

from assay.api.composition import opened_store
from assay.api.functions.fields import boot_of, budget_of, disturbed_above_of, given_budget_of
from assay.api.functions.keywords import (
    ConfirmKeywords,
    FilePath,
    ResumeKeywords,
)
from assay.api.functions.known_keywords import demand_known
from assay.api.functions.public import with_keywords
from assay.api.functions.quantities import path_text
from assay.api.functions.session import result_of, session
from assay.api.functions.study_names import StudyName, study_id
from assay.api.results.result import Result
from assay.api.studies.confirming import confirm as execute_confirm
from assay.api.studies.resuming import resume_study
from assay.api.studies.stored import report_input
from assay.records import Budget
from assay.requests.stored_study import ConfirmRequest, ResumeRequest


def load_study(study: StudyName = "last", *, db: FilePath | None = None) -> Result:
    """Return the result, or the state, of a stored study.

    Args:
        study: id of the study, its beginning, ``last``, or its result.
        db: path or URL of the store (default: ASSAY_DB, or assay/assay.db in the user's state
            folder).

    Raises:
        InvalidInputError: the store has no such study.
        NotPossibleError: the store cannot be read.

    Examples:
        >>> import assay
        >>> result = assay.measure(["true"], runs=6)
        >>> assay.load_study("last").id == result.id
        True
    """
    name, path = study_id(study), path_text(db)
    with opened_store(path, create=False) as store:
        report, result = report_input(store, store.find(name))
    return Result(report, result)


@with_keywords(ResumeKeywords)
def resume(study: StudyName = "last", **options: Unpack[ResumeKeywords]) -> Result:
    """Continue a study that was interrupted, or that shall spend more.

    Without ``budget`` and ``runs`` an interrupted study continues with the rest of its own budget,
    and a finished one returns its result. With them it continues for that much more: an interrupted
    search goes on searching, a finished one confirms its recommendation further.

    Args:
        study: id of the study, its beginning, ``last``, or its result.
        **options: see ``ResumeKeywords``.

    Returns:
        Result of the newest stratum.

    Raises:
        AssayError: the program or the machine has changed, or the study fails.

    Examples:
        >>> import assay
        >>> first = assay.measure(["true"], runs=6)
        >>> more = assay.resume(first.id, runs=4)
        >>> len(more.samples) > len(first.samples)
        True
    """
    demand_known(options, ResumeKeywords, "resume")
    db = path_text(options.get("db"))
    budget = given_budget_of(options)
    request = ResumeRequest(
        study=study_id(study),
        budget=None if budget == Budget() else budget,
        new_stratum=bool(options.get("new_stratum")),
        boot=boot_of(options),
    )
    with session(options) as context, opened_store(db, create=False) as store:
        found = resume_study(request, context, store, store.find(request.study))
    return result_of(found, db)


@with_keywords(ConfirmKeywords)
def confirm(study: StudyName = "last", **options: Unpack[ConfirmKeywords]) -> Result:
    """Compare the recommendation of a study with the default, here and now.

    Args:
        study: id of the study, its beginning, ``last``, or its result.
        **options: see ``ConfirmKeywords``.

    Returns:
        Result of the comparison.

    Raises:
        AssayError: the study has no recommendation, or the comparison fails.

    Examples:
        >>> import assay
        >>> found = assay.tune(["sleep", "{s}"], {"arg.s": [0.02, 0.01]}, runs=60)
        >>> str(assay.confirm(found.id, runs=40).verdict)
        'faster'
    """
    demand_known(options, ConfirmKeywords, "confirm")
    db, point = path_text(options.get("db")), options.get("point")
    changes = options.get("disturbed_above") is not None
    request = ConfirmRequest(
        study=study_id(study),
        budget=budget_of(options),
        point=None if point is None else str(point),
        changes_disturbed_above=changes,
        disturbed_above=disturbed_above_of(options) if changes else None,
    )
    with session(options) as context, opened_store(db, create=False) as store:
        found = execute_confirm(request, context, store, store.find(request.study))
    return result_of(found, db)
