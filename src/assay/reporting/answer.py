"""Wording: the answer as sentences."""

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
from assay.reporting.formatting import change, label_of, shorten, typeset, typeset_effect
from assay.reporting.inputs import ReportInput
from assay.reporting.scale import Scale
from assay.search.conclusion.cells import baseline_text, best_claim, has_effect
from assay.units import show_count
from assay.untrusted import clean
from assay.wording.disturbance import disturbance_sentence, withheld_words
from assay.wording.failure import failure_of, failure_text, last_failure
from assay.wording.proof import proof_words
from assay.wording.requirement import requirement_sentences
from assay.wording.sentence import evidence_text, losses_sentence, statement, verdict_word
from assay.wording.sweep import effect_name, sweep_sentences

_EFFECTS_TOLD = 3
"""Of a factorial design, beside its answer; the table has all."""

_NAME_CHARACTERS = 72
"""Longest name of an arm within a sentence."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a study says.

    Attributes:
        sentence: one that a person can repeat.
        tone: ``faster``, ``slower``, ``same``, ``unclear``, ``measured`` or ``open``.
        badge: the tone as one or two words.
        details: more sentences, in order of importance.
    """

    sentence: str
    tone: str
    badge: str
    details: tuple[str, ...] = ()


def answer(report: ReportInput, rows: Sequence[ArmRow], scale: Scale) -> Answer:
    """The answer of a study, or what there is of it."""
    if report.conclusion is None or not report.conclusion.arms:
        return _open(report, rows, scale)
    if report.spec.objectives:
        return _front(report.conclusion)
    if report.spec.kind is Kind.TUNE:
        return _tuned(report.conclusion, report.metric)
    found = _without_requirements(report, scale)
    doubt = clean(disturbance_sentence(report.conclusion, report.spec))
    told = [*filter(None, [doubt]), *requirement_sentences(report.spec, report.conclusion)]
    return replace(found, details=(*told, *found.details))


def _without_requirements(report: ReportInput, scale: Scale) -> Answer:
    assert report.conclusion is not None
    if report.spec.kind is Kind.MEASURE:
        return _measured(report.conclusion, report.metric, scale)
    if report.spec.kind is Kind.SWEEP:
        return _swept(report.conclusion, report.spec)
    return _compared(report.conclusion, report.metric)


def claim_sentence(claim: Claim, metric: Metric) -> str:
    """One claim in words: B takes 18.2 % less time than A."""
    named = msgspec.structs.replace(claim, a=_name(claim.a), b=_name(claim.b))
    more = (
        f" About {show_count(claim.blocks_needed, 'pair')} of launches in all would decide."
        if claim.verdict is Verdict.UNCLEAR
        and claim.blocks_needed
        and claim.blocks_needed > claim.blocks
        else ""
    )
    if claim.is_doubted:
        more = f" {clean(withheld_words(named))}"
    lost = f" {clean(losses_sentence(named))}" if named.losses else ""
    return f"{statement(named, metric)}.{lost}{more}"


def _name(name: str) -> str:
    return shorten(clean(name), _NAME_CHARACTERS)


def _tuned(conclusion: Conclusion, metric: Metric) -> Answer:
    chosen = conclusion.recommendation
    if chosen is None:
        return Answer("No recommendation could be made.", "unclear", "no answer")
    sentence, details = clean(chosen.sentence), _chosen_details(chosen, metric)
    if chosen.claim is not None:
        sentence = typeset(sentence, evidence_text(chosen.claim, metric))
    if chosen.unproven:
        return Answer(sentence, "unclear", "not proven", (*_proof(chosen), *details))
    undecided = chosen.claim is not None and chosen.claim.verdict is Verdict.UNCLEAR
    if undecided and not chosen.settings:
        return Answer(sentence, "unclear", "not decided", details)
    if winner_name(conclusion) is None:
        keep = "Keep the default: nothing tried was shown to be better."
        return Answer(sentence or keep, "same", "keep the default", details)
    if not sentence and chosen.claim:
        sentence = claim_sentence(chosen.claim, metric)
    tone = chosen.claim.verdict.value if chosen.claim else "unclear"
    if conclusion.requirements and tone != Verdict.FASTER:
        return Answer(sentence, "faster", "keeps what is required", details)
    return Answer(sentence, tone, _badge(tone, metric, chosen.claim), details)


