"""Explanation: which settings matter, by a model of all launches of the search.

It says why, and proves nothing: the claim is on the recommended configuration as a whole, from
launches of its own. A value that was never in force, as one that every launch refused, has no
effect to tell. What is said here are posterior means with central intervals of ``LEVEL``.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.records import Conclusion, Configuration, Goal, Kind, Range, Sample, StudySpec, Value
from assay.search.history.history import History
from assay.search.model.exclusions import admitted_space, is_excluded
from assay.search.model.gp import GpSearcher
from assay.search.model.searcher import Contrast, Estimate, Trial, launched_configurations
from assay.search.model.trials import trials_of
from assay.search.space.named_configurations import make_search_space
from assay.search.space.search_space import SearchSpace

LEVEL = 0.95
Z = 1.96
"""Standard deviations to either end of a normal interval of that level."""
REFERENCE_CONFIGURATIONS = 32
"""Random configurations over which a trend is averaged."""
MAX_SHOWN = 3
"""Of interactions and of trends."""
MIN_TRIALS = 8
"""Of fewer launches nothing is said."""


@dataclass(frozen=True)
class SettingEffect:
    """What something does to the objective, by the model.

    Attributes:
        settings: the values it is of; two for an interaction.
        ratio: with them over without them; of an interaction, what both do together over the
            product of what each does by itself.
        ci: interval of the ratio.
    """

    settings: tuple[tuple[str, Value], ...]
    ratio: float
    ci: tuple[float, float]

    @property
    def name(self) -> str:
        """The settings as they are written."""
        return str(Configuration(dict(self.settings)))

    @property
    def clear(self) -> bool:
        """Whether the interval says in which direction."""
        return self.ci[0] > 1.0 or self.ci[1] < 1.0


@dataclass(frozen=True)
class Explanation:
    """Why a configuration is better.

    Attributes:
        parts: what each setting of the recommended configuration does in it, the most first.
        interactions: of two of them, where the interval excludes none, the strongest first.
        trends: of settings that are not in it, on average over the space: the best value of each
            whose interval says that it does something, the strongest first.
        launches: that the model rests on.
        tried: configurations that were launched, the default among them.
        combinations: of values that there are before conditions and constraints; may be infinite.
        left: ratio of the best that the space may hold to the best that was launched, at
            ``LEVEL``; 1 where it can be no better, ``None`` where nothing can be said.
    """

    parts: tuple[SettingEffect, ...]
    interactions: tuple[SettingEffect, ...]
    trends: tuple[SettingEffect, ...]
    launches: int
    tried: int = 1
    combinations: float = 1.0
    left: float | None = None


def explain_settings(
    spec: StudySpec, samples: Sequence[Sample], settings: Configuration
) -> Explanation | None:
    """What the launches of a search say about its settings.

    Args:
        spec: of the study.
        samples: of one stratum.
        settings: the recommended configuration; may be the default.

    Returns:
        ``None`` for studies that search nothing or have several objectives, and of too few
        launches.
    """
    if spec.kind is not Kind.TUNE or spec.space is None or spec.objectives:
        return None
    history = History.of(spec, samples)
    # They ran with other values, or did other work: neither shows the effect of a setting.
    every = trials_of(history)
    trials = [t for t in every if not is_excluded(history, t.configuration)]
    if sum(t.value is not None for t in trials) < MIN_TRIALS:
        return None
    space = admitted_space(history, make_search_space(spec.space))
    return _Explaining(spec, space, trials, len(launched_configurations(every))).of(settings)


def explanation_of(
    spec: StudySpec, samples: Sequence[Sample], conclusion: Conclusion | None
) -> Explanation | None:
    """The same of what a conclusion recommends; ``None`` where it recommends nothing."""
    chosen = conclusion.recommendation if conclusion else None
    return explain_settings(spec, samples, Configuration(chosen.settings)) if chosen else None


class _Explaining:
    def __init__(
        self, spec: StudySpec, space: SearchSpace, trials: Sequence[Trial], tried: int
    ) -> None:
        self._space = space
        self._tried = tried
        self._trials = trials
        self._searcher = GpSearcher()
        self._sign = 1.0 if spec.workload.objective.goal is Goal.LOWER else -1.0
        self._seed = spec.seed
        measured = [t.configuration for t in trials if t.value is not None]
        self._in_force = {
            name: {c[name] for c in measured if name in c} for name in space.parameters
        }
        rng = random.Random(spec.seed)
        drawn = (space.draw(rng) for _ in range(REFERENCE_CONFIGURATIONS))
        self._references = [c for c in drawn if c is not None]

    def of(self, settings: Configuration) -> Explanation:
        had = [(name, value) for name, value in settings.items() if self._had(name, value)]
        parts = self._shares((((name, value),), self._part(settings, name)) for name, value in had)
        pairs = itertools.combinations(had, 2)
        interactions = self._shares(
            (pair, self._interaction(settings, pair[0][0], pair[1][0])) for pair in pairs
        )
        trends = [
            t for name in self._space.parameters if name not in settings for t in self._trend(name)
        ]
        return Explanation(
            parts=tuple(_strongest(parts)),
            interactions=tuple(_strongest([s for s in interactions if s.clear])[:MAX_SHOWN]),
            trends=tuple(_strongest([s for s in trends if s.clear])[:MAX_SHOWN]),
            launches=len(self._trials),
            tried=self._tried,
            combinations=self._space.raw_size(),
            left=self._left(),
        )

    def _left(self) -> float | None:
        found = self._searcher.remaining_gain(self._space, self._trials, LEVEL, self._seed)
        return math.exp(-self._sign * max(0.0, found)) if math.isfinite(found) else None

    def _shares(
        self, asked: Iterator[tuple[tuple[tuple[str, Value], ...], Contrast]]
    ) -> list[SettingEffect]:
        told = list(asked)
        found = self._searcher.contrasts(self._space, self._trials, [c for _, c in told])
        return [
            self._share(settings, estimate)
            for (settings, _), estimate in zip(told, found, strict=True)
            if math.isfinite(estimate.deviation)
        ]

    def _share(self, settings: tuple[tuple[str, Value], ...], found: Estimate) -> SettingEffect:
        ends = sorted(
            math.exp(self._sign * (found.mean + side * Z * found.deviation)) for side in (-1.0, 1.0)
        )
        return SettingEffect(settings, math.exp(self._sign * found.mean), (ends[0], ends[1]))

    def _part(self, settings: Configuration, name: str) -> Contrast:
        return _sum((settings, 1.0), (self._without(settings, name), -1.0))

    def _interaction(self, settings: Configuration, first: str, second: str) -> Contrast:
        return _sum(
            (settings, 1.0),
            (self._without(settings, first), -1.0),
            (self._without(settings, second), -1.0),
            (self._without(settings, first, second), 1.0),
        )

    def _without(self, settings: Configuration, *names: str) -> Configuration:
        return self._space.canonical(settings.without(*names))

    def _trend(self, name: str) -> list[SettingEffect]:
        """The best value of a setting, averaged over what else may be set."""
        values = [v for v in self._values(name) if v is not None and self._had(name, v)]
        shares = self._shares((((name, v),), self._average(name, v)) for v in values)
        return sorted(shares, key=lambda s: self._sign * math.log(s.ratio))[:1]

    def _values(self, name: str) -> Sequence[Value | None]:
        domain = self._space.parameters[name].domain
        options = self._space.options(name)
        if options is None and isinstance(domain, Range):
            known = sorted(v for v in self._in_force[name] if isinstance(v, (int, float)))
            return (
                list(dict.fromkeys(known[at] for at in (0, len(known) // 2, -1))) if known else ()
            )
        return options or ()

    def _had(self, name: str, value: Value) -> bool:
        """Return whether a launch with a value ran with this one of a setting."""
        return value in self._in_force.get(name, ())

    def _average(self, name: str, value: Value) -> Contrast:
        weight = 1.0 / max(1, len(self._references))
        pairs = [
            (self._space.canonical(c.having(name, value)), self._without(c, name))
            for c in self._references
        ]
        return _sum(*((a, weight) for a, _ in pairs), *((b, -weight) for _, b in pairs))


def _sum(*parts: tuple[Configuration, float]) -> Contrast:
    """Weights of equal configurations are added; what cancels is left out."""
    found: dict[Configuration, float] = {}
    for configuration, weight in parts:
        found[configuration] = found.get(configuration, 0.0) + weight
    return {c: w for c, w in found.items() if abs(w) > 1e-12}


def _strongest(shares: Sequence[SettingEffect]) -> list[SettingEffect]:
    return sorted(shares, key=lambda s: -abs(math.log(s.ratio)))
