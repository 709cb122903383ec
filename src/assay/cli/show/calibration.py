"""Results of a calibration as lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from assay.records import Conclusion, StudySpec
from assay.wording.calibration import (
    budget_words,
    disturbed_words,
    gain_words,
    gains_intro,
    launch_words,
    margin_words,
)


def calibration_lines(conclusion: Conclusion, spec: StudySpec) -> Iterable[str]:
    """Yield the lines below the table of the arms."""
    found, unit = conclusion.calibration, spec.workload.objective.unit
    if found is None:
        return
    yield f"  one launch  {launch_words(found, unit)}"
    yield f"  disturbed   {disturbed_words(conclusion)}"
    if not found.gains:
        return
    yield ""
    yield f"  {gains_intro(found, unit)}:"
    for gain in found.gains:
        yield f"    in {budget_words(gain):>6}  {gain_words(gain)}"
    limit = margin_words(found, spec.margin)
    if limit is not None:
        yield f"    ({limit})"
