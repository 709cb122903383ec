"""Sweep: pictures over the settings of an experiment, and effects of its factors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.records import EffectKind, FactorEffect
from assay.reporting.arms import ArmRow, Role
from assay.reporting.cells import HeatFigure, ScatterFigure, heat_figure, scatter_figures
from assay.reporting.formatting import bound_mark, change, change_interval, shorten, typeset_effect
from assay.reporting.inputs import ReportInput
from assay.reporting.markup import Child, Html, el, join
from assay.reporting.parts.common import LEFT_OUT, plain_table
from assay.reporting.pictures.canvas import NARROW, WIDE
from assay.reporting.pictures.heatmap import heat_svg, prints_values
from assay.reporting.pictures.scatter import scatter_svg
from assay.reporting.scale import Scale
from assay.units import show_count
from assay.wording.sweep import alias_text, effect_name

MAX_SCATTER_PLOTS = 8
"""Maximum number of pictures of settings; the table contains all settings."""

_EFFECTS = (
    "Each factor at its high level against its low level, over all cells, as a ratio of "
    "geometric means. Two factors interact if the effect of one depends on the other: the change "
    "is the factor by which the effect of one is larger at the high level of the other than on "
    "average."
)


def chapters(
    report: ReportInput, rows: Sequence[ArmRow], scale: Scale
) -> Iterator[tuple[str, str, Child, str]]:
    """Yield id, title, content and introduction of the additional sections of a sweep."""
    heat = heat_figure(report, rows, scale)
    if heat is not None:
        yield "heat", f"{_first(heat.metric)} over two settings", _heat(heat), _heat_intro(heat)
    scatters = scatter_figures(report, rows, scale)[:MAX_SCATTER_PLOTS]
    if scatters:
        pictures = [_scatter(figure, number) for number, figure in enumerate(scatters)]
        yield "settings-scatter", "Setting by setting", join(*pictures), _scatter_intro(scatters)
    effects = report.conclusion.effects if report.conclusion else ()
    if effects:
        yield "effects", "Effects of the factors", _effects(effects), _EFFECTS


def _first(words: str) -> str:
    return words[:1].upper() + words[1:]


def _heat(figure: HeatFigure) -> Html:
    return _picture(
        heat_svg(figure, WIDE, "heat-wide"), heat_svg(figure, NARROW, "heat-narrow"), True
    )


def _heat_intro(figure: HeatFigure) -> str:
    words = (
        "Each cell is the median of its launches. Stronger colours are better, in steps of equal "
        "ratios."
    )
    roles = {cell.role for cell in figure.cells}
    if Role.BASELINE in roles:
        words += " The baseline has a grey frame."
    if Role.WINNER in roles:
        words += " The blue frame marks the cell with the largest confirmed improvement."
    if not (prints_values(figure) and prints_values(figure.transposed(), NARROW)):
        words += " The table below contains the values if a picture has no room for them."
    return words


def _scatter(figure: ScatterFigure, number: int) -> Html:
    name = f"scatter-{number}"
    wide = scatter_svg(figure, WIDE, f"{name}-wide")
    return join(
        el("h3", shorten(figure.setting, 60)),
        _picture(wide, scatter_svg(figure, NARROW, f"{name}-narrow"), False),
    )


def _scatter_intro(figures: Sequence[ScatterFigure]) -> str:
    words = "Each dot is one launch, for any values of other settings; the line joins the medians"
    grouped = any(len(figure.medians) < len(figure.places) for figure in figures)
    words += ", of neighbouring values together if there are many." if grouped else "."
    if any(figure.baseline is not None for figure in figures):
        words += " The thin line is the median of the baseline."
    if any(p.censored for figure in figures for p in figure.points):
        words += " Red triangles are time-outs."
    if any(p.left_out for figure in figures for p in figure.points):
        words += f" {LEFT_OUT}"
    return words


def _picture(wide: str, narrow: str, heat: bool) -> Html:
    """Return a static picture in two widths."""
    return el(
        "figure",
        el("div", Html(wide), class_="static wide"),
        el("div", Html(narrow), class_="static narrow"),
        class_="chart heat" if heat else "chart",
    )


def _effects(effects: Sequence[FactorEffect]) -> Html:
    mixed = any(effect.aliases for effect in effects)
    heads = ["Effect", "Change", "Interval", "Verdict", "Blocks"]
    heads += ["Aliases"] if mixed else []
    rows = [_line(effect, mixed) for effect in effects]
    note = None
    if mixed:
        number = sum(bool(effect.aliases) for effect in effects)
        note = el(
            "p",
            f"The design runs a fraction of all cells: {show_count(number, 'effect')} are "
            "confounded with others. A result for one may be due to its alias, or to both.",
            class_="warn",
        )
    return join(plain_table("Effects of the factors", heads, rows, (1, 2, 4)), note)


def _line(effect: FactorEffect, mixed: bool) -> Html:
    mark = bound_mark(effect.ci) if effect.bound_only else ""
    word = effect.verdict.value
    tone = word if effect.kind is EffectKind.MAIN or word in ("same", "unclear") else "measured"
    cells: list[tuple[Child, str | None]] = [
        (f"{mark}{change(effect.ratio)}", "num"),
        (change_interval(effect.ci), "num"),
        (el("span", word, class_=f"word tone-{tone}"), None),
        (f"{effect.blocks:,}", "num"),
    ]
    if mixed:
        cells.append((typeset_effect(alias_text(effect)) or "\u2013", None))
    return el(
        "tr",
        el("th", el("bdi", typeset_effect(effect_name(effect))), scope="row"),
        [el("td", cell, class_=kind) for cell, kind in cells],
    )
