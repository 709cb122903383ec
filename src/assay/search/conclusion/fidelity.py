"""Conclusion on the fidelities of a search: their launches, and the agreement of their order."""

from __future__ import annotations

from assay.records import FidelityLevel, FidelityResult, Stage, StudySpec, Value
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.progress.levels import agreement_of
from assay.search.races.promoted import MISLEADING_TAU
from assay.stats.progress.fidelity import TOP
from assay.wording import fidelity as wording


def fidelity_result(spec: StudySpec, history: History) -> FidelityResult | None:
    """Return how well low fidelity predicted the order; ``None`` for a study without fidelities.

    Args:
        spec: specification of the study.
        history: samples of the study.
    """
    fidelity = spec.fidelity
    if fidelity is None:
        return None
    levels = [
        _level(value, history.at(value)) for value in fidelity.low if history.at(value).samples
    ]
    if levels and history.samples:
        levels.append(_level(fidelity.full, history))
    result = FidelityResult(name=fidelity.name, levels=tuple(levels))
    lows = (history.at(value) for value in fidelity.low)
    lowest = next((low for low in lows if low.known(Stage.SEARCH, DEFAULT_ARM.name)), None)
    found = None if lowest is None else agreement_of(lowest, history)
    if found is None:
        return result
    return FidelityResult(
        name=fidelity.name,
        levels=tuple(levels),
        configurations=found.configurations,
        tau=found.tau,
        ci=None if found.lo is None or found.hi is None else (found.lo, found.hi),
        ceiling=found.ceiling,
        top=min(TOP, found.configurations),
        top_found=found.top_found,
    )


def _level(value: Value, history: History) -> FidelityLevel:
    samples = history.samples
    return FidelityLevel(
        value=value,
        launches=len(samples),
        configurations=len({sample.launch.configuration for sample in samples}),
        time_s=sum(sample.total_wall_s for sample in samples),
    )


def fidelity_notes(spec: StudySpec, result: FidelityResult | None) -> list[str]:
    """Return a note on the agreement of low and full fidelity, or on its absence.

    Args:
        spec: specification of the study.
        result: result of ``fidelity_result``.
    """
    if spec.fidelity is None or result is None or not result.levels:
        return []
    low = result.levels[:-1]
    if all(level.configurations < 2 for level in low):
        return [wording.not_used(spec.fidelity.name, low)]
    if result.tau is None:
        return [wording.not_compared(spec.fidelity.name)]
    misled = result.ci is not None and result.ci[1] < MISLEADING_TAU
    return [wording.agreement(result, spec.fidelity.full, misled=misled)]
