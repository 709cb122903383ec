"""Schedule of fits: the launches that hyperparameters are fitted to, and those of the posterior.

A fit costs about fifty times as much as the posterior for given hyperparameters. So hyperparameters
are fitted again only after a tenth more launches, and to a limited number of them. In between a few
iterations adapt them to the newest launches, which may contradict the model. All follow from the
launches alone, so that a resumed study proposes the same configurations as an uninterrupted one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from assay.records import DEFAULT, Configuration, EarlierStudy
from assay.search.model.hyperparameters import Hyperparameters
from assay.search.model.searcher import Trial, successful_configurations

MIN_REUSED = 128
"""Launches from which hyperparameters are used for more than one block; before, each block changes
them."""
GROWTH = 1.1
"""Growth of the number of launches after which hyperparameters are fitted again."""
MAX_FITTED = 300
"""Maximum number of launches that hyperparameters are fitted to."""
ADAPTING_ITERATIONS = 3
"""Iterations of the optimiser that adapt reused hyperparameters to at most ``MAX_FITTED`` launches.
On 12 recorded spaces their log posterior density is then 0.02 below that of a new fit in the median
and 14 in the worst case; without them 0.2 and 114."""
MAX_CONDITIONED = 800
"""Maximum number of launches of the posterior: its cost grows with their cube."""
BEST_SHARE = 0.5
"""Share of these launches for the best configurations; the others are evenly spaced in time."""
MAX_DEFAULT_SHARE = 0.25
"""Maximum share of these launches for the default, which each block launches."""
MAX_FITS = 8
"""Maximum number of fits that are kept."""


def fitted_trials(trials: Sequence[Trial]) -> list[Trial]:
    """Return the launches that hyperparameters are fitted to; all of few.

    Args:
        trials: launches of the search, in the order of time.
    """
    if len(trials) < MIN_REUSED:
        return list(trials)
    size = MIN_REUSED
    while math.ceil(GROWTH * size) <= len(trials):
        size = math.ceil(GROWTH * size)
    found = _spread_blocks(trials[:size], MAX_FITTED)
    return found if len(successful_configurations(found)) > 1 else list(trials)


def adapting_iterations(fitted: int, launches: int) -> int:
    """Return the number of iterations that adapt hyperparameters to all launches.

    Args:
        fitted: number of launches that they are fitted to.
        launches: number of launches of the posterior.
    """
    return ADAPTING_ITERATIONS if fitted < launches <= MAX_FITTED else 0


def _spread_blocks(trials: Sequence[Trial], max_trials: int) -> list[Trial]:
    """Return the launches of evenly spaced blocks."""
    if len(trials) <= max_trials:
        return list(trials)
    blocks = list(dict.fromkeys(t.block for t in trials))
    count = max(2, len(blocks) * max_trials // len(trials))
    kept = {blocks[i * (len(blocks) - 1) // (count - 1)] for i in range(count)}
    return [t for t in trials if t.block in kept]


def conditioned_trials(trials: Sequence[Trial]) -> list[Trial]:
    """Return the launches of the posterior: all, or those of the best and of some others.

    Args:
        trials: launches of the search, in the order of time.
    """
    if len(trials) <= MAX_CONDITIONED:
        return list(trials)
    places: dict[Configuration, list[int]] = {}
    for at, trial in enumerate(trials):
        places.setdefault(trial.configuration, []).append(at)
    kept = set(places.pop(DEFAULT, [])[-int(MAX_DEFAULT_SHARE * MAX_CONDITIONED) :])
    ranked = sorted(places, key=lambda c: _mean(trials, places[c]))
    room = len(kept) + BEST_SHARE * (MAX_CONDITIONED - len(kept))
    while ranked and len(kept) + len(places[ranked[0]]) <= room:
        kept.update(places.pop(ranked.pop(0)))
    left = sum(map(len, places.values()))
    share, passed = (MAX_CONDITIONED - len(kept)) / max(1, left), 0
    for own in places.values():
        if math.floor((passed + len(own)) * share) > math.floor(passed * share):
            kept.update(own[: MAX_CONDITIONED - len(kept)])
        passed += len(own)
    return [trial for at, trial in enumerate(trials) if at in kept]


def _mean(trials: Sequence[Trial], places: Sequence[int]) -> float:
    values = [value for at in places if (value := trials[at].value) is not None]
    return math.fsum(values) / len(values) if values else math.inf


@dataclass(frozen=True)
class FitKey:
    """Everything that fitted hyperparameters depend on.

    Attributes:
        columns: name of the fitted quantity and of its columns.
        trials: launches.
        clipped_at: quantile of the values above which they are clipped.
        earlier: results of earlier studies.
    """

    columns: tuple[str, ...]
    trials: list[Trial]
    clipped_at: float = 1.0
    earlier: tuple[EarlierStudy, ...] = ()


@dataclass
class Fits:
    """Newest fits: a cache, since a fit depends on its key alone.

    Attributes:
        count: number of fits that were computed.
    """

    count: int = 0
    _known: list[tuple[FitKey, Hyperparameters]] = field(default_factory=list)

    def get(self, key: FitKey, fit: Callable[[], Hyperparameters]) -> Hyperparameters:
        """Return the hyperparameters of a key; ``fit`` computes them if they are unknown."""
        for at, (known, found) in enumerate(self._known):
            if known == key:
                self._known.append(self._known.pop(at))
                return found
        found = fit()
        self.count += 1
        self._known = [*self._known[1 - MAX_FITS :], (key, found)]
        return found
