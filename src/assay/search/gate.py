"""Gate: whether what a comparison shows is among what a caller does not accept."""

from __future__ import annotations

from assay.records import Conclusion, RequirementVerdict, StudySpec, Verdict

FAILED = "failed"
"""Beside the verdicts: that launches failed."""
BROKEN = RequirementVerdict.BROKEN.value
"""That an arm breaks what is required."""
WORDS = (*map(str, Verdict), FAILED, BROKEN)
"""All that a gate can close on."""
OF_ONE_ARM = (BROKEN, str(Verdict.UNCLEAR), FAILED)
"""The same of a measurement, which holds nothing against anything."""


def closes(word: str, conclusion: Conclusion, spec: StudySpec) -> bool:
    """Whether one of ``WORDS`` holds for any arm.

    An arm without a claim, for want of values, is *unclear*; so is one of which it is not known
    whether it keeps what is required.

    Args:
        word: a verdict on an arm against the first, ``FAILED`` or ``BROKEN``.
        conclusion, spec: of a comparison or a measurement.
    """
    if any(one.verdict.value == word for one in conclusion.requirements):
        return True
    if word == FAILED:
        return any(arm.failures for arm in conclusion.arms)
    verdicts = {claim.b: claim.verdict for claim in conclusion.claims}
    return any(verdicts.get(a.name, Verdict.UNCLEAR) == word for a in spec.arms[1:])
