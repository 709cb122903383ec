"""Requirements in sentences that a person can repeat."""

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
        requirement: any.
        unit: unit of its metric; if absent, that of the built-in metric.
    """
    known = BUILT_IN.get(requirement.metric)
    unit = known.unit if unit is None and known is not None else unit or ""
    limit = _plain(requirement.limit)
    if unit == "s":
        limit = _duration(requirement.limit)
    elif unit == "bytes":
        limit = next(
            f"{_plain(requirement.limit / size)}{name}"
            for name, size in _SIZES
            if size == 1 or (requirement.limit >= size and requirement.limit % (size / 16) == 0)
        )
    which = "" if requirement.quantile == MEDIAN else f":p{100.0 * requirement.quantile:.10g}"
    return f"{requirement.metric}{which}{requirement.bound}{limit}"


def _duration(seconds: float) -> str:
    """Return a duration in the largest unit in which the parser reads it back unchanged."""
    units = ((name, factor) for name, factor in _TIMES if seconds >= factor)
    texts = (f"{_plain(round(seconds / factor, _DIGITS))}{name}" for name, factor in units)
    exact = (text for text in texts if parse_duration_s(text) == seconds)
    return next(exact, f"{_plain(seconds)}s")


def _plain(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 2**63 else repr(value)


def unit_of(spec: StudySpec, metric: str) -> str:
    """The unit of a metric of the workload."""
    return next((m.unit for m in spec.workload.metrics if m.name == metric), "")


def required_text(spec: StudySpec, requirements: Sequence[Requirement] | None = None) -> str:
    """Some of what is required, or all of it: ``wall_s<=2s and fps>=30``."""
    told = spec.require if requirements is None else requirements
    return " and ".join(requirement_text(one, unit_of(spec, one.metric)) for one in told)


def share_text(found: RequirementResult) -> str:
    """How many launches keep it: ``all 24 launches``, ``21 of 24 launches, 2 without a value``."""
    launches = show_count(found.launches, "launch", "launches")
    if found.kept == found.launches:
        return f"all {launches}" if found.launches > 1 else "the only launch"
    lacking = found.unknown - found.bounded
    told = f"{found.kept or 'none'} of {launches}"
    if lacking:
        told += f", {lacking} without a value"
    if found.bounded:
        told += f", {found.bounded} on either side: more may have been there than samples saw"
    return told


def requirement_evidence(spec: StudySpec, found: RequirementResult) -> str:
    """The figures behind a verdict: the quantile, the worst, the launches that keep it."""
    if not found.launches:
        return "no launch that counts"
    unit = unit_of(spec, found.metric)
    parts = []
    if found.value is not None and found.worst is not None:
        which = "median" if found.quantile == MEDIAN else f"p{100 * found.quantile:g}"
        parts.append(f"{which} {show_quantity(found.value, unit)}")
        parts.append(f"worst {show_quantity(found.worst, unit)}")
    parts.append(f"kept by {share_text(found)}")
    return ", ".join(parts)


def guarantee_text(found: RequirementResult) -> str:
    """Between which shares of all launches keep it: ``at least 81 % of all launches``."""
    low, high = (100 * end for end in found.share_ci)
    if found.verdict is BROKEN:
        return f"at most {_up(high)} % of all launches"
    if found.verdict is HOLDS:
        return f"at least {_down(low)} % of all launches"
    return f"{_down(low)} to {_up(high)} % of all launches"


def _down(percent: float) -> str:
    """To a tenth near the end, where it matters, else whole; never more than is shown."""
    return f"{int(10 * percent) / 10:g}" if percent > 99 else str(int(percent))


def _up(percent: float) -> str:
    return f"{-int(-10 * percent // 1) / 10:g}" if percent < 1 else str(-int(-percent // 1))


def requirement_words(spec: StudySpec, found: RequirementResult) -> str:
    """A result in one line: the verdict, the figures, and what they say of all launches."""
    told = f"{found.verdict}: {requirement_evidence(spec, found)}"
    if found.launches:
        told += f" ({guarantee_text(found)}){needed_launches_text(found)}"
    return f"{told}; withheld, others disturbed too many blocks" if found.withheld else told


def requirement_sentences(spec: StudySpec, conclusion: Conclusion) -> list[str]:
    """A sentence for each requirement of a study that recommends nothing: who keeps it."""
    sentences = []
    for one in spec.require:
        mine = [r for r in conclusion.requirements if r.requirement == one]
        parts = []
        for verdict, words in _TOLD.items():
            arms = [r.arm for r in mine if r.verdict is verdict]
            if arms and len(arms) == len(mine) > 1:
                parts.append(f"{words} all {len(mine)} arms")
            elif arms:
                shown = ", ".join(arms[:_ARMS_TOLD])
                more = len(arms) - _ARMS_TOLD
                parts.append(f"{words} {shown}{f' and {more} more' if more > 0 else ''}")
        if parts:
            sentences.append(f"{required_text(spec, [one])} {'; it '.join(parts)}.")
    return sentences


_TOLD = {HOLDS: "holds for", BROKEN: "is broken by", UNCLEAR: "is unclear for"}
_ARMS_TOLD = 4


def needed_launches_text(found: RequirementResult) -> str:
    """What it would take to decide; empty where that is not known."""
    if found.launches_needed is None or found.launches_needed <= found.launches:
        return ""
    return f"; about {show_count(found.launches_needed, 'launch', 'launches')} in all would tell"


# --- the verdict of a tuning ------------------------------------------------------------------


def required_verdict(
    spec: StudySpec,
    found: Claim,
    required: Sequence[RequirementResult],
    default: str,
    disturbers: Sequence[DisturbanceSource] = (),
) -> str:
    """The verdict of a tuning that was to keep something, in one sentence or two.

    Args:
        spec: of the study; it requires something.
        found: the claim on what was confirmed.
        required: what was seen of the requirements in both arms.
        default: name of the default.
        disturbers: who used the CPUs meanwhile.
    """
    if found.withheld:
        return tuning_verdict(spec, found, disturbers)
    keeps, before = overall_verdict(required, found.b), overall_verdict(required, default)
    text = required_text(spec)
    if keeps is BROKEN:
        return _broken(spec, found, required, before)
    if keeps is not HOLDS:
        return _unclear(spec, found, required, before)
    if before is BROKEN:
        return (
            f"{found.b} keeps {text}, {_broken_by(spec, required, default)}: {price(spec, found)}."
        )
    if found.verdict.value == "faster":
        return f"{tuning_verdict(spec, found).removesuffix('.')}, and keeps {text}."
    if before is HOLDS:
        return f"{tuning_verdict(spec, found)} The default keeps {text}."
    return (
        f"Not decided: {found.b} keeps {text}, and whether the default does is unclear; "
        f"{price(spec, found)}."
    )


def _broken_by(spec: StudySpec, required: Sequence[RequirementResult], default: str) -> str:
    """What of it the default breaks."""
    if len(spec.require) == 1:
        return "which the default breaks"
    mine = [one for one in required if one.arm == default and one.verdict is BROKEN]
    text = required_text(spec, [one.requirement for one in mine])
    return f"of which the default breaks {text}"


def price(spec: StudySpec, found: Claim) -> str:
    """What keeping a requirement costs: ``it takes 12.0 % more time than the default (...)``."""
    metric = spec.workload.objective
    named = msgspec.structs.replace(found, a="the default", b="it")
    words = statement(named, metric)
    return f"{words[0].lower()}{words[1:]} ({evidence_text(named, metric)})"


def default_requirement_sentence(
    spec: StudySpec, required: Sequence[RequirementResult], default: str
) -> str:
    """What is to be said of the default beside that it is kept; empty where nothing was seen."""
    verdict = overall_verdict(required, default)
    mine = [one for one in required if one.arm == default and one.verdict is verdict]
    text = required_text(spec, [one.requirement for one in mine])
    figures = "; ".join(requirement_evidence(spec, one) for one in mine)
    if all(one.withheld for one in mine):
        return ""
    match verdict:
        case None:
            return ""
        case RequirementVerdict.HOLDS:
            return f"The default keeps {text}."
        case RequirementVerdict.BROKEN:
            return f"The default breaks {text} ({figures})."
        case RequirementVerdict.UNCLEAR:
            return f"Whether the default keeps {text} is unclear ({figures})."


def _broken(
    spec: StudySpec,
    found: Claim,
    required: Sequence[RequirementResult],
    before: RequirementVerdict | None,
) -> str:
    mine = [one for one in required if one.arm == found.b and one.verdict is BROKEN]
    text = required_text(spec, [one.requirement for one in mine])
    figures = "; ".join(requirement_evidence(spec, one) for one in mine)
    told = f"{found.b}, which won the search, breaks {text} ({figures})"
    if before is BROKEN:
        whole = required_text(spec)
        return f"Nothing was found that keeps {whole}: {told}, and so does the default."
    return f"Keep the default: {told}."


def _unclear(
    spec: StudySpec,
    found: Claim,
    required: Sequence[RequirementResult],
    before: RequirementVerdict | None,
) -> str:
    mine = [one for one in required if one.arm == found.b and one.verdict is UNCLEAR]
    text = required_text(spec, [one.requirement for one in mine])
    figures = "; ".join(
        f"{requirement_evidence(spec, one)}{needed_launches_text(one)}" for one in mine
    )
    rest = "The default breaks it." if before is BROKEN else "Keep the default until then."
    if before is BROKEN and len(spec.require) > 1:
        rest = "The default breaks what is required."
    return f"Not decided: whether {found.b} keeps {text} is unclear ({figures}). {rest}"
