"""Present recommendation: the answer that a study would give if it ended now."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Kind, Sample, StudySpec
from assay.search.conclusion.unproven import say_unproven
from assay.search.history.history import DEFAULT_ARM
from assay.search.model.gp import GpSearcher
from assay.search.races.tune import TuneRace
from assay.search.space.named_configurations import label_of, make_search_space
from assay.units import show_percent
from assay.wording.sentence import interval_text


def interim_words(race: TuneRace) -> str:
    """Return the present recommendation in a few words, empty where the default would be kept.

    For example ``unproven so far -18.2 % (-24.1 to -11.0 %): malloc=jemalloc``.
    """
    candidate = race.candidate
    if not candidate.is_likely(race.spec.margin):
        return ""
    expected = candidate.expected(race.history.goal, len(race.history.samples))
    ends = interval_text(expected.ci)
    return f"unproven so far {show_percent(expected.ratio)} % ({ends}): {_name(race)}"


def interim_sentence(spec: StudySpec, samples: Sequence[Sample]) -> str:
    """The present recommendation of a study that has no conclusion yet, in one sentence.

    Empty for studies that recommend nothing, and while only the default was launched.

    Args:
        spec: of the study.
        samples: of its newest stratum.
    """
    if spec.kind is not Kind.TUNE or spec.objectives:
        return ""
    race = TuneRace(spec, make_search_space(spec.space), GpSearcher())
    for sample in samples:
        race.tell(sample)
    if {sample.launch.arm for sample in samples} <= {DEFAULT_ARM.name}:
        return ""
    candidate = race.candidate
    if not candidate.is_likely(spec.margin):
        return "So far the default: nothing that was launched is likely enough to be better."
    expected = candidate.expected(race.history.goal, len(samples))
    return f"So far {say_unproven(spec, _name(race), expected)}"


def _name(race: TuneRace) -> str:
    """Return the name of the candidate: its own where the space names it, else its settings."""
    arm = race.candidate.arm
    return label_of(race.spec.space, arm.configuration) or arm.name
