"""Numbering: what a program is told of its number, where a study varies the instances."""

from __future__ import annotations

import msgspec

from assay.launch.command import INSTANCE
from assay.launch.document import INSTANCE_COUNT, INSTANCE_NUMBER
from assay.records import StudySpec
from assay.search.space.comparability import check_comparable, varies_instances


def with_instance_numbers(spec: StudySpec) -> StudySpec:
    """The same; a single launch of a program is its instance 0 of 1, where others are several.

    Raises:
        InvalidInputError: the number of instances varies, and the objective does not allow for it.
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
