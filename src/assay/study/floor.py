"""The newest calibration of a machine."""

from __future__ import annotations

from assay.records import Kind, Status
from assay.records.calibration import MachineFloor
from assay.search.floor import command_words
from assay.store import Store


def machine_floor(store: Store, machine: str) -> MachineFloor | None:
    """The noise floor that the newest calibration of a machine in a store found.

    One whose verdict is withheld, because others used the machine too often, is passed over.

    Args:
        store: where it may be.
        machine: its fingerprint, as strata have it.

    Returns:
        ``None`` where there is none.
    """
    for head in reversed(store.studies()):
        if head.kind is not Kind.CALIBRATE or head.status is not Status.DONE:
            continue
        record = store.study(head.id)
        newest = record.strata[-1]
        conclusion = store.verdicts(record.id).get(newest.number)
        found = conclusion.noise_floor if conclusion else None
        if newest.machine != machine or found is None or found.withheld:
            continue
        return MachineFloor(
            study=record.id,
            at_s=record.created_at,
            command=command_words(record.spec.workload.argv),
            metric=found.metric,
            ci=found.ci,
        )
    return None
