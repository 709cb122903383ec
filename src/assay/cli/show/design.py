"""Cells of a sweep, before the first launch or in a dry run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from assay.api.composition import opened_store
from assay.api.studies.sweeping import plan_words
from assay.cli.show.layout import wrapped
from assay.errors import InvalidInputError, NotPossibleError
from assay.records import StudySpec
from assay.search.conclusion.cells import baseline_text
from assay.search.conclusion.notes import too_few_blocks_notes
from assay.search.history.remaining_budget import LAUNCH_OVERHEAD_S
from assay.study.typical_wall_time import typical_wall_s
from assay.units import show_count, show_duration
from assay.untrusted import clean


def announced(spec: StudySpec, width: int | None) -> Iterator[str]:
    """Return the lines before a sweep: the number of cells, the plan and its limits.

    Args:
        spec: specification of the sweep.
        width: width of the terminal, in columns; ``None`` for none.
    """
    plan = f"assay: {show_count(len(spec.arms), 'cell')}: {plan_words(spec)}"
    return wrapped([plan, *(f"assay: {note}" for note in too_few_blocks_notes(spec))], width)


def design_lines(db: str | None, spec: StudySpec, launches: int) -> Iterator[str]:
    """Yield all cells, and the launches and the time that they need."""
    yield f"{show_count(len(spec.arms), 'cell')}:"
    for number, arm in enumerate(spec.arms):
        yield f"  {clean(arm.name)}{'   (baseline)' if number == 0 else ''}"
    first = spec.arms[0]
    if words := baseline_text(first.name, first.configuration, spec.space):
        yield clean(words)
    for note in (*(spec.design.notes if spec.design else ()), *too_few_blocks_notes(spec)):
        yield f"  note: {clean(note)}"
    yield f"{plan_words(spec)}:"
    yield f"at least {show_count(launches, 'launch', 'launches')}{_time(db, spec, launches)}"
    budget = spec.budget
    if budget.launches is not None:
        fits = "fits into" if launches <= budget.launches else "does not fit into"
        yield f"which {fits} the {show_count(budget.launches, 'launch', 'launches')} of the budget"
    if budget.time_s is not None:
        yield _fit(budget.time_s, launches)


def _fit(budget_s: float, launches: int) -> str:
    """Return the words on the launches that a budget of time allows."""
    each_s = budget_s / launches - LAUNCH_OVERHEAD_S
    whole = f"the {show_duration(budget_s)} of the budget"
    if each_s <= 0.0:
        least = show_duration(launches * LAUNCH_OVERHEAD_S)
        return f"which does not fit into {whole}: assay itself takes about {least}"
    return f"which fits into {whole} if a launch takes up to {show_duration(each_s)} on average"


def _time(db: str | None, spec: StudySpec, launches: int) -> str:
    """Return the estimated time, if an earlier study has measured this command; else nothing."""
    try:
        with opened_store(db, create=False) as store:
            usual_s = typical_wall_s(store, shlex.join(spec.workload.argv))
    except (InvalidInputError, NotPossibleError):  # no store yet
        return ""
    if usual_s is None:
        return ""
    total = show_duration(launches * (usual_s + LAUNCH_OVERHEAD_S))
    return f", about {total} at {show_duration(usual_s)} each, as in the last study of this command"
