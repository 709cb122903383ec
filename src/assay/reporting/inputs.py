"""ReportInput: what a report is made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from assay.machine.document import Machine
from assay.records import Conclusion, MachineFloor, Metric, Sample, Status, Stratum, StudySpec
from assay.search.history.excluded_blocks import Block, block_of, excluded_blocks_of
from assay.search.model.explanation import Explanation


@dataclass(frozen=True)
class ReportInput:
    """One study, as records.

    Attributes:
        study_id: as ``assay study list`` shows it.
        spec: what was asked.
        strata: the sittings of the study.
        samples: those of the newest stratum (samples of different strata are never pooled), in any
            order.
        conclusion: of the same; absent while it runs, or when it ended before it could decide.
        machine: of the same; absent for imported studies.
        engine: version of assay that measured.
        created_at: start of the study, Unix seconds.
        elapsed_s: time that the study took so far, over all its strata.
        script: runs the winner without assay; empty where there is none.
        status: where the study stands; absent where that is not known.
        floor: noise floor of the machine by a calibration, where one stands beside the claims.
        explanation: for ``tune``: what the settings do, by a model of the search.
    """

    study_id: str
    spec: StudySpec
    strata: tuple[Stratum, ...]
    samples: tuple[Sample, ...]
    conclusion: Conclusion | None
    machine: Machine | None
    engine: str
    created_at: float
    elapsed_s: float
    script: str = ""
    status: Status | None = None
    floor: MachineFloor | None = None
    explanation: Explanation | None = None

    @cached_property
    def left_out(self) -> frozenset[Block]:
        """The blocks that enter no figure, since others used the machine meanwhile."""
        return excluded_blocks_of(self.spec, self.samples)

    def counts(self, sample: Sample) -> bool:
        """Whether figures may rest on a sample; all parts of the page ask here."""
        return block_of(sample) not in self.left_out

    @property
    def metric(self) -> Metric:
        """The metric that the study decides by."""
        if self.conclusion is not None:
            for metric in self.spec.workload.metrics:
                if metric.name == self.conclusion.metric:
                    return metric
        return self.spec.workload.objective
