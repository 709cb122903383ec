"""Gate: whether a comparison shows something that the caller does not accept, and what."""

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
"""Beside the verdicts: that launches failed, or did not end."""
BROKEN = RequirementVerdict.BROKEN.value
"""That an arm breaks what is required."""
GATE_CONDITIONS = (*map(str, Verdict), FAILED, BROKEN)
"""All that a gate can close on."""
SINGLE_ARM_CONDITIONS = (BROKEN, str(Verdict.UNCLEAR), FAILED)
"""The same of a measurement, which holds nothing against anything."""
DIFFERENCE_VERDICTS = (Verdict.FASTER, Verdict.SLOWER)
"""Verdicts that close a gate only where the difference exceeds the margin."""


def gate_reasons(words: Sequence[str], conclusion: Conclusion, spec: StudySpec) -> list[str]:
    """Say why a gate closes; empty where it stays open.

    *Faster* and *slower* hold where the interval excludes 1. They close a gate only where the whole
    interval lies beyond the margin, since that is the smallest difference of interest. An arm
    without a claim, for want of values, is *unclear*; so is one of which it is not known whether it
    keeps what is required.

    Args:
        words: some of ``GATE_CONDITIONS``.
        conclusion, spec: of a comparison or a measurement.
    """
    return [f"{word}: {text}" for word in words for text in _reasons(word, conclusion, spec)]


def _reasons(word: str, conclusion: Conclusion, spec: StudySpec) -> Iterator[str]:
    for one in conclusion.requirements:
        if one.verdict.value == word:
            yield requirement_reason(one.arm, one.requirement)
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
        elif found is not None and found.verdict == word and _counts(found):
            yield _difference(found)


def _counts(found: Claim) -> bool:
    return found.verdict not in DIFFERENCE_VERDICTS or found.beyond_margin


def _difference(found: Claim) -> str:
    return difference_text(
        found.b, found.a, found.margin if found.verdict in DIFFERENCE_VERDICTS else 0.0
    )


def needs_more_blocks(gate: Sequence[str], found: Claim) -> bool:
    """Tell whether a gate hangs on a difference that may yet turn out to exceed the margin.

    It is not asked for ever: where half of the interval is at most half of the margin, a
    difference that is not shown to exceed it is close enough to it.

    Args:
        gate: the words that the gate closes on.
        found: a claim whose verdict is given.
    """
    lo, hi = found.ci
    if found.verdict not in gate or found.verdict not in DIFFERENCE_VERDICTS or found.beyond_margin:
        return False
    if lo is None or hi is None:
        return True
    reaches = hi > 1.0 + found.margin or lo < 1.0 - found.margin
    return reaches and hi / lo > 1.0 + found.margin
