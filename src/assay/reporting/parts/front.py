"""Front: points of several objectives, as pictures and as a table."""

from __future__ import annotations

from assay.records import Claim, FrontExclusion, FrontPoint, StudySpec, Verdict
from assay.reporting.formatting import NBSP, change_interval, claimed_change, label_of, shorten
from assay.reporting.front import FrontFigure, front_figures
from assay.reporting.inputs import ReportInput
from assay.reporting.markup import Child, Html, el, join
from assay.reporting.parts.common import chips, plain_table
from assay.reporting.pictures.canvas import NARROW, WIDE
from assay.reporting.pictures.front import front_svg
from assay.untrusted import clean

INTRO = (
    "Filled points are on the Pareto front: each is better than the default in at least one "
    "objective, and not shown to be dominated. The bars are intervals, which hold simultaneously "
    "with {share} confidence. Hollow points were confirmed but are not on the front. Faint dots "
    "were tried in the search, without a claim. The default is at the intersection of the two "
    "dark lines."
)
_OFF = {
    FrontExclusion.NO_GAIN: "not better in any objective",
    FrontExclusion.UNCLEAR: "not shown to be better in any objective",
    FrontExclusion.FAILS: "fails more often than the default",
}
_NAME_CHARACTERS = 60


def front(report: ReportInput) -> tuple[Html, str] | None:
    """Return the section and its introduction; ``None`` without confirmed points."""
    figures = front_figures(report)
    if not figures or report.conclusion is None:
        return None
    seen = [figure for figure in figures if figure.marks or figure.tried]
    pictures = [_picture(figure, number) for number, figure in enumerate(seen)]
    points = [*report.conclusion.pareto_front, *report.conclusion.excluded_points]
    numbers = {point.name: n for n, point in enumerate(report.conclusion.pareto_front, 1)}
    heads = ["Settings", "Point", *map(label_of, report.spec.targets)]
    rows = [_row(point, report.spec, numbers) for point in points]
    table = plain_table("Points of the front", heads, rows, range(1, len(heads)))
    intro = INTRO.format(share=f"{(1 - report.spec.alpha) * 100:g}{NBSP}%")
    return join(*pictures, table), intro


def _picture(figure: FrontFigure, number: int) -> Html:
    name = f"front-{number}"
    return el(
        "figure",
        el("div", Html(front_svg(figure, WIDE, f"{name}-wide")), class_="static wide"),
        el("div", Html(front_svg(figure, NARROW, f"{name}-narrow")), class_="static narrow"),
        class_="chart",
    )


def _row(point: FrontPoint, spec: StudySpec, numbers: dict[str, int]) -> Html:
    claims = [point.claim_on(metric.name) for metric in spec.targets]
    cells = [str(numbers.get(point.name, "\u2013")), *map(_cell, claims)]
    return el(
        "tr",
        el("th", _settings(point, numbers), scope="row"),
        [el("td", cell, class_="num") for cell in cells],
    )


def _settings(point: FrontPoint, numbers: dict[str, int]) -> Child:
    if point.exclusion is None:
        return chips(point.settings)
    return join(
        chips(point.settings), el("span", f" {_exclusion_reason(point, numbers)}", class_="quiet")
    )


def _exclusion_reason(point: FrontPoint, numbers: dict[str, int]) -> str:
    if point.exclusion is FrontExclusion.DOMINATED:
        better = point.dominated_by or ""
        number = numbers.get(better)
        named = f"point {number}" if number else shorten(clean(better), _NAME_CHARACTERS)
        return f"dominated by {named}"
    if point.exclusion is FrontExclusion.UNCLEAR and not point.claims:
        return "no undisturbed launch"
    return _OFF[point.exclusion] if point.exclusion else ""


def _cell(claim: Claim | None) -> Child:
    """Return the change with its interval and the verdict."""
    if claim is None:
        return "no value"
    word = _VERDICTS[claim.verdict]
    return join(
        f"{claimed_change(claim)} ",
        el("span", change_interval(claim.ci), class_="interval"),
        " ",
        el("span", word, class_=f"word tone-{claim.verdict.value}"),
    )


_VERDICTS = {
    Verdict.FASTER: "better",
    Verdict.SLOWER: "worse",
    Verdict.SAME: "same",
    Verdict.UNCLEAR: "unclear",
}
