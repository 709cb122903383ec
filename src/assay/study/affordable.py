"""Affordable: the observations that launches that count can do with on this machine."""

from __future__ import annotations

import msgspec

from assay.measure.loads import LOADS
from assay.records import StudySpec
from assay.records.observation import USUAL
from assay.records.overhead import Overhead


def with_affordable(spec: StudySpec, overhead: Overhead | None) -> StudySpec:
    """Return a study without the usual observations that cost too much here.

    Surveys still have them, for their time is never used, and so has a metric that needs one.

    Args:
        spec: with the observations that were asked for, if any: nothing is taken from those.
        overhead: of this machine. What was measured with a command of the user tells of that
            command alone, and what was measured with the built-in loads of any.
    """
    if spec.observe is not None or overhead is None:
        return spec
    tells = {*LOADS, spec.command_line}
    dear = {cost.observation for cost in overhead.costs if cost.program in tells and cost.is_dear}
    if dear.isdisjoint(USUAL):
        return spec
    return msgspec.structs.replace(spec, observe=tuple(one for one in USUAL if one not in dear))
