"""GrantTally: how often a setting took effect, and how well that is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from assay.records import Configuration, GrantStatus, Level, Sample
from assay.records.configuration import show_value
from assay.records.launch import NON_COMPARING_STAGES
from assay.untrusted import clean


@dataclass(frozen=True, slots=True)
class GrantTally:
    """One setting over many samples.

    Attributes:
        name: of the setting.
        values: those that were asked for, as they are written on the command line.
        level: the lowest level of evidence among the samples.
        counts: launches for each judgement.
        reasons: what was said where it was not plainly granted, the most frequent first.
        observed: what was read back, the most frequent first.
    """

    name: str
    values: tuple[str, ...]
    level: Level
    counts: dict[GrantStatus, int] = field(default_factory=dict)
    reasons: tuple[tuple[str, int], ...] = ()
    observed: tuple[tuple[str, int], ...] = ()

    @property
    def total(self) -> int:
        """Launches that asked for this setting."""
        return sum(self.counts.values())


_ORDER = (Level.SET, Level.SEEN, Level.EFFECTIVE)


def tally(samples: Iterable[Sample], only: Configuration | None = None) -> tuple[GrantTally, ...]:
    """One tally for each setting, by name; with ``only``, of samples of that configuration."""
    shown = [
        s
        for s in samples
        if s.launch.stage not in NON_COMPARING_STAGES
        and (only is None or s.launch.configuration == only)
    ]
    names = sorted({name for s in shown for name in s.settings})
    return tuple(_tally(name, shown) for name in names)


def _tally(name: str, samples: Iterable[Sample]) -> GrantTally:
    grants = [s.settings[name] for s in samples if name in s.settings]
    reasons = Counter(clean(g.reason) for g in grants if g.reason)
    observed = Counter(clean(g.observed) for g in grants if g.observed)
    return GrantTally(
        name=name,
        values=tuple(dict.fromkeys(clean(show_value(g.value)) for g in grants)),
        level=min((g.level for g in grants), key=_ORDER.index),
        counts=dict(Counter(g.grant for g in grants)),
        reasons=tuple(reasons.most_common()),
        observed=tuple(observed.most_common()),
    )
