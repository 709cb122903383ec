"""Requirements: results and verdicts in sentences."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.records import (
    Claim,
    Conclusion,
    DisturbanceSource,
    Requirement,
    RequirementResult,
    RequirementVerdict,
    StudySpec,
)
from assay.records.requirement import MEDIAN, overall_verdict
from assay.records.workload import BUILT_IN
from assay.units import parse_duration_s, show_count, show_quantity
from assay.wording.sentence import evidence_text, statement, tuning_verdict

HOLDS, BROKEN, UNCLEAR = (
    RequirementVerdict.HOLDS,
    RequirementVerdict.BROKEN,
    RequirementVerdict.UNCLEAR,
)


_TIMES = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))
_DIGITS = 9
"""Decimal places of a time in its unit; further digits are rounding errors of the division."""
_SIZES = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10), ("", 1))


def requirement_text(requirement: Requirement, unit: str | None = None) -> str:
    """Return a requirement as a user writes it; the parser reads it back unchanged.

    Args:
        requirement: the requirement.
        unit: unit of its metric; if absent, that of the built-in metric.
    """
    known = BUILT_IN.get(requirement.metric)
    unit = known.unit if unit is None and known is not None else unit or ""
    limit = _number_text(requirement.limit)
    if unit == "s":
        limit = _duration(requirement.limit)
    elif unit == "bytes":
        limit = next(
            f"{_number_text(requirement.limit / size)}{name}"
            for name, size in _SIZES
            if size == 1 or (requirement.limit >= size and requirement.limit % (size / 16) == 0)
        )
    which = "" if requirement.quantile == MEDIAN else f":p{100.0 * requirement.quantile:.10g}"
    return f"{requirement.metric}{which}{requirement.bound}{limit}"


def _duration(seconds: float) -> str:
    """Return a duration in the largest unit in which the parser reads it back unchanged."""
    units = ((name, factor) for name, factor in _TIMES if seconds >= factor)
    texts = (f"{_number_text(round(seconds / factor, _DIGITS))}{name}" for name, factor in units)
    exact = (text for text in texts if parse_duration_s(text) == seconds)
    return next(exact, f"{_number_text(seconds)}s")


def _number_text(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 2**63 else repr(value)


def unit_of(spec: StudySpec, metric: str) -> str:
    """Return the unit of a metric of the workload; empty without one."""
    return next((m.unit for m in spec.workload.metrics if m.name == metric), "")


def required_text(spec: StudySpec, requirements: Sequence[Requirement] | None = None) -> str:
    """Return requirements, all of a study if absent: ``wall_s<=2s and fps>=30``."""
    shown = spec.requirements if requirements is None else requirements
    return " and ".join(
        requirement_text(requirement, unit_of(spec, requirement.metric)) for requirement in shown
    )


def share_text(found: RequirementResult) -> str:
    """Return the launches that meet a requirement: ``21 of 24 launches, 2 without a value``."""
    launches = show_count(found.launches, "launch", "launches")
    if found.satisfied_launches == found.launches:
        return f"all {launches}" if found.launches > 1 else "the only launch"
    lacking = found.unknown_launches - found.bounded_launches
    text = f"{found.satisfied_launches or 'none'} of {launches}"
    if lacking:
        text += f", {lacking} without a value"
    if found.bounded_launches:
        text += (
            f", {found.bounded_launches} on either side: the value may have been higher between "
            "samples"
        )
    return text


def requirement_evidence(spec: StudySpec, found: RequirementResult) -> str:
    """Return the evidence of a result: quantile, worst value, launches that meet it."""
    if not found.launches:
        return "no launch that counts"
    unit = unit_of(spec, found.metric)
    parts = []
    if found.value is not None and found.worst_value is not None:
        which = "median" if found.quantile == MEDIAN else f"p{100 * found.quantile:g}"
        parts.append(f"{which} {show_quantity(found.value, unit)}")
        parts.append(f"worst {show_quantity(found.worst_value, unit)}")
    parts.append(f"met by {share_text(found)}")
    return ", ".join(parts)


def guarantee_text(found: RequirementResult) -> str:
    """Return the interval of the share that meets it: ``at least 81 % of all launches``."""
    low, high = (100 * end for end in found.share_ci)
    if found.verdict is BROKEN:
        return f"at most {_up(high)} % of all launches"
    if found.verdict is HOLDS:
        return f"at least {_down(low)} % of all launches"
    return f"{_down(low)} to {_up(high)} % of all launches"


def _down(percent: float) -> str:
    """Return a percentage rounded down: to a tenth above 99 %, else to a whole number."""
    return f"{int(10 * percent) / 10:g}" if percent > 99 else str(int(percent))


def _up(percent: float) -> str:
    return f"{-int(-10 * percent // 1) / 10:g}" if percent < 1 else str(-int(-percent // 1))


def requirement_words(spec: StudySpec, found: RequirementResult) -> str:
    """Return a result in one line: verdict, evidence, and the share of all launches."""
    text = f"{found.verdict}: {requirement_evidence(spec, found)}"
    if found.launches:
        text += f" ({guarantee_text(found)}){needed_launches_text(found)}"
    if found.verdict_withheld:
        return f"{text}; no verdict, since other processes disturbed too many blocks"
    return text


def requirement_sentences(spec: StudySpec, conclusion: Conclusion) -> list[str]:
    """Return a sentence for each requirement of a study without a recommendation."""
    sentences = []
    for requirement in spec.requirements:
        results = [r for r in conclusion.requirements if r.requirement == requirement]
        parts = []
        for verdict, words in _PREDICATES.items():
            arms = [r.arm for r in results if r.verdict is verdict]
            if arms and len(arms) == len(results) > 1:
                parts.append(f"{words} all {len(results)} arms")
            elif arms:
                shown = ", ".join(arms[:_MAX_ARMS])
                more = len(arms) - _MAX_ARMS
                parts.append(f"{words} {shown}{f' and {more} more' if more > 0 else ''}")
        if parts:
            sentences.append(f"{required_text(spec, [requirement])} {'; it '.join(parts)}.")
    return sentences


_PREDICATES = {HOLDS: "is met by", BROKEN: "is violated by", UNCLEAR: "is unclear for"}
_MAX_ARMS = 4


def needed_launches_text(found: RequirementResult) -> str:
    """Return the launches that would decide, as an addition; empty if unknown."""
    if found.launches_needed is None or found.launches_needed <= found.launches:
        return ""
    return f"; about {show_count(found.launches_needed, 'launch', 'launches')} in all would decide"


# --- the verdict of a tuning ------------------------------------------------------------------


def required_verdict(
    spec: StudySpec,
    found: Claim,
    required: Sequence[RequirementResult],
    default: str,
    disturbers: Sequence[DisturbanceSource] = (),
) -> str:
    """Return the verdict of a tuning with requirements, in one sentence or two.

    Args:
        spec: specification of the study.
        found: claim on the confirmed configuration.
        required: results of the requirements in both arms.
        default: name of the default.
        disturbers: processes that used the CPUs meanwhile.
    """
    if found.verdict_withheld:
        return tuning_verdict(spec, found, disturbers)
    keeps, before = overall_verdict(required, found.b), overall_verdict(required, default)
    text = required_text(spec)
    if keeps is BROKEN:
        return _broken(spec, found, required, before)
    if keeps is not HOLDS:
        return _unclear(spec, found, required, before)
    if before is BROKEN:
        return (
            f"{found.b} meets {text}, {_broken_by(spec, required, default)}: {price(spec, found)}."
        )
    if found.verdict.value == "faster":
        return f"{tuning_verdict(spec, found).removesuffix('.')}, and meets {text}."
    if before is HOLDS:
        return f"{tuning_verdict(spec, found)} The default meets {text}."
    return (
        f"Not decided: {found.b} meets {text}, and whether the default does is unclear; "
        f"{price(spec, found)}."
    )


def _broken_by(spec: StudySpec, required: Sequence[RequirementResult], default: str) -> str:
    """Return the requirements that the default violates, as a relative clause."""
    if len(spec.requirements) == 1:
        return "which the default violates"
    broken = [result for result in required if result.arm == default and result.verdict is BROKEN]
    text = required_text(spec, [result.requirement for result in broken])
    return f"of which the default violates {text}"


def price(spec: StudySpec, found: Claim) -> str:
    """Return the cost of a requirement: ``it takes 12.0 % more time than the default (...)``."""
    metric = spec.workload.objective
    named = msgspec.structs.replace(found, a="the default", b="it")
    words = statement(named, metric)
    return f"{words[0].lower()}{words[1:]} ({evidence_text(named, metric)})"


def default_requirement_sentence(
    spec: StudySpec, required: Sequence[RequirementResult], default: str
) -> str:
    """Return the result of the default, beside its recommendation; empty if unknown."""
    verdict = overall_verdict(required, default)
    matching = [
        result for result in required if result.arm == default and result.verdict is verdict
    ]
    text = required_text(spec, [result.requirement for result in matching])
    figures = "; ".join(requirement_evidence(spec, result) for result in matching)
    if all(result.verdict_withheld for result in matching):
        return ""
    match verdict:
        case None:
            return ""
        case RequirementVerdict.HOLDS:
            return f"The default meets {text}."
        case RequirementVerdict.BROKEN:
            return f"The default violates {text} ({figures})."
        case RequirementVerdict.UNCLEAR:
            return f"Whether the default meets {text} is unclear ({figures})."


def _broken(
    spec: StudySpec,
    found: Claim,
    required: Sequence[RequirementResult],
    before: RequirementVerdict | None,
) -> str:
    broken = [result for result in required if result.arm == found.b and result.verdict is BROKEN]
    text = required_text(spec, [result.requirement for result in broken])
    figures = "; ".join(requirement_evidence(spec, result) for result in broken)
    reason = f"{found.b}, which won the search, violates {text} ({figures})"
    if before is BROKEN:
        whole = required_text(spec)
        return f"No configuration meets {whole}: {reason}, and so does the default."
    return f"Keep the default: {reason}."


def _unclear(
    spec: StudySpec,
    found: Claim,
    required: Sequence[RequirementResult],
    before: RequirementVerdict | None,
) -> str:
    unclear = [result for result in required if result.arm == found.b and result.verdict is UNCLEAR]
    text = required_text(spec, [result.requirement for result in unclear])
    figures = "; ".join(
        f"{requirement_evidence(spec, result)}{needed_launches_text(result)}" for result in unclear
    )
    rest = "The default violates it." if before is BROKEN else "Keep the default until then."
    if before is BROKEN and len(spec.requirements) > 1:
        rest = "The default violates a requirement."
    return f"Not decided: whether {found.b} meets {text} is unclear ({figures}). {rest}"
