"""Noise floor and spread between launches: the newest calibration of a machine."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from assay.records import Kind, Status, StoredSpread, StudySpec, Workload
from assay.records.calibration import MachineFloor
from assay.store import Store, StudySelection
from assay.store.base import StudyRecord
from assay.wording.disturbance import mostly_disturbed
from assay.wording.noise_floor import command_words


def machine_floor(
    store: Store, machine: str, workload: Workload | None = None
) -> MachineFloor | None:
    """Return the noise floor of a machine, preferably from a calibration with the same program.

    The newest calibration counts. Calibrations in which more than a third of the blocks were
    disturbed are ignored.

    Args:
        store: store of the calibrations.
        machine: fingerprint of the machine, as in strata.
        workload: workload of the claims.

    Returns:
        ``None`` without a calibration.
    """
    other: MachineFloor | None = None
    for study_id in _calibrations(store, machine):
        record = store.study(study_id)
        found = _floor(store, record, machine)
        if found is not None and workload and _is_same(record.spec.workload, workload):
            return found
        other = other or found
    return other


def calibration_of_other_machine(store: Store, machine: str) -> str | None:
    """Return the newest calibration of another machine, if there is none of this one.

    Args:
        store: store of the calibrations.
        machine: fingerprint of this machine.
    """
    own = _calibrations(store, machine)
    if any(store.strata(study_id)[-1].machine == machine for study_id in own):
        return None
    return next(_calibrations(store), None)


def _calibrations(store: Store, machine: str | None = None) -> Iterator[str]:
    """Yield the finished calibrations, newest first, of all machines or with a stratum of one."""
    selection = StudySelection(kinds=(Kind.CALIBRATE,), machine=machine)
    for head in reversed(store.studies(selection)):
        if head.status is Status.DONE:
            yield head.id


def _is_same(workload: Workload, other: Workload) -> bool:
    """Return whether two workloads have the same command and the same build."""
    return (workload.argv, workload.build) == (other.argv, other.build)


def _floor(store: Store, record: StudyRecord, machine: str) -> MachineFloor | None:
    """Return the noise floor of a calibration if it is of this machine."""
    newest = record.strata[-1]
    conclusion = store.conclusions(record.id).get(newest.number)
    found = conclusion.noise_floor if conclusion else None
    if conclusion is None or found is None or newest.machine != machine:
        return None
    if found.verdict_withheld or mostly_disturbed(conclusion):
        return None
    return MachineFloor(
        study=record.id,
        started_at=record.created_at,
        command=command_words(record.spec.workload.argv),
        metric=found.metric,
        ci=found.ci,
    )


def with_launch_spread(spec: StudySpec, store: Store, machine: str) -> StudySpec:
    """Return a specification with the calibrated spread between launches of its program.

    It matters where assay chooses the length of launches. Only calibrations with the same program
    are comparable: the built-in load runs for 50 ms in one thread.

    Args:
        spec: specification of a study that has not begun.
        store: store of the calibrations.
        machine: fingerprint of the machine, as in strata.
    """
    until = spec.until
    if until is None or until.steady_steps is not None or spec.workload.steady_metric is None:
        return spec
    return msgspec.structs.replace(spec, launch_spread=_spread(store, machine, spec.workload))


def _spread(store: Store, machine: str, workload: Workload) -> StoredSpread | None:
    """Return the spread between launches by the newest calibration with the same program."""
    for study_id in _calibrations(store, machine):
        record = store.study(study_id)
        if not _is_same(record.spec.workload, workload) or _floor(store, record, machine) is None:
            continue
        found = store.conclusions(record.id)[record.strata[-1].number].calibration
        if found is not None and found.ratio_sd_log > 0.0:
            return StoredSpread(
                sd=found.ratio_sd_log / math.sqrt(2.0),  # a ratio has the noise of two launches
                study=record.id,
                started_at=record.created_at,
            )
    return None
