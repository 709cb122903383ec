"""Chapters: the sections of the page, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from assay.records import Kind
from assay.reporting import evidence, svg
from assay.reporting.answer import Answer, answer
from assay.reporting.arms import ArmRow
from assay.reporting.boxes import Box, BoxFigure
from assay.reporting.convergence import ConvergenceFigure
from assay.reporting.drawn import share_sentence
from assay.reporting.evidence import EvidenceTally
from assay.reporting.evidence_columns import EvidenceColumns
from assay.reporting.figures import Figures
from assay.reporting.formatting import change_interval, label_of, shorten
from assay.reporting.gains import Gain, GainFigure
from assay.reporting.grants import GrantTally
from assay.reporting.grants import tally as grant_tally
from assay.reporting.inputs import ReportInput
from assay.reporting.limitations import limitations
from assay.reporting.markup import Child, Html, el, join
from assay.reporting.parts import (
    calibration,
    claims,
    conditions,
    explanation,
    fidelity,
    front,
    grants,
    kernels,
    method,
    observed_metrics,
    progress,
    requirements,
    steps,
    sweep,
    table,
    verdict,
)
from assay.reporting.parts.common import LEFT_OUT, section
from assay.reporting.pictures.rows import BEYOND, omits_outliers, visible
from assay.reporting.scale import Scale

_BOX_INTRO = (
    "Each dot is one launch. The box extends from the first to the third quartile, the line in it "
    "is the median, and the whiskers extend to the minimum and the maximum."
)


Chapter = tuple[str, str, Html]
"""Id, title and content of a section."""
_EvidenceTallies = tuple[tuple[EvidenceTally, ...], tuple[EvidenceTally, ...]]
"""Evidence of the launches in figures, and of the left-out ones."""


def body(report: ReportInput, rows: Sequence[ArmRow], pictures: Figures, scale: Scale) -> Html:
    """Return the page between header and footer: verdict, contents, sections."""
    tallies = _evidence_tallies(report)  # before the pictures, since both take much memory
    winner = _winner_grants(report)
    first = verdict.verdict(
        report,
        _answer(report, rows, scale),
        verdict.tiles(report, rows, scale),
        limitations(report, rows, winner, scale),
    )
    chapters = [
        *_sweep_chapters(report, rows, scale),
        *_front_chapters(report),
        *_picture_chapters(report, rows, pictures, scale),
        *_sample_chapters(report, rows, scale, winner),
        *_condition_chapters(report, pictures, tallies),
    ]
    links = [el("li", el("a", title, href=f"#{name}")) for name, title, _ in chapters]
    return join(
        first,
        el("nav", el("ol", links), aria_label="Contents"),
        el("div", [part for _, _, part in chapters], class_="parts"),
    )


def _answer(report: ReportInput, rows: Sequence[ArmRow], scale: Scale) -> Answer:
    if report.spec.kind is Kind.CALIBRATE and report.conclusion is not None:
        return calibration.calibrated_answer(report)
    return answer(report, rows, scale)


def _chapter(name: str, title: str, *children: Child, intro: str | None = None) -> Chapter:
    return name, title, section(name, title, *children, intro=intro)


def _sweep_chapters(report: ReportInput, rows: Sequence[ArmRow], scale: Scale) -> Iterator[Chapter]:
    if report.spec.kind is Kind.SWEEP:
        for name, title, content, intro in sweep.chapters(report, rows, scale):
            yield _chapter(name, title, content, intro=intro)


def _front_chapters(report: ReportInput) -> Iterator[Chapter]:
    found = front.front(report)
    if found is not None:
        yield _chapter("front", "Pareto front", found[0], intro=found[1])


def _picture_chapters(
    report: ReportInput, rows: Sequence[ArmRow], pictures: Figures, scale: Scale
) -> Iterator[Chapter]:
    boxes, gain, convergence = pictures.boxes, pictures.gain, pictures.convergence
    if boxes is not None:
        yield _chapter(
            "boxes",
            f"Distribution of {label_of(report.metric)}",
            _chart("boxes", svg.box_svg, boxes),
            table.summaries(rows, scale, report.metric),
            intro=" ".join(_box_intro(report.spec.kind, boxes, rows)),
        )
    if report.spec.kind is Kind.CALIBRATE:
        yield _chapter("calibration", "Calibration", calibration.calibration(report))
    elif gain is not None:
        yield _chapter(
            "gain",
            f"Change against {shorten(gain.baseline, 40)}",
            _chart("gain", svg.gain_svg, gain),
            claims.claims(rows),
            intro=" ".join(
                (
                    _gain_intro(report, gain),
                    *_drawn_arms(report.spec.kind, gain.gains, gain.others),
                )
            ),
        )
    reported = progress.progress(report, rows, pictures.progress)
    if reported is not None:
        yield _chapter("progress", "Values while the launches run", reported)
    taken = steps.steps(report.conclusion.steps) if report.conclusion else None
    if taken is not None:
        yield _chapter("steps", "Step by step", taken)
    more = observed_metrics.observed_metrics_table(report)
    if more is not None:
        yield _chapter("beside", "Other metrics", more, intro=observed_metrics.INTRO)
    kept = requirements.required(report)
    if kept is not None:
        yield _chapter("required", "Requirements", kept)
    why = explanation.explained(report)
    if why is not None:
        yield _chapter("why", "Effects of the settings", why)
    known = report.conclusion.fidelity if report.conclusion else None
    levels = fidelity.fidelity(known) if known else None
    if levels is not None:
        yield _chapter("fidelity", "Fidelity of the search", levels, intro=fidelity.INTRO)
    if convergence is not None:
        base = shorten(gain.baseline, 40) if gain else "the baseline"
        yield _chapter(
            "convergence",
            "Course of the search" if report.spec.kind is Kind.TUNE else "Launches in order",
            _chart("convergence", svg.convergence_svg, convergence),
            intro=_convergence_intro(report.spec.kind, convergence, base),
        )


def _box_intro(kind: Kind, figure: BoxFigure, rows: Sequence[ArmRow]) -> Iterator[str]:
    yield _BOX_INTRO
    yield from _drawn_arms(kind, figure.boxes, figure.others)
    count = sum(len(box.dots) for box in figure.boxes)
    shown = rows[: len(figure.boxes)]
    total = sum(trial.value is not None for row in shown for trial in row.trials)
    if figure.others and count < total:
        # The extremes of the study may belong to other arms.
        yield f"{count:,} of their {total:,} launches are drawn; tables and summaries use all."
    elif count < total:
        yield share_sentence(count, total)
    if omits_outliers(figure):
        yield BEYOND
    if any(dot.left_out for box in figure.boxes for dot in box.dots):
        yield LEFT_OUT


def _drawn_arms(kind: Kind, drawn: Sequence[Box | Gain], others: int) -> Iterator[str]:
    """Yield a sentence on the arms that a picture omits, if any."""
    if others:
        first, total = visible(drawn)[0], len(drawn) + others
        yield (
            f"The best {len(drawn):,} of {total:,} {_arms(kind)} are drawn, {len(first):,} of them "
            "at first; the table has all."
        )


def _arms(kind: Kind) -> str:
    """Return the name of the arms of a kind of study."""
    return {Kind.TUNE: "configurations", Kind.SWEEP: "cells"}.get(kind, "arms")


def _sample_chapters(
    report: ReportInput, rows: Sequence[ArmRow], scale: Scale, winner: Sequence[GrantTally]
) -> Iterator[Chapter]:
    if rows:
        title = f"All {_arms(report.spec.kind)}"
        yield _chapter("table", title, table.configurations(report, rows, scale))
    failed = grants.failures(report.samples)
    if failed is not None:
        yield _chapter("failures", "Failed launches", failed)
    yield _chapter(
        "grants",
        "Verification of the settings",
        grants.grants(grant_tally(report.samples), winner),
        intro=(
            "The program applies the settings itself, and assay does not verify them."
            if report.spec.in_process
            else "Each launch verifies whether its settings took effect."
        ),
    )


def _condition_chapters(
    report: ReportInput, pictures: Figures, tallies: _EvidenceTallies
) -> Iterator[Chapter]:
    noise = _chart("noise", svg.noise_svg, pictures.noise) if pictures.noise else None
    known = calibration.machine_floor_fact(report.floor) if report.floor else None
    yield _chapter("noise", "Noise floor", conditions.noise(report, pictures.noise, noise, known))
    yield _chapter("machine", "Machine", conditions.machine(report))
    several = report.conclusion.kernels if report.conclusion else None
    if several is not None:
        yield _chapter("kernels", "Kernels", kernels.kernels(several), intro=kernels.INTRO)
    if report.spec.kind is Kind.TUNE:
        yield _chapter("script", "Run without assay", method.script(report))
    yield _chapter("method", "Method", method.method(report, *tallies))
    yield _chapter("raw", "Raw samples", method.raw(report, pictures.drawn))


def _evidence_tallies(report: ReportInput) -> _EvidenceTallies:
    """Return the evidence of the launches in figures, and that of the left-out ones."""
    columns = EvidenceColumns(report.samples)
    if not report.left_out:
        return evidence.tally(columns), ()
    counted = [report.counts(sample) for sample in report.samples]
    lost = [not counts for counts in counted]
    return evidence.tally(columns, counted), evidence.tally(columns, lost)


def _gain_intro(report: ReportInput, figure: GainFigure) -> str:
    if not any(gain.verdict for gain in figure.gains):
        return "No claims: these points only guided the search."
    words = (
        "A filled point with a bar is a claim with its interval. All intervals hold "
        f"simultaneously with probability {(1 - report.spec.alpha) * 100:g} %."
    )
    if report.spec.kind is Kind.TUNE:
        words += " A hollow point only guided the search."
    if figure.noise is not None:
        words += f" Two identical arms differed by {change_interval(figure.noise)}."
    return words


def _convergence_intro(kind: Kind, figure: ConvergenceFigure, baseline: str) -> str:
    words = "Each dot is one launch, in order of start."
    words += f" {share_sentence(len(figure.marks), figure.launches)}".rstrip()
    if figure.best:
        best = "best median so far" if kind is Kind.TUNE else "median so far"
        words += f" The step line shows the {best}."
    if figure.drift:
        words += f" The thin line shows repeated measurements of {baseline}, and so drift."
    late = any(mark.censored for mark in figure.marks)
    if late:
        words += " Red triangles are time-outs."
    low, high = figure.frame
    kept = [mark for mark in figure.marks if not mark.left_out]
    if any(not (mark.censored or low <= mark.value <= high) for mark in kept):
        words += f" {'Other triangles' if late else 'Triangles'} are values outside the axis."
    if figure.failed:
        words += " Crosses are failed launches."
    if any(mark.left_out for mark in figure.marks):
        words += f" {LEFT_OUT}"
    return words


def _chart(name: str, draw: Callable[[Any, int, str], str], figure: Any) -> Html:
    """Return a picture in two widths; scripts replace it by an interactive one."""
    wide = draw(figure, svg.WIDE, f"{name}-wide")
    narrow = draw(figure, svg.NARROW, f"{name}-narrow")
    return el(
        "figure",
        el("div", class_="chart-tools", hidden=True),
        el("div", Html(wide), class_="static wide"),
        el("div", Html(narrow), class_="static narrow"),
        class_="chart",
        data_figure=name,
    )


def _winner_grants(report: ReportInput) -> tuple[GrantTally, ...]:
    """Return the grants of the recommended configuration; empty if the default is kept."""
    chosen = report.conclusion.recommendation if report.conclusion else None
    if chosen is None or not chosen.settings:
        return ()
    return grant_tally(report.samples, chosen.settings)
