"""Cells and effects of a sweep as lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.records import ArmResult, Claim, Conclusion, FactorEffect, StudySpec, Value
from assay.records.configuration import show_value
from assay.search.conclusion.cells import (
    best_claim,
    cell_word,
    claims_by_arm,
    is_best,
    settings_of,
    sorted_by_median,
    sorted_by_settings,
    varied_names,
)
from assay.units import show_count, show_quantity
from assay.untrusted import clean
from assay.wording.sentence import change_text, interval_text
from assay.wording.sweep import alias_text, effect_name

MAX_CELLS_SHOWN = 40
"""Maximum number of cells in a table on a terminal; of more only the best are shown."""
BEST_CELLS_SHOWN = 20
GAP = "  "


def cell_lines(conclusion: Conclusion, spec: StudySpec, width: int | None = None) -> Iterator[str]:
    """Yield a line for each cell, in the order of their settings; of many only the best.

    Args:
        conclusion, spec: conclusion and specification of a sweep.
        width: width of the terminal, in columns; unlimited if absent.
    """
    metric = spec.workload.objective
    shown: Sequence[ArmResult] = conclusion.arms
    if len(shown) > MAX_CELLS_SHOWN:
        shown = [shown[0], *sorted_by_median(shown[1:], metric)[:BEST_CELLS_SHOWN]]
    names = varied_names(spec.space)
    best, claims = best_claim(conclusion), claims_by_arm(conclusion)
    rows = [
        (
            [_setting(value) for value in settings_of(arm, conclusion, spec.space)],
            _figures(arm, conclusion, spec, claims.get(arm.name), best),
        )
        for arm in sorted_by_settings(shown, spec.space)
    ]
    heads = ([clean(name) for name in names], ["n", "median", "change", "interval", "verdict"])
    yield from _table(heads, rows, width)
    hidden = len(conclusion.arms) - len(shown)
    if hidden:
        yield (
            f"  and {show_count(hidden, 'cell')} more, none of them with a better median: "
            "--export FILE.csv has them all"
        )


def effect_lines(effects: Sequence[FactorEffect]) -> Iterator[str]:
    """Yield a line for each effect of a factorial design."""
    if not effects:
        return
    rows = [
        [clean(effect_name(e)), change_text(e.ratio), interval_text(e.ci), str(e.verdict)]
        for e in effects
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    yield "  effects, each over all cells:"
    for row, effect in zip(rows, effects, strict=True):
        name, change, interval, verdict = row
        line = GAP.join(
            [f"{name:{widths[0]}}", f"{change:>{widths[1]}}", f"{interval:>{widths[2]}}", verdict]
        )
        other = alias_text(effect)
        yield f"  {line}{f'  (or {clean(other)})' if other else ''}"


def _setting(value: Value | None) -> str:
    return "-" if value is None else clean(show_value(value))


def _figures(
    arm: ArmResult,
    conclusion: Conclusion,
    spec: StudySpec,
    claim: Claim | None,
    best: Claim | None,
) -> list[str]:
    """Return the number of launches, the median, the change with its interval, and the verdict."""
    metric = spec.workload.objective
    found = arm.summary.get(metric.name)
    lost = [f"{arm.failures} failed"] if arm.failures else []
    lost += [f"{arm.timeouts} timed out"] if arm.timeouts else []
    lost += [f"{arm.disturbed_launches} disturbed"] if arm.disturbed_launches else []
    figures = (
        ["0", "-"] if found is None else [str(found.n), show_quantity(found.median, metric.unit)]
    )
    change = ["", ""]
    if claim is not None:
        bound = "~" if claim.bound_only else ""
        change = [f"{bound}{change_text(claim.ratio)}", interval_text(claim.ci)]
    word = cell_word(arm, conclusion, claim)
    word = "" if found is None and lost else word
    word = f"{word}, best" if is_best(claim, best) else word
    return [*figures, *change, ", ".join(filter(None, [word, *lost]))]


def _table(
    heads: tuple[list[str], list[str]],
    rows: Sequence[tuple[list[str], list[str]]],
    width: int | None,
) -> Iterable[str]:
    """Yield the settings beside the figures, or above them if the terminal is too narrow."""
    left, right = (
        [
            max(map(len, column))
            for column in zip(heads[at], *(row[at] for row in rows), strict=True)
        ]
        for at in (0, 1)
    )
    whole = 2 + sum(2 + cells for cells in [*left, *right])
    if width is None or whole <= width:
        for settings, figures in (heads, *rows):
            *numbers, word = zip(figures, right, strict=True)
            cells = [
                f"{cell:>{room}}" for cell, room in [*zip(settings, left, strict=True), *numbers]
            ]
            yield f"  {GAP.join([*cells, word[0]])}".rstrip()
        return
    for settings, figures in rows:
        yield "  " + " ".join(
            f"{name}={value}"
            for name, value in zip(heads[0], settings, strict=True)
            if value != "-"
        )
        named = (f"{head} {cell}" for head, cell in zip(heads[1], figures, strict=True) if cell)
        yield f"    {GAP.join(named)}"
