"""Source: all stored data of one study."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import msgspec

from assay.bundle.samples import ChangedSamples, Samples, StoredOutputs, StoredSamples
from assay.bundle.survey import SampleSurvey, survey_of
from assay.records import (
    Claim,
    Conclusion,
    Evidence,
    Output,
    Plan,
    Sample,
    Stratum,
)
from assay.records.front import FrontPoint
from assay.records.sample import PROGRESS_PREFIX, PROGRESS_QUOTES, STDERR_LINES
from assay.search.history.output_comparison import without_lines
from assay.store import Store, StudyRecord
from assay.wording.launch_notes import quotes_output
from assay.wording.objections import without_quote


@dataclass(frozen=True)
class StratumSource:
    """Stored data of one stratum.

    Attributes:
        stratum: conditions and machine document.
        plans: plans in the order of the first launches of their configurations.
        samples: samples in the order of launch; stored ones are read again for each pass.
        outputs: reads their stored outputs, in the same order.
        conclusion: conclusion, if there is one.
    """

    stratum: Stratum
    plans: tuple[Plan, ...]
    samples: Samples
    outputs: Callable[[], Iterator[tuple[Output, ...]]]
    conclusion: Conclusion | None = None


@dataclass(frozen=True)
class Source:
    """Study without samples, and its strata."""

    record: StudyRecord
    strata: tuple[StratumSource, ...]

    @cached_property
    def surveys(self) -> tuple[SampleSurvey, ...]:
        """Return the survey of the samples of each stratum."""
        return tuple(survey_of(self.record.spec, stratum.samples) for stratum in self.strata)

    @property
    def samples(self) -> int:
        """Return the number of samples of all strata."""
        return sum(len(stratum.samples) for stratum in self.strata)


def without_outputs(source: Source) -> Source:
    """Return a study without output lines of its program in samples and conclusions."""
    return dataclasses.replace(
        source, strata=tuple(_stratum_without_outputs(stratum) for stratum in source.strata)
    )


def _stratum_without_outputs(stratum: StratumSource) -> StratumSource:
    found = stratum.conclusion
    if found is not None:
        notes = tuple(without_quote(note) for note in found.notes if not quotes_output(note))
        found = _without_lines(msgspec.structs.replace(found, notes=notes))
    samples = ChangedSamples(stratum.samples, _without_own_lines)
    return dataclasses.replace(stratum, samples=samples, conclusion=found)


def _without_own_lines(sample: Sample) -> Sample:
    return without_lines(_without_errors(sample))


def _without_errors(sample: Sample) -> Sample:
    """Return a sample without lines of standard error, and of output without reported values."""
    if not any(map(_quotes_lines, sample.evidence)):
        return sample
    pieces = (
        msgspec.structs.replace(piece, note=None) if _quotes_lines(piece) else piece
        for piece in sample.evidence
    )
    return msgspec.structs.replace(sample, evidence=tuple(pieces))


def _quotes_lines(piece: Evidence) -> bool:
    if not piece.kind.startswith(PROGRESS_PREFIX):
        return piece.kind == STDERR_LINES
    return any(words in (piece.note or "") for words in PROGRESS_QUOTES)


def _without_lines(found: Conclusion) -> Conclusion:
    """Return a conclusion without quoted output lines in its objections."""
    floor = found.noise_floor
    found = msgspec.structs.replace(
        found,
        claims=_claims_without_lines(found.claims),
        steps=_claims_without_lines(found.steps),
        noise_floor=None if floor is None else _claim_without_lines(floor),
        pareto_front=tuple(map(_point_without_lines, found.pareto_front)),
        excluded_points=tuple(map(_point_without_lines, found.excluded_points)),
    )
    chosen = found.recommendation
    if chosen is not None:
        sentence, output = chosen.sentence, chosen.output_difference
        if output is not None:
            sentence = sentence.replace(output, without_quote(output))
        chosen = msgspec.structs.replace(
            chosen,
            sentence=sentence,
            output_difference=None if output is None else without_quote(output),
            claim=None if chosen.claim is None else _claim_without_lines(chosen.claim),
        )
    return msgspec.structs.replace(found, recommendation=chosen)


def _point_without_lines(point: FrontPoint) -> FrontPoint:
    return msgspec.structs.replace(point, claims=_claims_without_lines(point.claims))


def _claims_without_lines(claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
    return tuple(map(_claim_without_lines, claims))


def _claim_without_lines(claim: Claim) -> Claim:
    objection = claim.data_problem
    if objection is None:
        return claim
    return msgspec.structs.replace(claim, data_problem=without_quote(objection))


def read_source(store: Store, study_id: str) -> Source:
    """Return the data of a study; its samples and outputs are read when they are written.

    Samples are only ever appended, and a conclusion states its number of samples. So data read in
    this order are consistent even if the study is running.

    Raises:
        InvalidInputError: unknown study.
        NotPossibleError: the study is unreadable.
    """
    verdicts = store.conclusions(study_id)
    record = store.study(study_id)
    strata = []
    for stratum in record.strata:
        number = stratum.number
        count = store.count_samples(study_id, number)
        samples = StoredSamples(store, study_id, number, count)
        strata.append(
            StratumSource(
                stratum=stratum,
                plans=_as_launched(store.plans(study_id, number), samples),
                samples=samples,
                outputs=StoredOutputs(store, study_id, number, count),
                conclusion=verdicts.get(number),
            )
        )
    return Source(record, tuple(strata))


def _as_launched(plans: Iterable[Plan], samples: Samples) -> tuple[Plan, ...]:
    """Return the plans of samples in the order of the first launches of their configurations."""
    waiting = {plan.configuration: plan for plan in plans}
    found = []
    reading = iter(samples)
    while waiting and (sample := next(reading, None)) is not None:
        plan = waiting.pop(sample.launch.configuration, None)
        if plan is not None:
            found.append(plan)
    return tuple(found)
