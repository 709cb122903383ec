"""Noise floor of a machine, for comparison with the claims of a study.

It is not part of the verdict document of a study, which depends on its own samples alone.
"""

from __future__ import annotations

import datetime
import math
import shlex
from collections.abc import Iterator, Sequence

from assay.records import Claim, Conclusion, Verdict
from assay.records.calibration import BUILT_IN_LOAD, MachineFloor
from assay.units import show_percent


def command_words(argv: Sequence[str]) -> str:
    """Return the command of a calibration in a few words."""
    return "the built-in load" if tuple(argv[1:]) == BUILT_IN_LOAD else shlex.join(argv)


def day(at_s: float) -> str:
    """Return the day (UTC) of a time in seconds since 1970: ``2026-11-21``."""
    return datetime.datetime.fromtimestamp(at_s, datetime.UTC).date().isoformat()


def applicable_floor(floor: MachineFloor | None, conclusion: Conclusion) -> MachineFloor | None:
    """Return a floor that is comparable with the claims of a study; ``None`` for any other.

    It is of the same metric, and the study has no floor of its own.
    """
    if floor is None or conclusion.noise_floor is not None:
        return None
    return floor if any(_is_of_same_metric(floor, claim) for claim in conclusion.claims) else None


def floor_words(floor: MachineFloor) -> str:
    """Return the interval of a floor: ``-0.3 to +0.2 %``."""
    ends = ["open" if end is None else show_percent(end) for end in floor.ci]
    return f"{' to '.join(ends)} %"


def origin_words(floor: MachineFloor) -> str:
    """Return the origin of a floor: ``calibrated 2026-11-21 with the built-in load``."""
    return f"calibrated {day(floor.started_at)} with {floor.command}"


def floor_notes(floor: MachineFloor | None, conclusion: Conclusion) -> Iterator[str]:
    """Yield notes on claims within the difference of identical arms."""
    near = applicable_floor(floor, conclusion)
    if near is None:
        return
    for claim in conclusion.claims:
        if (
            _is_of_same_metric(near, claim)
            and _is_difference(claim)
            and is_within(near, claim.ratio)
        ):
            yield (
                f"the difference of {claim.b} ({show_percent(claim.ratio)} %) is within the noise "
                f"floor of this machine ({floor_words(near)}, {origin_words(near)}): two identical "
                "arms may differ by as much"
            )


def floor_of_other_machine(study: str) -> str:
    """Return a note on a calibration that is of another machine.

    Args:
        study: id of the calibration.
    """
    return (
        f"calibration {study} is of another machine and gives no noise floor here; "
        "`assay study calibrate` measures one"
    )


def is_within(floor: MachineFloor, ratio: float) -> bool:
    """Return whether a ratio lies within the noise floor."""
    reach = max(abs(math.log(end)) if end else math.inf for end in floor.ci)
    return abs(math.log(ratio)) <= reach


def _is_of_same_metric(floor: MachineFloor, claim: Claim) -> bool:
    return claim.metric == floor.metric and claim.method != "spread"


def _is_difference(claim: Claim) -> bool:
    return claim.verdict in (Verdict.FASTER, Verdict.SLOWER)
