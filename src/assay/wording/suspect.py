"""Notes on launches whose accounts contradict each other."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Sample
from assay.units import show_count


def suspect_notes(found: Sequence[Sample], launches: int) -> list[str]:
    """Return a note on the suspect launches of a study, where there are any.

    They stay in the figures: dropping launches by their values would bias a mean.

    Args:
        found: suspect samples of one stratum.
        launches: number of all its launches.
    """
    if not found:
        return []
    worst = found[-1].contradictions[0]
    stopped = all("was stopped" in reason for sample in found for reason in sample.contradictions)
    why = "the program was stopped" if stopped else "accounts of one launch contradict each other"
    count = show_count(launches, "launch", "launches")
    are = "is" if len(found) == 1 else "are"
    return [
        f"{len(found)} of {count} {are} suspect, since {why}, and still counted; the last: {worst}"
    ]
