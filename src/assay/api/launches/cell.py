"""Cells of sweeps and arms of comparisons that ``assay run`` repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.errors import InvalidInputError, nearest
from assay.records import ArmResult, Conclusion, Configuration, Kind, Verdict
from assay.untrusted import clean

if TYPE_CHECKING:
    from assay.store import StudyRecord


class Cell(NamedTuple):
    """One configuration of a sweep or a comparison.

    Attributes:
        name: name in tables.
        settings: configuration of the cell.
        proven: a claim shows that the cell is better than the baseline, or it is the baseline.
    """

    name: str
    settings: Configuration
    proven: bool


def has_cells(record: StudyRecord) -> bool:
    """Return whether a study compares configurations without a recommendation."""
    return record.spec.kind in (Kind.SWEEP, Kind.COMPARE) and record.conclusion is not None


def cell_of(record: StudyRecord, name: str | None, *, unproven: bool) -> Cell:
    """Return a cell of a sweep, or an arm of a comparison.

    Args:
        record: record of a study with cells.
        name: name of the cell, or its settings in any order; ``None`` for the best cell.
        unproven: accept a best cell that no claim shows to be better.

    Raises:
        InvalidInputError: an unknown cell, or no cell that is shown to be better.
    """
    conclusion = record.conclusion
    assert conclusion is not None
    cells = _in_order(record, conclusion)
    if name is not None:
        return _as_cell(_named(name, cells, record), conclusion)
    best = _best(cells, record, conclusion, proven=True)
    if best is not None:
        return _as_cell(best, conclusion)
    candidate = _best(cells, record, conclusion, proven=False)
    if candidate is not None and unproven:
        return _as_cell(candidate, conclusion)
    remedy = f"`assay study show {record.id}` shows all of them"
    if candidate is None:
        raise InvalidInputError(f"No cell of study {record.id} has a value.", f"{remedy}.")
    raise InvalidInputError(
        f"No cell of study {record.id} was shown to be better than {clean(cells[0].name)}.",
        f"--unproven runs the one with the best median, {clean(candidate.name)}; --cell NAME runs "
        f"any other; {remedy}, and `assay study resume {record.id} --budget TIME` continues the "
        "study.",
    )


def _in_order(record: StudyRecord, conclusion: Conclusion) -> list[ArmResult]:
    """Return the cells as tables list them, without second names of the baseline."""
    from assay.search.conclusion.cells import sorted_by_settings

    names = {arm.name for arm in record.spec.arms}
    cells = [arm for arm in conclusion.arms if arm.name in names]
    return sorted_by_settings(cells, record.spec.space) if record.spec.kind is Kind.SWEEP else cells


def _best(
    cells: list[ArmResult], record: StudyRecord, conclusion: Conclusion, *, proven: bool
) -> ArmResult | None:
    from assay.search.conclusion.cells import best_claim, sorted_by_median

    if proven:
        claim = best_claim(conclusion)
        return next((c for c in cells if claim is not None and c.name == claim.b), None)
    metric = record.spec.workload.objective
    known = [cell for cell in cells if metric.name in cell.summary]
    return next(iter(sorted_by_median(known, metric)), None)


def _named(name: str, cells: list[ArmResult], record: StudyRecord) -> ArmResult:
    words = sorted(name.split())
    for cell in cells:
        if cell.name == name or (words and sorted(str(cell.configuration).split()) == words):
            return cell
    near = nearest(name, [cell.name for cell in cells])
    raise InvalidInputError(
        f"Study {record.id} has no cell {clean(name)!r}.",
        f"Write the name of a cell, such as {clean(cells[-1].name)!r}; "
        f"`assay study show {record.id}` shows them"
        + (f". Did you mean {clean(near)!r}?" if near else "."),
    )


def _as_cell(cell: ArmResult, conclusion: Conclusion) -> Cell:
    better = any(c.b == cell.name and c.verdict is Verdict.FASTER for c in conclusion.claims)
    baseline = any(c.a == cell.name for c in conclusion.claims)
    return Cell(cell.name, cell.configuration, better or baseline)
