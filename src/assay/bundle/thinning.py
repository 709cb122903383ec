"""Thinning of samples: parts that a verdict does not need are removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from assay.bundle.recompute import is_same_conclusion, recompute, script_of
from assay.errors import NotPossibleError
from assay.executors.evidence.libraries import KIND as LIBRARIES
from assay.records import Conclusion, Plan, Sample, Stage, Stratum, StudySpec
from assay.search.history.packed_samples import PackedSamples

_Reduction = Callable[[Sample, StudySpec], Sample]


@dataclass(frozen=True)
class VerdictData:
    """Verdict of a stratum, and its data.

    Attributes:
        spec: specification of the study.
        stratum: conditions and machine document.
        conclusion: recorded verdict.
        plans: plans of the stratum.
        samples: samples of the stratum in the order of launch.
    """

    spec: StudySpec
    stratum: Stratum
    conclusion: Conclusion
    plans: Sequence[Plan]
    samples: Sequence[Sample]


def thinned(data: VerdictData) -> Sequence[Sample]:
    """Return the samples without the parts that the verdict does not need.

    Returns ``data.samples`` if it needs all parts. Evidence that ``study show`` and ``resume``
    compare with the present machine stays: libraries, and all of a study with boot settings.

    Samples of the confirmation, on which claims rest, stay whole. A reduction of the others counts
    only if the verdict and the script of the recommendation, recomputed from the thinned samples,
    are the same.

    Raises:
        NotPossibleError: the verdict cannot be recomputed from the whole samples.
        InvalidInputError: invalid expression of the space.
    """
    if not _is_reproduced(data, data.samples):
        raise NotPossibleError(
            "its verdict does not follow from its samples in this version of assay",
            "The version that measured it can thin it.",
        )
    for reduce in _REDUCTIONS:
        samples = _reduced(data, reduce)
        if samples is not None and _is_reproduced(data, samples):
            return samples
    return data.samples


def _reduced(data: VerdictData, reduce: _Reduction) -> Sequence[Sample] | None:
    """Return the reduced samples; ``None`` if they are the same."""
    found = PackedSamples()
    differ = False
    for sample in data.samples:
        confirms = sample.launch.stage is Stage.CONFIRM
        smaller = sample if confirms else reduce(sample, data.spec)
        differ = differ or smaller != sample
        found.append(smaller)
    return found if differ else None


def _bare(sample: Sample, spec: StudySpec) -> Sample:
    """Return a sample with its outcome, its metrics and evidence on the machine only."""
    evidence = sample.evidence
    if not spec.reboot_settings:
        evidence = tuple(piece for piece in evidence if piece.kind == LIBRARIES)
    return msgspec.structs.replace(
        sample, evidence=evidence, unavailable={}, observations=(), series={}, steady={}
    )


def _without_series(sample: Sample, _spec: StudySpec) -> Sample:
    return msgspec.structs.replace(sample, unavailable={}, series={})


_REDUCTIONS: tuple[_Reduction, ...] = (_bare, _without_series)
"""Reductions of a sample, the largest first."""


def _is_reproduced(data: VerdictData, samples: Sequence[Sample]) -> bool:
    found = recompute(data.spec, samples, data.stratum, data.conclusion)
    if not is_same_conclusion(found, data.conclusion):
        return False
    before, after = (
        script_of(data.conclusion, data.plans, data.spec.workload, some)
        for some in (data.samples, samples)
    )
    return before == after
