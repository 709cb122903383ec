"""Answer: the head of a report, as sentences with a badge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from assay.records import (
    Claim,
    Conclusion,
    Goal,
    Kind,
    Metric,
    Outcome,
    Recommendation,
    Sample,
    Status,
    StudySpec,
    Summary,
    Verdict,
)
from assay.records.workload import BUILT_IN
from assay.reporting.arms import ArmRow, winner_name
from assay.reporting.formatting import change, label_of, show_name, typeset, typeset_effect
from assay.reporting.inputs import ReportInput
from assay.reporting.scale import Scale
from assay.search.conclusion.cells import baseline_text, best_claim, has_effect
from assay.untrusted import clean
from assay.wording import report
from assay.wording.disturbance import disturbance_sentence, withheld_words
from assay.wording.failure import failure_of, failure_text, last_failure
from assay.wording.requirement import requirement_sentences
from assay.wording.sentence import evidence_text, losses_sentence, statement, verdict_word
from assay.wording.sweep import effect_name, sweep_sentences

_MAX_EFFECTS = 3
"""Number of effects shown with the answer of a factorial design; the table has all."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a study.

    Attributes:
        sentence: the verdict.
        tone: ``faster``, ``slower``, ``same``, ``unclear``, ``measured`` or ``open``.
        badge: the verdict in one to three words.
        details: further sentences, in order of importance.
    """

    sentence: str
    tone: str
    badge: str
    details: tuple[str, ...] = ()


def answer(inputs: ReportInput, rows: Sequence[ArmRow], scale: Scale) -> Answer:
    """Return the answer of a study, or its state before there is one."""
    if inputs.conclusion is None or not inputs.conclusion.arms:
        return _open(inputs, rows, scale)
    if inputs.spec.objectives:
        return _front(inputs.conclusion)
    if inputs.spec.kind is Kind.TUNE:
        return _tuned(inputs.conclusion, inputs.metric)
    found = _without_requirements(inputs, scale)
    doubt = clean(disturbance_sentence(inputs.conclusion, inputs.spec))
    limits = [*filter(None, [doubt]), *requirement_sentences(inputs.spec, inputs.conclusion)]
    return replace(found, details=(*limits, *found.details))


def _without_requirements(inputs: ReportInput, scale: Scale) -> Answer:
    assert inputs.conclusion is not None
    if inputs.spec.kind is Kind.MEASURE:
        return _measured(inputs.conclusion, inputs.metric, scale)
    if inputs.spec.kind is Kind.SWEEP:
        return _swept(inputs.conclusion, inputs.spec)
    return _compared(inputs.conclusion, inputs.metric)


def claim_sentence(claim: Claim, metric: Metric) -> str:
    """Return a claim as a sentence, for example ``B takes 18.2 % less time than A``."""
    named = msgspec.structs.replace(claim, a=show_name(claim.a), b=show_name(claim.b))
    more = report.needed_pairs(claim)
    if claim.is_doubted:
        more = f" {clean(withheld_words(named))}"
    lost = f" {clean(losses_sentence(named))}" if named.missing_values else ""
    return f"{statement(named, metric)}.{lost}{more}"


def _tuned(conclusion: Conclusion, metric: Metric) -> Answer:
    chosen = conclusion.recommendation
    if chosen is None:
        return Answer(report.NO_RECOMMENDATION, "unclear", report.NO_ANSWER)
    sentence, details = clean(chosen.sentence), _chosen_details(chosen, metric)
    if chosen.claim is not None:
        sentence = typeset(sentence, evidence_text(chosen.claim, metric))
    if chosen.unproven:
        return Answer(sentence, "unclear", report.NOT_PROVEN, (*_proof(chosen), *details))
    undecided = chosen.claim is not None and chosen.claim.verdict is Verdict.UNCLEAR
    if undecided and not chosen.settings:
        return Answer(sentence, "unclear", report.NOT_DECIDED, details)
    if winner_name(conclusion) is None:
        return Answer(sentence or report.KEEP_DEFAULT, "same", report.KEEP_DEFAULT_BADGE, details)
    if not sentence and chosen.claim:
        sentence = claim_sentence(chosen.claim, metric)
    tone = chosen.claim.verdict.value if chosen.claim else "unclear"
    if conclusion.requirements and tone != Verdict.FASTER:
        return Answer(sentence, "faster", report.MEETS_REQUIREMENTS, details)
    return Answer(sentence, tone, _badge(tone, metric, chosen.claim), details)


def _proof(chosen: Recommendation) -> tuple[str, ...]:
    """Return the cost of a proof of an unproven recommendation."""
    if chosen.proof is None:
        return ()
    return (report.proof_sentence(chosen.proof),)


def _front(conclusion: Conclusion) -> Answer:
    sentence = clean(conclusion.recommendation.sentence if conclusion.recommendation else "")
    count = len(conclusion.pareto_front)
    if count:
        return Answer(sentence, "faster", report.front_badge(count))
    undecided = sentence.startswith("Not decided")
    badge = report.NOT_DECIDED if undecided else report.KEEP_DEFAULT_BADGE
    return Answer(sentence, "unclear" if undecided else "same", badge)


def _chosen_details(chosen: Recommendation, metric: Metric) -> tuple[str, ...]:
    if chosen.claim is None or evidence_text(chosen.claim, metric) in chosen.sentence:
        return ()
    return (_basis(chosen.claim, metric),)


def _basis(claim: Claim, metric: Metric) -> str:
    words = evidence_text(claim, metric)
    return f"{typeset(words, words)}."


def _badge(tone: str, metric: Metric, claim: Claim | None = None) -> str:
    """Return the verdict for a time, and *better* or *worse* for any other metric."""
    if claim is not None and claim.method == "spread" and claim.verdict.value == tone:
        return verdict_word(claim)
    if metric.unit == "s" or tone not in ("faster", "slower"):
        return tone
    return report.BETTER if tone == "faster" else report.WORSE


def _compared(conclusion: Conclusion, metric: Metric) -> Answer:
    claims = conclusion.claims
    if not claims:
        return Answer(report.NO_COMPARISON, "unclear", report.NO_CLAIM)
    if len(claims) == 1:
        only = claims[0]
        return Answer(
            claim_sentence(only, metric),
            only.verdict.value,
            _badge(only.verdict.value, metric, only),
            (_basis(only, metric),),
        )
    best = winner_name(conclusion)
    found = next((c for c in claims if c.b == best), None)
    others = tuple(claim_sentence(c, metric) for c in claims if c is not found)
    if found is not None:
        return Answer(
            claim_sentence(found, metric),
            "faster",
            report.best_arm_badge(len(conclusion.arms)),
            (_basis(found, metric), *others),
        )
    verdicts = {c.verdict for c in claims}
    tone = verdicts.pop().value if len(verdicts) == 1 else "unclear"
    baseline = show_name(claims[0].a)
    sentence = report.none_better_sentence(len(claims), baseline, label_of(metric))
    return Answer(sentence, tone, _badge(tone, metric, claims[0]), others)


def _swept(conclusion: Conclusion, spec: StudySpec) -> Answer:
    """Return the best cell, the number of cells by verdict, and the largest effects."""
    best, metric, baseline = best_claim(conclusion), spec.workload.objective, spec.arms[0]
    first, *others = sweep_sentences(conclusion, metric, best_claim(conclusion))
    others += filter(None, [baseline_text(baseline.name, baseline.configuration, spec.space)])
    shown = [e for e in conclusion.effects if has_effect(e)]
    if shown:
        largest = sorted(shown, key=lambda e: -abs(math.log(e.ratio)))[:_MAX_EFFECTS]
        effects = [f"{typeset_effect(effect_name(e))} ({change(e.ratio)})" for e in largest]
        others.append(report.largest_effects_sentence(effects))
    if best is None:
        verdicts = {c.verdict for c in conclusion.claims}
        tone = verdicts.pop().value if len(verdicts) == 1 else "unclear"
        return Answer(
            clean(first),
            tone,
            _badge(tone, metric, next(iter(conclusion.claims), None)),
            tuple(map(clean, others)),
        )
    cells = len(conclusion.claims) + 1
    sentence = claim_sentence(best, metric)
    details = (f"{evidence_text(best, metric)}.", *map(clean, others))
    return Answer(sentence, "faster", report.best_cell_badge(cells), details)


def _measured(conclusion: Conclusion, metric: Metric, scale: Scale) -> Answer:
    summary = conclusion.arms[0].summary.get(metric.name)
    if summary is None:
        return Answer(report.NO_VALUE, "unclear", report.NO_VALUE_BADGE)
    return Answer(
        report.mean_sentence(label_of(metric), scale.quantity(summary.mean)),
        "measured",
        report.MEASURED,
        _summary_details(summary, metric, scale),
    )


def _summary_details(summary: Summary, metric: Metric, scale: Scale) -> tuple[str, ...]:
    details = [
        report.quartiles_sentence(
            scale.quantity(summary.median),
            scale.number(summary.q1),
            scale.quantity(summary.q3),
            summary.n,
        )
    ]
    if summary.ci:
        low, high = summary.ci
        cut = metric.name in BUILT_IN and low <= 0
        ends = scale.number(max(low, 0.0) if cut else low), scale.quantity(high)
        details.insert(0, report.interval_sentence(*ends, cut_off=cut))
    return tuple(details)


def _open(inputs: ReportInput, rows: Sequence[ArmRow], scale: Scale) -> Answer:
    if inputs.samples and not any(s.outcome.succeeded for s in inputs.samples):
        return _no_success(inputs)
    sentence = report.open_sentence(inputs.status, len(inputs.samples))
    details = [_best_so_far(inputs, rows, scale)] if inputs.spec.kind is Kind.TUNE else []
    details += _failing_arms(inputs)
    failure = last_failure(inputs.spec, inputs.samples)
    if inputs.status is Status.FAILED and failure is not None:
        details += [report.last_failure_sentence(clean(failure.text)), clean(failure.remedy)]
    elif inputs.status is not Status.RUNNING:
        details.append(report.resume_sentence(clean(inputs.study_id)))
    return Answer(sentence, "open", report.NO_VERDICT_YET, tuple(d for d in details if d))


def _failing_arms(inputs: ReportInput) -> list[str]:
    """Return sentences on arms with several launches of which none succeeded."""
    arms: dict[str, list[Sample]] = {}
    for sample in inputs.samples:
        arms.setdefault(sample.launch.arm, []).append(sample)
    lost = {
        name: own
        for name, own in arms.items()
        if len(own) > 1 and all(s.outcome in (Outcome.FAILED, Outcome.LIMIT) for s in own)
    }
    sentences = [
        report.always_failing_sentence(show_name(name), len(own), _failure_reason(inputs, own[-1]))
        for name, own in lost.items()
    ]
    more = len(sentences) - _FAILING_SHOWN
    rest = [report.more_failing_sentence(more)] if more > 0 else []
    return sentences[:_FAILING_SHOWN] + rest


_FAILING_SHOWN = 2


def _failure_reason(inputs: ReportInput, sample: Sample) -> str:
    return clean(failure_text(sample, inputs.spec.workload))


def _no_success(inputs: ReportInput) -> Answer:
    number = len(inputs.samples)
    last = max(inputs.samples, key=lambda s: s.started_at)
    return Answer(
        report.no_success_sentence(number),
        "slower",
        report.FAILED,
        (
            report.last_reason_sentence(_failure_reason(inputs, last)),
            clean(failure_of(last, inputs.spec.workload).remedy),
        ),
    )


def _best_so_far(inputs: ReportInput, rows: Sequence[ArmRow], scale: Scale) -> str:
    measured = [(row.summary, row.name) for row in rows if row.summary is not None]
    if not measured:
        return ""
    sign = 1.0 if inputs.metric.goal is Goal.LOWER else -1.0
    summary, name = min(measured, key=lambda pair: sign * pair[0].median)
    return report.best_median_sentence(scale.quantity(summary.median), show_name(name), summary.n)