def _proof(chosen: Recommendation) -> tuple[str, ...]:
    """What a proof of an unproven recommendation takes."""
    if chosen.proof is None:
        return ()
    return (
        f"A proof takes {proof_words(chosen.proof)}; `assay study resume` goes on to it. "
        "`assay run --from` takes it only with --unproven.",
    )


def _front(conclusion: Conclusion) -> Answer:
    sentence = clean(conclusion.recommendation.sentence if conclusion.recommendation else "")
    count = len(conclusion.front)
    if count:
        return Answer(sentence, "faster", "better" if count == 1 else f"front of {count}")
    undecided = sentence.startswith("Not decided")
    badge = "not decided" if undecided else "keep the default"
    return Answer(sentence, "unclear" if undecided else "same", badge)


def _chosen_details(chosen: Recommendation, metric: Metric) -> tuple[str, ...]:
    if chosen.claim is None or evidence_text(chosen.claim, metric) in chosen.sentence:
        return ()
    return (_basis(chosen.claim, metric),)


def _basis(claim: Claim, metric: Metric) -> str:
    words = evidence_text(claim, metric)
    return f"{typeset(words, words)}."


def _badge(tone: str, metric: Metric, claim: Claim | None = None) -> str:
    """For time the verdict's own word; for anything else what the word means."""
    if claim is not None and claim.method == "spread" and claim.verdict.value == tone:
        return verdict_word(claim)
    if metric.unit == "s" or tone not in ("faster", "slower"):
        return tone
    return "better" if tone == "faster" else "worse"


def _compared(conclusion: Conclusion, metric: Metric) -> Answer:
    claims = conclusion.claims
    if not claims:
        return Answer("There was nothing to compare.", "unclear", "no claim")
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
            f"best of {len(conclusion.arms)}",
            (_basis(found, metric), *others),
        )
    verdicts = {c.verdict for c in claims}
    tone = verdicts.pop().value if len(verdicts) == 1 else "unclear"
    baseline = _name(claims[0].a)
    sentence = (
        f"None of the {len(claims)} alternatives was shown to be better than {baseline} "
        f"in {label_of(metric)}."
    )
    return Answer(sentence, tone, _badge(tone, metric, claims[0]), others)


def _swept(conclusion: Conclusion, spec: StudySpec) -> Answer:
    """The best cell, how many others there are of each verdict, and the effects that matter."""
    best, metric, baseline = best_claim(conclusion), spec.workload.objective, spec.arms[0]
    first, *others = sweep_sentences(conclusion, metric, best_claim(conclusion))
    others += filter(None, [baseline_text(baseline.name, baseline.configuration, spec.space)])
    shown = [e for e in conclusion.effects if has_effect(e)]
    if shown:
        largest = sorted(shown, key=lambda e: -abs(math.log(e.ratio)))[:_EFFECTS_TOLD]
        told = (f"{typeset_effect(effect_name(e))} ({change(e.ratio)})" for e in largest)
        others.append(f"Largest effects over all cells: {', '.join(told)}.")
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
    return Answer(sentence, "faster", f"best of {cells} cells", details)


def _measured(conclusion: Conclusion, metric: Metric, scale: Scale) -> Answer:
    summary = conclusion.arms[0].summary.get(metric.name)
    if summary is None:
        return Answer("No launch gave a value.", "unclear", "no value")
    return Answer(
        f"The {label_of(metric)} is {scale.quantity(summary.mean)} on average.",
        "measured",
        "measured",
        _summary_details(summary, metric, scale),
    )


