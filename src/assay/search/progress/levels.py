"""Configurations at the fidelities of a search: their values and the agreement of their order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from assay.records import Goal, Outcome, Stage
from assay.search.history.history import History
from assay.stats.progress.fidelity import Estimate, FidelityAgreement, fidelity_agreement
from assay.stats.progress.level_estimates import LevelValue, level_estimates

MIN_HALVES = 4
"""Smallest number of configurations with two launches for the tau of two halves; they must also be
half of all that are compared."""


def level_values(history: History) -> list[LevelValue]:
    """Return the values of the search launches of one fidelity, in their order.

    Configurations that do other work than the default have none.

    Args:
        history: history of the fidelity.
    """
    sign = 1.0 if history.goal is Goal.LOWER else -1.0
    found = []
    for arm in history.arms(Stage.SEARCH):
        if history.other_work.covers(arm.configuration):
            continue
        for sample in history.samples_of(Stage.SEARCH, arm.name):
            seen = history.observation(sample)
            if seen is not None and sample.outcome is not Outcome.TIMED_OUT:
                value = sign * math.log(seen.value)
                found.append(LevelValue(arm.name, sample.launch.block, value))
    return found


def estimates_of(history: History) -> dict[str, Estimate]:
    """Return the estimates of the configurations at one fidelity; lower is better.

    Args:
        history: history of the fidelity.
    """
    return level_estimates(level_values(history))


def agreement_of(low: History, full: History) -> FidelityAgreement | None:
    """Return how well a low fidelity predicted the order; ``None`` if no order is known.

    Args:
        low: history of the low fidelity.
        full: history of the full fidelity.
    """
    values, whole = level_values(low), level_values(full)
    first, second = level_estimates(values), level_estimates(whole)
    names = [name for name in first if name in second]
    if len(names) < 2:
        return None
    return fidelity_agreement(
        [first[name].mean for name in names],
        [second[name].mean for name in names],
        goal=Goal.LOWER,
        halves=_halves((values, whole), names),
        low_only=[one.mean for name, one in first.items() if name not in second],
    )


def _halves(
    levels: Iterable[Sequence[LevelValue]], names: Sequence[str]
) -> tuple[list[float], list[float]] | None:
    """Return two halves of the launches of the level with most repeated configurations."""
    found = max((_split(values, names) for values in levels), key=lambda halves: len(halves[0]))
    fewest = max(MIN_HALVES, len(names) / 2)
    return found if len(found[0]) >= fewest else None


def _split(values: Sequence[LevelValue], names: Sequence[str]) -> tuple[list[float], list[float]]:
    seen: dict[str, int] = {}
    halves: tuple[list[LevelValue], list[LevelValue]] = ([], [])
    for one in values:
        if one.name in names:
            halves[seen.get(one.name, 0) % 2].append(one)
            seen[one.name] = seen.get(one.name, 0) + 1
    first, second = (level_estimates(half) for half in halves)
    both = [name for name in first if name in second]
    return [first[name].mean for name in both], [second[name].mean for name in both]
