"""Conclusions of sessions, whose texts are on trials instead of launches."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay.records import Claim, Conclusion, Recommendation, Sample, StudySpec
from assay.wording.trial_words import SampleWords, sample_words


def in_own_words(spec: StudySpec, samples: Sequence[Sample], found: Conclusion) -> Conclusion:
    """Return a conclusion with the words for the samples of its study.

    Args:
        spec: specification of the study.
        samples: samples of the study.
        found: conclusion in words for launches.
    """
    words = sample_words(spec, samples)
    if not words.in_process:
        return found
    recommendation = found.recommendation
    return replace(
        found,
        claims=tuple(_claim(claim, words) for claim in found.claims),
        recommendation=None if recommendation is None else _recommendation(recommendation, words),
        notes=tuple(map(words, found.notes)),
        stop_reason=words(found.stop_reason),
    )


def _claim(claim: Claim, words: SampleWords) -> Claim:
    problem = claim.data_problem
    return claim if problem is None else replace(claim, data_problem=words(problem))


def _recommendation(found: Recommendation, words: SampleWords) -> Recommendation:
    different = found.output_difference
    return replace(
        found,
        sentence=words(found.sentence),
        claim=None if found.claim is None else _claim(found.claim, words),
        output_difference=None if different is None else words(different),
    )
