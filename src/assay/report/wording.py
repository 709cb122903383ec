"""Wording: the answer as sentences, and what weakens it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from assay.records import (
    Claim,
    Conclusion,
    Goal,
    Granted,
    Kind,
    Metric,
    Recommendation,
    Status,
    Summary,
    Verdict,
)
from assay.report.arms import ArmRow, Role, winner_name
from assay.report.grants import GrantTally
from assay.report.inputs import ReportInput
from assay.report.plain import label_of, shorten
from assay.report.scale import Scale
from assay.report.trials import State
from assay.search.sentence import basis, statement
from assay.units import show_count
from assay.untrusted import clean

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
    if report.spec.kind is Kind.TUNE:
        return _tuned(report.conclusion, report.metric)
    if report.spec.kind is Kind.MEASURE:
        return _measured(report.conclusion, report.metric, scale)
    return _compared(report.conclusion, report.metric)


def claim_sentence(claim: Claim, metric: Metric) -> str:
    """One claim in words: B takes 18.2 % less time than A."""
    named = msgspec.structs.replace(claim, a=_name(claim.a), b=_name(claim.b))
    more = (
        f" About {show_count(claim.blocks_needed, 'pair')} of launches in all would tell."
        if claim.verdict is Verdict.UNCLEAR
        and claim.blocks_needed
        and claim.blocks_needed > claim.blocks
        else ""
    )
    return f"{statement(named, metric)}.{more}"


def weaknesses(
    report: ReportInput, rows: Sequence[ArmRow], winner: Sequence[GrantTally]
) -> tuple[str, ...]:
    """What weakens the answer: the study's own notes, and what the samples show."""
    found = list(report.conclusion.notes) if report.conclusion else []
    for tally in winner:
        for grant in (Granted.DEGRADED, Granted.REFUSED, Granted.UNVERIFIED):
            if tally.counts.get(grant):
                found.append(_ungranted(tally, grant))
    claimed = [r for r in rows if r.role is not Role.OTHER and r.phase.value != "search"]
    for row in claimed:
        missing = {
            "failed": row.having(State.FAILED),
            "timed out": row.having(State.CENSORED),
            "gave no value": row.having(State.ABSENT),
        }
        for what, number in missing.items():
            if number:
                found.append(
                    f"{number} of {show_count(len(row.trials), 'launch', 'launches')} of "
                    f"{_name(row.name)} {what}."
                )
    if (
        report.conclusion is not None
        and report.conclusion.claims
        and not report.conclusion.noise_floor
    ):
        found.append("The noise floor of this machine was not measured in this study.")
    if len(report.strata) > 1:
        found.append(
            f"The study has {len(report.strata)} sittings under different conditions; the samples "
            "shown come from one of them and are not pooled with the others."
        )
    return tuple(dict.fromkeys(clean(note) for note in found))


def _ungranted(tally: GrantTally, grant: Granted) -> str:
    why = f": {tally.reasons[0][0]}" if tally.reasons else ""
    return (
        f"{tally.name} was {grant.value} in {tally.counts[grant]} of "
        f"{show_count(tally.total, 'launch', 'launches')} of the winner{why}."
    )


def _name(name: str) -> str:
    return shorten(clean(name), _NAME_CHARACTERS)


def _tuned(conclusion: Conclusion, metric: Metric) -> Answer:
    chosen = conclusion.recommendation
    if chosen is None:
        return Answer("No recommendation could be made.", "unclear", "no answer")
    sentence, details = clean(chosen.sentence), _chosen_details(chosen, metric)
    if winner_name(conclusion) is None:
        keep = "Keep the default: nothing tried was shown to be better."
        return Answer(sentence or keep, "same", "keep the default", details)
    if not sentence and chosen.claim:
        sentence = claim_sentence(chosen.claim, metric)
    tone = chosen.claim.verdict.value if chosen.claim else "unclear"
    return Answer(sentence, tone, _badge(tone, metric), details)


def _chosen_details(chosen: Recommendation, metric: Metric) -> tuple[str, ...]:
    reasons = tuple(clean(reason) for reason in chosen.why)
    if chosen.claim is None:
        return reasons
    rests_on = basis(chosen.claim, metric)
    return reasons if rests_on in chosen.sentence else (f"{rests_on}.", *reasons)


def _badge(tone: str, metric: Metric) -> str:
    """For time the verdict's own word; for anything else what the word means."""
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
            _badge(only.verdict.value, metric),
            (f"{basis(only, metric)}.",),
        )
    best = winner_name(conclusion)
    lead = next((c for c in claims if c.b == best), None)
    others = tuple(claim_sentence(c, metric) for c in claims if c is not lead)
    if lead is not None:
        return Answer(
            claim_sentence(lead, metric),
            "faster",
            f"best of {len(conclusion.arms)}",
            (f"{basis(lead, metric)}.", *others),
        )
    verdicts = {c.verdict for c in claims}
    tone = verdicts.pop().value if len(verdicts) == 1 else "unclear"
    baseline = _name(claims[0].a)
    sentence = (
        f"None of the {len(claims)} alternatives was shown to be better than {baseline} "
        f"in {label_of(metric)}."
    )
    return Answer(sentence, tone, _badge(tone, metric), others)


def _measured(conclusion: Conclusion, metric: Metric, scale: Scale) -> Answer:
    summary = conclusion.arms[0].summary.get(metric.name)
    if summary is None:
        return Answer("No launch gave a value.", "unclear", "no value")
    return Answer(
        f"The {label_of(metric)} is {scale.quantity(summary.mean)} on average.",
        "measured",
        "measured",
        _summary_details(summary, scale),
    )


def _summary_details(summary: Summary, scale: Scale) -> tuple[str, ...]:
    details = [
        f"Median {scale.quantity(summary.median)}, half of the launches between "
        f"{scale.number(summary.q1)} and {scale.quantity(summary.q3)}; "
        f"{show_count(summary.n, 'launch', 'launches')}."
    ]
    if summary.ci:
        details.insert(
            0,
            f"The true mean lies between {scale.number(summary.ci[0])} and "
            f"{scale.quantity(summary.ci[1])}.",
        )
    return tuple(details)


def _open(report: ReportInput, rows: Sequence[ArmRow], scale: Scale) -> Answer:
    state = {
        Status.RUNNING: "The study is still running",
        Status.INTERRUPTED: "The study was interrupted",
        Status.FAILED: "The study failed",
    }.get(report.status or Status.DONE, "The study is not finished")
    launches = sum(len(row.trials) for row in rows)
    sentence = f"No verdict yet. {state} after {show_count(launches, 'launch', 'launches')}."
    details = [_best_so_far(report, rows, scale)] if report.spec.kind is Kind.TUNE else []
    if report.status is not Status.RUNNING:
        details.append(f"assay study resume {clean(report.study_id)} goes on with it.")
    return Answer(sentence, "open", "no verdict yet", tuple(d for d in details if d))


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
