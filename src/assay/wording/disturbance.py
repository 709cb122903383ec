"""DisturbedWords: sentences on a load beside the launches, its cause and the next step."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Claim, Conclusion, DisturbanceSource, Kind, StudySpec, Verdict
from assay.units import show_count

REMEDY = (
    "Wait until they end, keep CPUs for the launches with --reserve, or admit them with "
    "--disturbed-above"
)
"""The next step where others disturb."""
MAX_NAMED = 2
"""Disturbers that a sentence names."""


def disturbers_words(disturbers: Sequence[DisturbanceSource]) -> str:
    """Name those who used the CPUs most: `` (most: burn, process 812, 0.60 CPUs)``, or nothing."""
    named = [f"{one.name}, {one.cpus:.2f} CPUs" for one in disturbers[:MAX_NAMED]]
    return f" (most: {'; '.join(named)})" if named else ""


def disturbance_sentence(conclusion: Conclusion, spec: StudySpec) -> str:
    """Say why a study is not decided where others disturbed it; empty where they did not."""
    if spec.disturbed_above is None or not conclusion.disturbed_blocks:
        return ""
    open_ones = [c for c in conclusion.every_claim if c.verdict is Verdict.UNCLEAR]
    if any(claim.withheld and claim.objection is None for claim in open_ones):
        return ""  # told with the claim
    open_ones = [claim for claim in open_ones if not claim.is_doubted]
    of_machine = spec.kind in (Kind.MEASURE, Kind.CALIBRATE)
    if not open_ones and not (of_machine and mostly_disturbed(conclusion)):
        return ""
    effect = "that widens the intervals"
    if of_machine:
        effect = "these are the figures of a disturbed machine"
    return (
        f"Other processes disturbed {conclusion.disturbed_blocks:,} of "
        f"{show_count(conclusion.blocks, 'block')}{disturbers_words(conclusion.disturbers)}: "
        f"{effect}. {REMEDY}."
    )


def mostly_disturbed(conclusion: Conclusion) -> bool:
    """Return whether summaries include launches of disturbed blocks."""
    return any(arm.disturbed for arm in conclusion.arms)


def withheld_words(found: Claim, disturbers: Sequence[DisturbanceSource] = ()) -> str:
    """Say why a claim has no verdict, and the next step; empty where it was not withheld."""
    if found.objection is not None:
        return f"{found.objection}."
    load = found.followed
    if load is None:  # earlier versions withheld verdicts for the number of disturbed blocks
        return "Others disturbed too many blocks for a verdict." if found.withheld else ""
    return (
        f"Other processes{disturbers_words(disturbers)} used {_percent(load.b)} of the CPUs while "
        f"{found.b} ran and {_percent(load.a)} while {found.a} ran, which is more than chance: "
        f"no verdict is given. {REMEDY} never."
    )


def _percent(share: float) -> str:
    return f"{100 * max(0.0, share):.0f} %"
