"""Calibration: properties of the machine, and its noise floor in other studies."""

from __future__ import annotations

from assay.records import Calibration, MachineFloor
from assay.reporting.answer import Answer
from assay.reporting.formatting import change, change_interval, typeset
from assay.reporting.inputs import ReportInput
from assay.reporting.markup import Html, el, join
from assay.reporting.parts.common import definitions, plain_table
from assay.units import significant
from assay.untrusted import clean
from assay.wording.calibration import (
    NO_RESULT,
    budget_words,
    disturbed_words,
    gain_words,
    gains_intro,
    launch_words,
    margin_words,
    sentences,
)
from assay.wording.noise_floor import origin_words
from assay.wording.sentence import interval


def calibrated_answer(report: ReportInput) -> Answer:
    """Return the answer of a calibration."""
    conclusion = report.conclusion
    if conclusion is None or conclusion.noise_floor is None:
        return Answer(NO_RESULT, "unclear", "no value")
    first, *more = sentences(conclusion, report.metric, report.spec.alpha)
    quoted = interval(conclusion.noise_floor, report.metric)
    return Answer(typeset(first, quoted), "measured", "calibrated", tuple(more))


def calibration(report: ReportInput) -> Html | None:
    """Return the figures of a calibration; ``None`` without a conclusion.

    With too few undisturbed blocks, only the amount of disturbance is shown.
    """
    if report.conclusion is None:
        return None
    found = report.conclusion.calibration
    if found is None:
        known = definitions([("Disturbed", disturbed_words(report.conclusion))])
        return join(el("p", "Too few undisturbed blocks for further figures."), known)
    facts = [
        ("One launch", launch_words(found, report.metric.unit).replace(" -", " \u2212")),
        ("Difference within a block", f"{significant(100 * found.ratio_sd_log, 2)} % (sd)"),
        ("Second launch of a block against the first", change(found.position)),
        ("Disturbed", disturbed_words(report.conclusion)),
    ]
    return join(definitions(facts), _gains(found, report) if found.gains else None)


def _gains(found: Calibration, report: ReportInput) -> Html:
    rows = [
        el("tr", el("th", budget_words(gain), scope="row"), el("td", gain_words(gain)))
        for gain in found.gains
    ]
    intro = gains_intro(found, report.metric.unit)
    limit = margin_words(found, report.spec.margin)
    return join(
        el("h3", intro[0].upper() + intro[1:]),
        plain_table("Smallest gain by budget", ("Budget", "Smallest gain"), rows),
        el("p", f"{limit[0].upper()}{limit[1:]}.") if limit else None,
    )


def machine_floor_fact(floor: MachineFloor) -> tuple[str, str]:
    """Return the calibrated noise floor, for studies without their own."""
    words = f"{change_interval(floor.ci)} ({clean(origin_words(floor))}, study {floor.study})"
    return "Two identical arms, on this machine", words