def _summary_details(summary: Summary, metric: Metric, scale: Scale) -> tuple[str, ...]:
    details = [
        f"Median {scale.quantity(summary.median)}, half of the launches between "
        f"{scale.number(summary.q1)} and {scale.quantity(summary.q3)}; "
        f"{show_count(summary.n, 'launch', 'launches')}."
    ]
    if summary.ci:
        low, high = summary.ci
        cut = metric.name in BUILT_IN and low <= 0
        words = f"The true mean lies between {scale.number(max(low, 0.0) if cut else low)} and "
        words += f"{scale.quantity(high)}"
        words += (
            ", cut off at 0: so few launches, so far apart, bound it no better." if cut else "."
        )
        details.insert(0, words)
    return tuple(details)


def _open(report: ReportInput, rows: Sequence[ArmRow], scale: Scale) -> Answer:
    if report.samples and not any(s.outcome is Outcome.OK for s in report.samples):
        return _failed_always(report)
    state = {
        Status.RUNNING: "The study is still running",
        Status.INTERRUPTED: "The study was interrupted",
        Status.FAILED: "The study failed",
        Status.PAUSED: "The study waits for another boot",
    }.get(report.status or Status.DONE, "The study is not finished")
    launches = show_count(len(report.samples), "launch", "launches")
    sentence = f"No verdict yet. {state} after {launches}."
    details = [_best_so_far(report, rows, scale)] if report.spec.kind is Kind.TUNE else []
    details += _always_failing(report)
    failure = last_failure(report.spec, report.samples)
    if report.status is Status.FAILED and failure is not None:
        told = f"The last launch that gave nothing: {clean(failure.told)}."
        details += [told, clean(failure.remedy)]
    elif report.status is not Status.RUNNING:
        details.append(f"assay study resume {clean(report.study_id)} goes on with it.")
    return Answer(sentence, "open", "no verdict yet", tuple(d for d in details if d))


def _always_failing(report: ReportInput) -> list[str]:
    """Arms of which no launch ended well, where they were given more than one chance."""
    arms: dict[str, list[Sample]] = {}
    for sample in report.samples:
        arms.setdefault(sample.launch.arm, []).append(sample)
    lost = {
        name: own
        for name, own in arms.items()
        if len(own) > 1 and all(s.outcome in (Outcome.FAILED, Outcome.LIMIT) for s in own)
    }
    said = [
        f"Every launch of {_name(name)} failed ({len(own):,}): {_why(report, own[-1])}."
        for name, own in lost.items()
    ]
    more = len(said) - _FAILING_SHOWN
    return said[:_FAILING_SHOWN] + ([f"So did {more} more."] if more > 0 else [])


_FAILING_SHOWN = 2


def _why(report: ReportInput, sample: Sample) -> str:
    return clean(failure_text(sample, report.spec.workload))


def _failed_always(report: ReportInput) -> Answer:
    number = len(report.samples)
    subject = "the only launch did not end" if number == 1 else f"none of {number:,} launches ended"
    last = max(report.samples, key=lambda s: s.started_at)
    return Answer(
        f"No verdict: {subject} well.",
        "slower",
        "failed",
        (
            f"The last one: {_why(report, last)}.",
            clean(failure_of(last, report.spec.workload).remedy),
        ),
    )


def _best_so_far(report: ReportInput, rows: Sequence[ArmRow], scale: Scale) -> str:
    measured = [(row.summary, row.name) for row in rows if row.summary is not None]
    if not measured:
        return ""
    sign = 1.0 if report.metric.goal is Goal.LOWER else -1.0
    summary, name = min(measured, key=lambda pair: sign * pair[0].median)
    return (
        f"Best median so far: {scale.quantity(summary.median)} with {_name(name)} "
        f"({show_count(summary.n, 'launch', 'launches')}). That is not a claim."
    )
