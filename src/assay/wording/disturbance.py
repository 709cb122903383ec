"""Disturbance: sentences on a load beside the launches, its cause and the next step."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Claim, Conclusion, DisturbanceSource, Kind, StudySpec, Verdict
from assay.units import show_count

REMEDY = (
    "Wait until they end, reserve CPUs for the launches with --reserve, or accept this load with "
    "--disturbed-above"
)
"""Next step after a disturbance."""
MAX_NAMED = 2
"""Disturbing processes that a sentence names."""


def disturbers_words(disturbers: Sequence[DisturbanceSource]) -> str:
    """Return the processes with the most CPU time: `` (most: burn, process 812, 0.60 CPUs)``."""
    named = [f"{disturber.name}, {disturber.cpus:.2f} CPUs" for disturber in disturbers[:MAX_NAMED]]
    return f" (most: {'; '.join(named)})" if named else ""


def disturbance_sentence(conclusion: Conclusion, spec: StudySpec) -> str:
    """Return the reason why a disturbed study is undecided; empty for any other study."""
    if spec.disturbed_above is None or not conclusion.disturbed_blocks:
        return ""
    open_ones = [c for c in conclusion.every_claim if c.verdict is Verdict.UNCLEAR]
    if any(claim.verdict_withheld and claim.data_problem is None for claim in open_ones):
        return ""  # the claim contains the reason
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
    return any(arm.disturbed_launches for arm in conclusion.arms)


def withheld_words(found: Claim, disturbers: Sequence[DisturbanceSource] = ()) -> str:
    """Return the reason why a claim has no verdict, and the next step; empty if it has one."""
    if found.data_problem is not None:
        return f"{found.data_problem}."
    load = found.correlated_load
    if load is None:  # earlier versions withheld verdicts for the number of disturbed blocks
        return (
            "Other processes disturbed too many blocks for a verdict."
            if found.verdict_withheld
            else ""
        )
    return (
        f"Other processes{disturbers_words(disturbers)} used {_percent(load.b)} of the CPUs while "
        f"{found.b} ran and {_percent(load.a)} while {found.a} ran, more than chance explains: "
        f"no verdict is given. {REMEDY} never."
    )


def _percent(share: float) -> str:
    return f"{100 * max(0.0, share):.0f} %"
