"""Calibrated: what a calibration tells of the machine, and its noise floor beside other studies."""

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
    """What a calibration says, large."""
    conclusion = report.conclusion
    if conclusion is None or conclusion.noise_floor is None:
        return Answer(NO_RESULT, "unclear", "no value")
    first, *more = sentences(conclusion, report.metric, report.spec.alpha)
    quoted = interval(conclusion.noise_floor, report.metric)
    return Answer(typeset(first, quoted), "measured", "calibrated", tuple(more))


def calibration(report: ReportInput) -> Html | None:
    """The figures of a calibration; ``None`` where it came to no end.

    Where too little counts for figures, what is known: how much was disturbed.
    """
    if report.conclusion is None:
        return None
    found = report.conclusion.calibration
    if found is None:
        known = definitions([("Disturbed", disturbed_words(report.conclusion))])
        return join(el("p", "Too few blocks count for more than this."), known)
    facts = [
        ("One launch", launch_words(found, report.metric.unit).replace(" -", " \u2212")),
        ("Two of a block differ by", f"{significant(100 * found.ratio_sd_log, 2)} % (sd)"),
        ("The second of a block against the first", change(found.position)),
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
    """The floor of the machine, where a study did not measure its own."""
    words = f"{change_interval(floor.ci)} ({clean(origin_words(floor))}, study {floor.study})"
    return "Two identical arms, on this machine", words
