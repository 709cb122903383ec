"""Explanation: effects of the settings, from a model of all launches of the search.

An explanation does not prove a gain: the claim is on the recommended configuration as a whole, from
separate launches. A value that was never applied, for example because every launch refused it, has
no estimated effect. Effects are posterior means with central intervals of ``LEVEL``.
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
"""Half width of a normal interval of that level, in standard deviations."""
REFERENCE_CONFIGURATIONS = 32
"""Random configurations over which a trend is averaged."""
MAX_SHOWN = 3
"""Maximum number of interactions, and of trends."""
MIN_TRIALS = 8
"""Minimum number of launches for an explanation."""


@dataclass(frozen=True)
class SettingEffect:
    """Effect of one or two settings on the objective, by the model.

    Attributes:
        settings: names and values of the settings; two for an interaction.
        ratio: objective with them over without them; for an interaction, the joint effect over the
            product of the single effects.
        ci: interval of ``ratio``.
    """

    settings: tuple[tuple[str, Value], ...]
    ratio: float
    ci: tuple[float, float]

    @property
    def name(self) -> str:
        """The settings as text, ``name=value``."""
        return str(Configuration(dict(self.settings)))

    @property
    def clear(self) -> bool:
        """True if the interval determines the direction of the effect."""
        return self.ci[0] > 1.0 or self.ci[1] < 1.0


@dataclass(frozen=True)
class Explanation:
    """Estimated reasons for the gain of a configuration.

    Attributes:
        parts: effect of each setting of the recommended configuration, the largest first.
        interactions: interactions of two of them whose interval excludes 1, the strongest first.
        trends: average effects over the space of settings that are not in it: the best value of
            each setting whose interval excludes 1, the strongest first.
        launches: number of launches in the model.
        tried: number of launched configurations, including the default.
        combinations: number of combinations before conditions and constraints; may be infinite.
        untried_ratio_bound: bound of the ratio of the best configuration of the space to the best
            launched one, at ``LEVEL``; 1 without a remaining gain, ``None`` if unknown.
    """

    parts: tuple[SettingEffect, ...]
    interactions: tuple[SettingEffect, ...]
    trends: tuple[SettingEffect, ...]
    launches: int
    tried: int = 1
    combinations: float = 1.0
    untried_ratio_bound: float | None = None


def explain_settings(
    spec: StudySpec, samples: Sequence[Sample], settings: Configuration
) -> Explanation | None:
    """Estimate the effects of the settings from the launches of a search.

    Args:
        spec: specification of the study.
        samples: samples of one stratum.
        settings: the recommended configuration; may be the default.

    Returns:
        The explanation; ``None`` for studies without a search, with several objectives, or with too
        few launches.
    """
    if spec.kind is not Kind.TUNE or spec.space is None or spec.objectives:
        return None
    history = History.of(spec, samples)
    # They ran with other values, or did different work: neither shows the effect of a setting.
    every = trials_of(history)
    trials = [t for t in every if not is_excluded(history, t.configuration)]
    if sum(t.value is not None for t in trials) < MIN_TRIALS:
        return None
    space = admitted_space(history, make_search_space(spec.space))
    return _ExplanationBuilder(spec, space, trials, len(launched_configurations(every))).of(
        settings
    )


def explanation_of(
    spec: StudySpec, samples: Sequence[Sample], conclusion: Conclusion | None
) -> Explanation | None:
    """Explain the recommendation of a conclusion; return ``None`` if there is none."""
    chosen = conclusion.recommendation if conclusion else None
    return explain_settings(spec, samples, Configuration(chosen.settings)) if chosen else None


class _ExplanationBuilder:
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
        self._applied_values = {
            name: {c[name] for c in measured if name in c} for name in space.parameters
        }
        rng = random.Random(spec.seed)
        drawn = (space.draw(rng) for _ in range(REFERENCE_CONFIGURATIONS))
        self._references = [c for c in drawn if c is not None]

    def of(self, settings: Configuration) -> Explanation:
        applied = [
            (name, value) for name, value in settings.items() if self._was_applied(name, value)
        ]
        parts = self._effects(
            (((name, value),), self._part(settings, name)) for name, value in applied
        )
        pairs = itertools.combinations(applied, 2)
        interactions = self._effects(
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
            untried_ratio_bound=self._remaining_gain(),
        )

    def _remaining_gain(self) -> float | None:
        found = self._searcher.remaining_gain(self._space, self._trials, LEVEL, self._seed)
        return math.exp(-self._sign * max(0.0, found)) if math.isfinite(found) else None

    def _effects(
        self, wanted: Iterator[tuple[tuple[tuple[str, Value], ...], Contrast]]
    ) -> list[SettingEffect]:
        pairs = list(wanted)
        found = self._searcher.contrasts(self._space, self._trials, [c for _, c in pairs])
        return [
            self._effect(settings, estimate)
            for (settings, _), estimate in zip(pairs, found, strict=True)
            if math.isfinite(estimate.deviation)
        ]

    def _effect(self, settings: tuple[tuple[str, Value], ...], found: Estimate) -> SettingEffect:
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
        """Return the effect of the best value of a setting, averaged over the space."""
        values = [v for v in self._values(name) if v is not None and self._was_applied(name, v)]
        shares = self._effects((((name, v),), self._average(name, v)) for v in values)
        return sorted(shares, key=lambda s: self._sign * math.log(s.ratio))[:1]

    def _values(self, name: str) -> Sequence[Value | None]:
        domain = self._space.parameters[name].domain
        options = self._space.options(name)
        if options is None and isinstance(domain, Range):
            known = sorted(v for v in self._applied_values[name] if isinstance(v, (int, float)))
            return (
                list(dict.fromkeys(known[at] for at in (0, len(known) // 2, -1))) if known else ()
            )
        return options or ()

    def _was_applied(self, name: str, value: Value) -> bool:
        """Return whether a successful launch applied this value of a setting."""
        return value in self._applied_values.get(name, ())

    def _average(self, name: str, value: Value) -> Contrast:
        weight = 1.0 / max(1, len(self._references))
        pairs = [
            (self._space.canonical(c.having(name, value)), self._without(c, name))
            for c in self._references
        ]
        return _sum(*((a, weight) for a, _ in pairs), *((b, -weight) for _, b in pairs))


def _sum(*parts: tuple[Configuration, float]) -> Contrast:
    """Sum contrasts: add the weights of equal configurations and drop zero weights."""
    found: dict[Configuration, float] = {}
    for configuration, weight in parts:
        found[configuration] = found.get(configuration, 0.0) + weight
    return {c: w for c, w in found.items() if abs(w) > 1e-12}


def _strongest(shares: Sequence[SettingEffect]) -> list[SettingEffect]:
    return sorted(shares, key=lambda s: -abs(math.log(s.ratio)))
