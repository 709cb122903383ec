"""ReportInput: input of a report."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from assay.machine.document import Machine
from assay.records import Conclusion, MachineFloor, Metric, Sample, Status, Stratum, StudySpec
from assay.records.launch import NON_COMPARING_STAGES
from assay.search.history.excluded_blocks import Block, block_of, excluded_blocks_of
from assay.search.model.explanation import Explanation


@dataclass(frozen=True)
class ReportInput:
    """One study as records.

    Attributes:
        study_id: id in ``assay study list``.
        spec: specification of the study.
        strata: strata of the study.
        samples: samples of the newest stratum, in any order.
        conclusion: its conclusion; absent for running and undecided studies.
        machine: its machine document; absent for imported studies.
        assay_version: version of assay that measured.
        created_at: start of the study, in seconds since 1970 (UTC).
        elapsed_s: time spent on the study over all strata, in seconds.
        script: shell script that runs the recommendation without assay; empty without one.
        status: status of the study; absent if unknown.
        floor: noise floor of the machine from a calibration, if it is shown with the claims.
        explanation: for ``tune``: effects of the settings by a model of the search.
    """

    study_id: str
    spec: StudySpec
    strata: tuple[Stratum, ...]
    samples: tuple[Sample, ...]
    conclusion: Conclusion | None
    machine: Machine | None
    assay_version: str
    created_at: float
    elapsed_s: float
    script: str = ""
    status: Status | None = None
    floor: MachineFloor | None = None
    explanation: Explanation | None = None

    @cached_property
    def left_out(self) -> frozenset[Block]:
        """Return the blocks that are excluded from all figures as disturbed."""
        return excluded_blocks_of(self.spec, self.samples)

    @cached_property
    def compared_samples(self) -> tuple[Sample, ...]:
        """Return the samples in order of start, without survey launches."""
        compared = (s for s in self.samples if s.launch.stage not in NON_COMPARING_STAGES)
        return tuple(sorted(compared, key=_place_in_order))

    def counts(self, sample: Sample) -> bool:
        """Return whether a sample is included in figures, for all parts of the page."""
        return not self.left_out or block_of(sample) not in self.left_out

    @property
    def metric(self) -> Metric:
        """Return the objective of the study."""
        if self.conclusion is not None:
            for metric in self.spec.workload.metrics:
                if metric.name == self.conclusion.metric:
                    return metric
        return self.spec.workload.objective


def _place_in_order(sample: Sample) -> tuple[float, int, int, int]:
    """Return the key of the order of start."""
    launch = sample.launch
    return sample.started_at, launch.block, launch.position, launch.attempt
