"""Cell: one configuration of a sweep or a comparison, to run it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.errors import InvalidInputError, nearest
from assay.records import ArmResult, Conclusion, Configuration, Kind, Verdict
from assay.untrusted import clean

if TYPE_CHECKING:
    from assay.store import StudyRecord


class Cell(NamedTuple):
    """One cell.

    Attributes:
        name: as tables have it.
        settings: its configuration.
        proven: whether a claim shows that it is better than the baseline, or it is the baseline.
    """

    name: str
    settings: Configuration
    proven: bool


def has_cells(record: StudyRecord) -> bool:
    """Return whether a study compares configurations side by side, and recommends none of them."""
    return record.spec.kind in (Kind.SWEEP, Kind.COMPARE) and record.conclusion is not None


def cell_of(record: StudyRecord, asked: str | None, *, unproven: bool) -> Cell:
    """Return the cell of a sweep, or the arm of a comparison, that is to run again.

    Args:
        record: of a study with cells.
        asked: its name, or its settings in any order; ``None`` for the best one.
        unproven: whether the best one is accepted that no claim shows to be better.

    Raises:
        InvalidInputError: there is no such cell; or none was shown to be better, and it has to be.
    """
    conclusion = record.conclusion
    assert conclusion is not None
    cells = _in_order(record, conclusion)
    if asked is not None:
        return _as_cell(_named(asked, cells, record), conclusion)
    best = _best(cells, record, conclusion, proven=True)
    if best is not None:
        return _as_cell(best, conclusion)
    most = _best(cells, record, conclusion, proven=False)
    if most is not None and unproven:
        return _as_cell(most, conclusion)
    tells = f"`assay study show {record.id}` shows all of them"
    if most is None:
        raise InvalidInputError(f"No cell of study {record.id} has a value.", f"{tells}.")
    raise InvalidInputError(
        f"No cell of study {record.id} was shown to be better than {clean(cells[0].name)}.",
        f"--unproven runs the one with the best median, {clean(most.name)}; --cell NAME runs any "
        f"other; {tells}, and `assay study resume {record.id} --budget TIME` goes on.",
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


def _named(asked: str, cells: list[ArmResult], record: StudyRecord) -> ArmResult:
    words = sorted(asked.split())
    for cell in cells:
        if cell.name == asked or (words and sorted(str(cell.configuration).split()) == words):
            return cell
    near = nearest(asked, [cell.name for cell in cells])
    raise InvalidInputError(
        f"Study {record.id} has no cell {clean(asked)!r}.",
        f"A cell goes by its name, such as {clean(cells[-1].name)!r}; "
        f"`assay study show {record.id}` shows them"
        + (f". Did you mean {clean(near)!r}?" if near else "."),
    )


def _as_cell(cell: ArmResult, conclusion: Conclusion) -> Cell:
    better = any(c.b == cell.name and c.verdict is Verdict.FASTER for c in conclusion.claims)
    baseline = any(c.a == cell.name for c in conclusion.claims)
    return Cell(cell.name, cell.configuration, better or baseline)
