"""Pareto front of several objectives as lines of a terminal and as a document."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from assay.records import Claim, Conclusion, FrontExclusion, FrontPoint, StudySpec
from assay.units import show_level
from assay.untrusted import clean
from assay.wording.front import objective_word
from assay.wording.sentence import interval_text, noun_of

GAP = "  "
NO_NUMBER = "-"
"""Number of a point outside the front."""


def front_lines(conclusion: Conclusion, spec: StudySpec, width: int | None = None) -> Iterator[str]:
    """Yield a table of the confirmed points: those of the front by number, then the others.

    Args:
        conclusion: conclusion of a study with several objectives.
        spec: specification of the study.
        width: width of the terminal, in columns. On a narrow one the reason why a point is off the
            front has a line of its own; on a very narrow one the settings as well.
    """
    points = [*conclusion.pareto_front, *conclusion.excluded_points]
    if not points:
        return
    share = show_level(spec.alpha)
    yield f"  against the default, all intervals together {share}:"
    head = ["", *(cell for metric in spec.targets for cell in (noun_of(metric), "interval"))]
    numbers = {point.name: str(at) for at, point in enumerate(conclusion.pareto_front, 1)}
    rows = [_cells(point, spec, numbers) for point in points]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    names = [clean(point.name) for point in points]
    whys = [f"({why})" if (why := off_front_reason(point, numbers)) else "" for point in points]
    whole = [f"{name} {why}".rstrip() for name, why in zip(names, whys, strict=True)]
    room = math.inf if width is None else width - 2 - sum(widths) - len(GAP) * len(widths)
    beside = max(map(len, names)) <= room
    yield f"  {_line(head, widths)}{GAP}settings".rstrip() if beside else f"  {_line(head, widths)}"
    for row, name, why, both in zip(rows, names, whys, whole, strict=True):
        if not beside:
            yield f"  {both}"
            yield f"  {_line(row, widths)}"
        elif len(both) <= room:
            yield f"  {_line(row, widths)}{GAP}{both}"
        else:
            yield f"  {_line(row, widths)}{GAP}{name}"
            yield f"  {'':{widths[0]}}{GAP}{why}"


def _cells(point: FrontPoint, spec: StudySpec, numbers: dict[str, str]) -> list[str]:
    claims = [point.claim_on(metric.name) for metric in spec.targets]
    cells = [cell for claim in claims for cell in (objective_word(claim), _interval(claim))]
    return [numbers.get(point.name, NO_NUMBER), *cells]


def _interval(claim: Claim | None) -> str:
    return interval_text(claim.ci) if claim else ""


def off_front_reason(point: FrontPoint, numbers: dict[str, str]) -> str:
    """Return the reason why a point is off the front, in a few words; empty if it is not.

    Args:
        point: confirmed point.
        numbers: numbers of the points of the front, by name.
    """
    if point.exclusion is FrontExclusion.UNCLEAR and not point.claims:
        return "no launch that counts"
    match point.exclusion:
        case FrontExclusion.DOMINATED:
            better = point.dominated_by or ""
            number = numbers.get(better)
            return f"dominated by {f'point {number}' if number else clean(better)}"
        case FrontExclusion.NO_GAIN:
            return "better in nothing"
        case FrontExclusion.UNCLEAR:
            return "not shown to be better in anything"
        case FrontExclusion.FAILS:
            return "fails more often than the default"
        case None:
            return ""


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    number, *others = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    return GAP.join([number, *others])


def next_step_lines(study_id: str, conclusion: Conclusion) -> Iterator[str]:
    """Yield the commands that use points of the front.

    Args:
        study_id: id of the study.
        conclusion: conclusion of the study.
    """
    chosen = conclusion.recommendation.settings if conclusion.recommendation else None
    numbers = [n for n, point in enumerate(conclusion.pareto_front, 1) if point.settings == chosen]
    run = f"assay run --from {study_id}"
    others = [n for n in range(1, len(conclusion.pareto_front) + 1) if n not in numbers]
    for number in numbers:
        yield f"  apply point {number}: {run}"
    if others:
        which = f"point {others[0]}" if len(others) == 1 else f"points {_listed(others)}"
        yield f"  apply {which}: {run} --point {others[0]}"
    if conclusion.pareto_front:
        yield f"  without assay: {run} --point {(numbers or others)[0]} --explain prints a script"


def _listed(numbers: Sequence[int]) -> str:
    *most, last = map(str, numbers)
    return f"{', '.join(most)} or {last}"
