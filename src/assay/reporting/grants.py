"""GrantTally: verification of a setting over all samples."""

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
    """Verification of one setting over many samples.

    Attributes:
        name: name of the setting.
        values: requested values, in the form of the command line.
        level: lowest level of evidence among the samples.
        counts: number of launches by result.
        reasons: reasons of limitations, most frequent first.
        observed: values read back, most frequent first.
    """

    name: str
    values: tuple[str, ...]
    level: Level
    counts: dict[GrantStatus, int] = field(default_factory=dict)
    reasons: tuple[tuple[str, int], ...] = ()
    observed: tuple[tuple[str, int], ...] = ()

    @property
    def total(self) -> int:
        """Return the number of launches with this setting."""
        return sum(self.counts.values())


_ORDER = (Level.SET, Level.SEEN, Level.EFFECTIVE)


def tally(samples: Iterable[Sample], only: Configuration | None = None) -> tuple[GrantTally, ...]:
    """Return a summary for each setting by name, optionally of one configuration only."""
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
    return GrantTally(
        name=name,
        values=tuple(dict.fromkeys(map(clean, dict.fromkeys(show_value(g.value) for g in grants)))),
        level=min((g.level for g in grants), key=_ORDER.index),
        counts=dict(Counter(g.status for g in grants)),
        reasons=_counted(g.reason for g in grants),
        observed=_counted(g.observed for g in grants),
    )


def _counted(texts: Iterable[str | None]) -> tuple[tuple[str, int], ...]:
    """Return the texts with their numbers, most frequent first."""
    found: Counter[str] = Counter()
    for text, number in Counter(texts).items():  # few texts differ
        if text:
            found[clean(text)] += number
    return tuple(found.most_common())
