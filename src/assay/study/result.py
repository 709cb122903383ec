"""Results of studies, from their stored conclusions and samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from assay.executors.evidence.libraries import libraries_changed
from assay.records import (
    Conclusion,
    MachineFloor,
    Sample,
    Status,
    Stratum,
    StudySpec,
)
from assay.records.workload import WALL
from assay.search.model.explanation import Explanation, explanation_of
from assay.store import Store, StudyRecord
from assay.study.boot_states import BootStateComparison
from assay.study.elapsed import elapsed_of
from assay.study.laboratory import Laboratory
from assay.study.noise_floor import (
    calibration_of_other_machine,
    machine_floor,
)
from assay.study.recorded_samples import stored_samples, with_conditions
from assay.study.stratum import as_if_reserved, differences, stratum_of
from assay.wording.conditions import (
    STUDY_HAD_ENDED,
    changed_conditions,
    changed_libraries,
    condition_notes,
)
from assay.wording.endings import earlier_verdict_notes
from assay.wording.noise_floor import applicable_floor, floor_notes, floor_of_other_machine
from assay.wording.trial_words import sample_words


@dataclass(frozen=True)
class StudyResult:
    """Result of a finished study.

    Attributes:
        study_id: id of the study.
        spec: specification of the study.
        conclusion: conclusion of the stratum.
        floor: noise floor of the machine by the newest calibration, if it is shown with the claims.
        elapsed_s: time spent on the study, over all its strata, in seconds.
        resume_notes: notes that depend on the present state of this host; the conclusion, which
            depends on its samples only, has none of them.
        stratum: number of the stratum of the conclusion, if there are several.
        explanation: for ``tune``: effects of the settings by a model of the search.
        later_launches: launches of the stratum that were stored since its conclusion.
        samples: samples of the stratum, packed if they are many.
    """

    study_id: str
    spec: StudySpec
    conclusion: Conclusion
    elapsed_s: float
    floor: MachineFloor | None = None
    resume_notes: tuple[str, ...] = ()
    stratum: int | None = None
    explanation: Explanation | None = None
    later_launches: int = 0
    samples: Sequence[Sample] = field(default=(), repr=False, compare=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return limitations of the answer from its samples, this host and the calibration."""
        return (
            *self.conclusion.notes,
            *self.resume_notes,
            *floor_notes(self.floor, self.conclusion),
        )


def finished_result(
    laboratory: Laboratory, store: Store, record: StudyRecord
) -> StudyResult | None:
    """Return the result of a finished study, with notes on its end and on changes of this host.

    Changes are only noted, because no further samples are pooled.

    Args:
        laboratory: the host; the program need not be built.
        store: store of the study.
        record: record of the study.

    Returns:
        ``None`` if its newest stratum has no conclusion.
    """
    found = stored_result(store, record)
    if found is None or record.status is not Status.DONE:
        return None
    newest = record.strata[-1]
    unbuilt = record.spec.workload.build is not None and laboratory.built is None
    digest = newest.program_digest if unbuilt else laboratory.digest
    now = stratum_of(newest.number, laboratory.machine, digest, laboratory.driver.env)
    now = as_if_reserved(now, newest) if record.spec.reserve else now
    samples = store.samples(record.id, newest.number) if record.spec.reboot_settings else []
    states = BootStateComparison(
        record.spec, laboratory.registry, newest, now, laboratory.machine, samples
    )
    changed = differences(*states.compared())
    changed += ["the inputs of the build"] if unbuilt else []
    notes = [STUDY_HAD_ENDED, *([changed_conditions(changed)] if changed else [])]
    return replace(found, resume_notes=(*found.resume_notes, *notes))


def stored_result(
    store: Store, record: StudyRecord, samples: Sequence[Sample] | None = None
) -> StudyResult | None:
    """Return the stored result of the newest stratum of a study.

    Args:
        store: store of the study.
        record: record of the study.
        samples: samples of the newest stratum; ``None`` reads them.

    Returns:
        ``None`` if it has none, even if earlier strata have one.
    """
    newest = record.strata[-1]
    conclusion = store.conclusions(record.id).get(newest.number)
    if conclusion is None:
        return None
    if samples is None:
        samples = stored_samples(store, record.id, newest.number)
    return result_of(store, record, conclusion, samples)


def result_of(
    store: Store,
    record: StudyRecord,
    conclusion: Conclusion,
    samples: Sequence[Sample],
    first_notes: Sequence[str] = (),
) -> StudyResult:
    """Return the result of a conclusion of the newest stratum.

    Args:
        store: store of the study.
        record: record of the study.
        conclusion: the conclusion.
        samples: samples of the stratum.
        first_notes: notes on this host that precede those on the conditions of the samples.
    """
    newest = record.strata[-1]
    floor = _calibrated_floor(store, newest, record.spec, conclusion)
    earlier = earlier_verdict_notes(record.id, record.spec, conclusion, len(samples), record.status)
    notes = (
        *earlier,
        *first_notes,
        *condition_notes(newest, with_conditions(samples)),
        *_calibration_notes(store, newest, conclusion, floor),
    )
    return StudyResult(
        record.id,
        record.spec,
        conclusion,
        elapsed_of(store, record),
        floor,
        tuple(map(sample_words(record.spec, samples), notes)),
        stratum=newest.number if len(record.strata) > 1 else None,
        explanation=explanation_of(record.spec, samples, conclusion),
        later_launches=len(samples) - conclusion.launches if earlier else 0,
        samples=samples,
    )


def _calibrated_floor(
    store: Store, stratum: Stratum, spec: StudySpec, conclusion: Conclusion
) -> MachineFloor | None:
    """Return the calibrated noise floor if the study did not measure its own."""
    if not conclusion.claims or conclusion.noise_floor is not None:
        return None
    return applicable_floor(machine_floor(store, stratum.machine, spec.workload), conclusion)


def _calibration_notes(
    store: Store, stratum: Stratum, conclusion: Conclusion, floor: MachineFloor | None
) -> tuple[str, ...]:
    """Return a note if all calibrations are of other machines."""
    timed = any(claim.metric == WALL.name for claim in conclusion.claims)
    if not timed or conclusion.noise_floor is not None or floor is not None:
        return ()
    found = calibration_of_other_machine(store, stratum.machine)
    return () if found is None else (floor_of_other_machine(found),)


def library_notes(samples: Sequence[Sample], *, gone: bool = True) -> tuple[str, ...]:
    """Return a note if libraries that a program loaded have changed.

    ``gone`` includes deleted libraries. Samples are not separated, because a file that the program
    rewrites at each launch looks the same. Changes of linked libraries separate samples by the
    program digest.
    """
    changed = libraries_changed(samples, include_removed=gone)
    return (changed_libraries(changed),) if changed else ()
