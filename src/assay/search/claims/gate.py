"""Gate: conditions on a result that the caller does not accept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.records import Claim, Conclusion, RequirementVerdict, StudySpec, Verdict
from assay.wording.gate import (
    difference_text,
    failed_reason,
    requirement_reason,
    timed_out_reason,
    without_claim_reason,
)

FAILED = "failed"
"""Condition besides the verdicts: launches failed, or did not end."""
BROKEN = RequirementVerdict.BROKEN.value
"""Condition: an arm violates a requirement."""
GATE_CONDITIONS = (*map(str, Verdict), FAILED, BROKEN)
"""All conditions of a gate."""
SINGLE_ARM_CONDITIONS = (BROKEN, str(Verdict.UNCLEAR), FAILED)
"""Conditions for a measurement, which compares nothing."""
DIFFERENCE_VERDICTS = (Verdict.FASTER, Verdict.SLOWER)
"""Verdicts that close a gate only if the difference exceeds the margin."""


def gate_reasons(words: Sequence[str], conclusion: Conclusion, spec: StudySpec) -> list[str]:
    """Return the reasons why a gate closes; empty if it stays open.

    *Faster* and *slower* hold if the interval excludes 1. They close a gate only if the whole
    interval lies beyond the margin, the smallest difference of interest. An arm without a claim is
    *unclear*, as is one with an undecided requirement.

    Args:
        words: some of ``GATE_CONDITIONS``.
        conclusion, spec: conclusion and specification of a comparison or a measurement.
    """
    return [f"{word}: {text}" for word in words for text in _reasons(word, conclusion, spec)]


def _reasons(word: str, conclusion: Conclusion, spec: StudySpec) -> Iterator[str]:
    for required in conclusion.requirements:
        if required.verdict.value == word:
            yield requirement_reason(required.arm, required.requirement)
    if word == FAILED:
        for result in conclusion.arms:
            if result.failures:
                yield failed_reason(result.name, result.failures)
            if result.timeouts:
                yield timed_out_reason(result.name, result.timeouts)
        return
    claims = {claim.b: claim for claim in conclusion.claims}
    for arm in spec.arms[1:]:
        found = claims.get(arm.name)
        if found is None and word == Verdict.UNCLEAR:
            yield without_claim_reason(arm.name)
        elif found is not None and found.verdict == word and _is_relevant(found):
            yield _difference(found)


def _is_relevant(found: Claim) -> bool:
    return found.verdict not in DIFFERENCE_VERDICTS or found.beyond_margin


def _difference(found: Claim) -> str:
    return difference_text(
        found.b, found.a, found.margin if found.verdict in DIFFERENCE_VERDICTS else 0.0
    )


def needs_more_blocks(gate: Sequence[str], found: Claim) -> bool:
    """Return whether a gate depends on a difference that may still exceed the margin.

    If half of the interval is at most half of the margin, the difference counts as close to the
    margin.

    Args:
        gate: conditions of the gate.
        found: claim with a verdict.
    """
    lo, hi = found.ci
    if found.verdict not in gate or found.verdict not in DIFFERENCE_VERDICTS or found.beyond_margin:
        return False
    if lo is None or hi is None:
        return True
    reaches = hi > 1.0 + found.margin or lo < 1.0 - found.margin
    return reaches and hi / lo > 1.0 + found.margin
