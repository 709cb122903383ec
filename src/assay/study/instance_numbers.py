"""Instance numbers of programs, for studies that vary the number of instances."""

from __future__ import annotations

import msgspec

from assay.launch.command import INSTANCE
from assay.launch.document import INSTANCE_COUNT, INSTANCE_NUMBER
from assay.records import StudySpec
from assay.search.space.comparability import check_comparable, varies_instances


def with_instance_numbers(spec: StudySpec) -> StudySpec:
    """Return the specification with number 0 of 1 for single launches, if instances vary.

    Raises:
        InvalidInputError: the number of instances varies, and the objective is not comparable.
    """
    check_comparable(spec)
    of_arms = [name for arm in spec.arms for name in arm.configuration]
    if not varies_instances((*of_arms, *(p.name for p in spec.space.parameters))):
        return spec
    workload = spec.workload
    return msgspec.structs.replace(
        spec,
        workload=msgspec.structs.replace(
            workload,
            placeholders={INSTANCE: "0", **workload.placeholders},
            environment={INSTANCE_NUMBER: "0", INSTANCE_COUNT: "1", **workload.environment},
        ),
    )
