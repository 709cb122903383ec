"""Affordable observations: default observations with an acceptable cost on this machine."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from assay.records import StudySpec
from assay.records.observation import DEFAULT_OBSERVATIONS
from assay.records.overhead import Overhead


def with_affordable(spec: StudySpec, overheads: Iterable[Overhead]) -> StudySpec:
    """Return a study without the default observations whose cost is too high on this machine.

    Surveys still take them, because their time is never used, and so do metrics that need one.

    Args:
        spec: specification; explicitly requested observations are kept.
        overheads: calibrations of this machine. One with a command of the user applies to that
            command only; one with the built-in loads applies to every command.
    """
    if spec.requested_observations is not None:
        return spec
    costly = {
        cost.observation
        for overhead in overheads
        if overhead.command in (None, spec.command_line)
        for cost in overhead.costs
        if cost.excess is not None
    }
    left_out = tuple(observation for observation in DEFAULT_OBSERVATIONS if observation in costly)
    return msgspec.structs.replace(spec, disabled_observations=left_out) if left_out else spec
