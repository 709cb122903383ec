"""Interim recommendation: the answer that a study would give if it ended now."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Kind, Sample, StudySpec
from assay.search.history.history import DEFAULT_ARM
from assay.search.model.gp import GpSearcher
from assay.search.races.trial_race import tune_race
from assay.search.races.tune import TuneRace
from assay.search.space.named_configurations import label_of, make_search_space
from assay.wording import recommendation as wording


def interim_words(race: TuneRace) -> str:
    """Return the interim recommendation in a few words; empty where the default would be kept.

    For example ``unproven so far -18.2 % (-24.1 to -11.0 %): malloc=jemalloc``.
    """
    candidate = race.candidate
    if not candidate.is_likely(race.spec.margin):
        return ""
    expected = candidate.expected(race.history.goal, len(race.history.samples))
    return wording.interim_words(_name(race), expected)


def interim_sentence(spec: StudySpec, samples: Sequence[Sample]) -> str:
    """Return the interim recommendation of a study in one sentence.

    It is empty for studies without a recommendation, and while only the default was launched.

    Args:
        spec: specification of the study.
        samples: samples of its newest stratum.
    """
    if spec.kind is not Kind.TUNE or spec.objectives:
        return ""
    race = tune_race(spec, make_search_space(spec.space), GpSearcher())
    for sample in samples:
        race.tell(sample)
    if {sample.launch.arm for sample in samples} <= {DEFAULT_ARM.name}:
        return ""
    candidate = race.candidate
    if not candidate.is_likely(spec.margin):
        return wording.INTERIM_DEFAULT
    expected = candidate.expected(race.history.goal, len(race.history.samples))
    return wording.interim_sentence(spec, _name(race), expected)


def _name(race: TuneRace) -> str:
    """Return the name of the candidate: its own where the space names it, else its settings."""
    arm = race.candidate.arm
    return label_of(race.spec.space, arm.configuration) or arm.name
