"""Verdicts as sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec.structs import replace

from assay.records import ArmResult, Conclusion, Kind, Metric, StudySpec
from assay.reporting.formatting import shorten
from assay.search.conclusion.cells import baseline_text, best_claim
from assay.units import show_count, show_exactly, show_quantity
from assay.wording.calibration import sentences
from assay.wording.disturbance import disturbance_sentence
from assay.wording.requirement import requirement_sentences
from assay.wording.sentence import comparison
from assay.wording.sweep import sweep_sentences

NAME_CHARACTERS = 120
"""Maximum length of an arm's name on a terminal, since a command may have long arguments."""


def verdict_lines(conclusion: Conclusion, spec: StudySpec) -> Iterable[str]:
    """Yield a sentence for each claim; of a measurement the mean with its interval."""
    metric = spec.workload.objective
    if conclusion.recommendation is not None:
        yield conclusion.recommendation.sentence
    elif conclusion.kind is Kind.COMPARE and not conclusion.claims:
        yield "No comparison is possible: no block has samples of both arms."
    elif conclusion.kind is Kind.COMPARE:
        for claim in conclusion.claims:
            short = replace(claim, a=short_name(claim.a), b=short_name(claim.b))
            yield comparison(short, metric, conclusion.disturbers)
    elif conclusion.kind is Kind.SWEEP:
        yield from sweep_sentences(conclusion, metric, best_claim(conclusion))
        first = spec.arms[0]
        yield from filter(None, [baseline_text(first.name, first.configuration, spec.space)])
    elif conclusion.kind is Kind.CALIBRATE:
        yield from sentences(conclusion, metric, spec.alpha)
    else:
        yield _measured(conclusion.arms[0], metric)
    yield from filter(None, [disturbance_sentence(conclusion, spec)])
    if conclusion.recommendation is None:
        yield from requirement_sentences(spec, conclusion)


def _measured(arm: ArmResult, metric: Metric) -> str:
    found = arm.summary.get(metric.name)
    if found is None:
        return f"{metric.name} could not be measured."
    launches = show_count(found.n, "launch", "launches") + _lost_words(arm)
    if found.n > 1 and math.isclose(found.min, found.max):
        return f"{metric.name}: {show_exactly(found.min, metric.unit)} in all {launches}."
    text = f"{metric.name}: {show_quantity(found.mean, metric.unit)}"
    text += " on average" if found.n > 1 else ""
    if found.ci is None or found.ci[0] is None or found.ci[1] is None:
        few = ": too few for an interval"
        return f"{text} in {launches}{few}."
    ends = " to ".join(show_quantity(end, metric.unit) for end in found.ci if end is not None)
    return f"{text} (interval {ends}, {launches})."


def _lost_words(arm: ArmResult) -> str:
    """Return the launches without a figure, as an addition: ``; 4 others failed``."""
    counts = ((arm.failures, "failed"), (arm.timeouts, "timed out"))
    words = [f"{show_count(n, 'other')} {word}" for n, word in counts if n]
    return f"; {' and '.join(words)}" if words else ""


def short_name(name: str) -> str:
    """Return the name of an arm, shortened if it is long."""
    return shorten(name, NAME_CHARACTERS)
