"""Affordable: the observations that launches that count can do with on this machine."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from assay.records import StudySpec
from assay.records.observation import DEFAULT_OBSERVATIONS
from assay.records.overhead import Overhead


def with_affordable(spec: StudySpec, overheads: Iterable[Overhead]) -> StudySpec:
    """Return a study without the usual observations that cost too much here.

    Surveys still have them, for their time is never used, and so has a metric that needs one.

    Args:
        spec: with the observations that were asked for, if any: nothing is taken from those.
        overheads: of this machine. What was measured with a command of the user tells of that
            command alone, and what was measured with the built-in loads of any.
    """
    if spec.observe is not None:
        return spec
    costly = {
        cost.observation
        for overhead in overheads
        if overhead.command in (None, spec.command_line)
        for cost in overhead.costs
        if cost.excess is not None
    }
    left_out = tuple(one for one in DEFAULT_OBSERVATIONS if one in costly)
    return msgspec.structs.replace(spec, unobserved=left_out) if left_out else spec
