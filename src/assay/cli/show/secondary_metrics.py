"""Metrics other than the objective as lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.cli.show.cells import MAX_CELLS_SHOWN
from assay.records import ArmResult, Conclusion, StudySpec
from assay.reporting.formatting import shorten
from assay.search.conclusion.cells import best_claim
from assay.units import show_count, show_quantity
from assay.untrusted import clean
from assay.wording.observed_metrics import ObservedMetricRow, mean_interval, observed_metric_rows

HEADS = ("", "n", "mean", "interval", "median", "max")
GAP = "  "
NAME_CHARACTERS = 120


def secondary_metric_lines(
    conclusion: Conclusion, spec: StudySpec, width: int | None = None
) -> list[str]:
    """Return a line for each arm and each metric other than the objective.

    Args:
        conclusion, spec: conclusion and specification of a study.
        width: width of the terminal, in columns; unlimited if absent.
    """
    shown = _shown(conclusion)
    rows = observed_metric_rows(spec, shown)
    if not rows:
        return []
    lines = ["  other metrics, as means of launches:"]
    cells = [_cells(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(HEADS, *cells, strict=True)]
    wide = width is None or 4 + sum(widths) + len(GAP) * (len(widths) - 1) <= width
    previous = None
    for row, numbers in zip(rows, cells, strict=True):
        if row.metric.name != previous:
            head = f"  {clean(row.metric.name)}"
            lines.append(f"{head:{4 + widths[0]}}{_figures(HEADS, widths)}" if wide else head)
        previous = row.metric.name
        lines += (
            [f"    {numbers[0]:{widths[0]}}{_figures(numbers, widths)}"]
            if wide
            else [
                f"    {numbers[0]}",
                *_listed(numbers, width or 0),
            ]
        )
    hidden = len(conclusion.arms) - len(shown)
    if hidden:
        lines.append(f"  and {show_count(hidden, 'cell')} more: --export FILE.csv has them all")
    return [line.rstrip() for line in lines]


def _shown(conclusion: Conclusion) -> Sequence[ArmResult]:
    """Return the arms; of more than ``MAX_CELLS_SHOWN`` the baseline and the best."""
    arms = conclusion.arms
    if len(arms) <= MAX_CELLS_SHOWN:
        return arms
    best = best_claim(conclusion)
    return [arms[0], *(arm for arm in arms[1:] if best is not None and arm.name == best.b)]


def _cells(row: ObservedMetricRow) -> tuple[str, ...]:
    name = shorten(clean(row.arm.name), NAME_CHARACTERS)
    found, unit = row.summary, row.metric.unit
    if found is None:
        return name, "0", "no value", "", "", ""
    mean, median, most = (
        show_quantity(value, unit) for value in (found.mean, found.median, found.max)
    )
    return name, str(found.n), mean, mean_interval(found, unit) or "too few", median, most


def _figures(cells: Sequence[str], widths: Sequence[int]) -> str:
    pairs = zip(cells[1:], widths[1:], strict=True)
    return "".join(f"{GAP}{cell:>{room}}" for cell, room in pairs)


def _listed(cells: Sequence[str], width: int) -> Iterable[str]:
    """Yield the values of an arm with their names, in lines that fit the width."""
    line = ""
    for part in (f"{head} {cell}" for head, cell in zip(HEADS[1:], cells[1:], strict=True) if cell):
        if line and 6 + len(line) + len(GAP) + len(part) > width:
            yield f"      {line}"
            line = ""
        line += f"{GAP}{part}" if line else part
    yield f"      {line}"
