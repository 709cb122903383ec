"""Settings of boot and firmware of a new study."""

from __future__ import annotations

import msgspec

from assay.api.observer import Observer
from assay.records import StudySpec
from assay.requests.study import BootRequest
from assay.search.conclusion.boots import boot_announcement
from assay.study.firmware import demand_unreadable, demand_varied, with_firmware_values
from assay.study.laboratory import Laboratory
from assay.study.preparation import prepared_spec


def prepare_boot_settings(
    boot: BootRequest, lab: Laboratory, spec: StudySpec, observer: Observer
) -> tuple[Laboratory, StudySpec]:
    """Return the laboratory and the study with the requested firmware values.

    Announces the number of boots that the study needs.

    Raises:
        InvalidInputError, NotPossibleError: as ``with_firmware_values``, ``prepared_spec`` and
            ``demand_varied``.
    """
    for name in boot.verify:
        demand_unreadable(name, lab.registry)
    spec = msgspec.structs.replace(spec, verify=boot.verify)
    lab = with_firmware_values(lab, spec, boot.confirmed)
    spec = prepared_spec(spec, lab)
    demand_varied((*boot.confirmed, *boot.verify), spec)
    words = boot_announcement(spec)
    if words:
        observer.boots_announced(words)
    return lab, spec
