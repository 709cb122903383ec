"""Drawn launches: the launches of a large study that its page draws and contains.

A page of 100,000 launches would have 200 MB. Pictures show a part of them, which depends on the
study only. Tables, summaries and axes use all launches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from assay.reporting.trials import State, Trial

T = TypeVar("T")

MAX_DRAWN = 5000
"""Maximum number of launches in a page: 2 MB with their samples, and three for each pixel."""
MAX_STEPS = 1000
"""Maximum number of steps of a line, and of marks of failed launches."""
_EXTREME_SHARE = 0.05
"""Share of the drawn launches for each end of the values."""
_SPECIAL_SHARE = 0.2
"""Share of the drawn launches for those without a counted value, such as time-outs."""


@dataclass(frozen=True, slots=True)
class DrawnLaunches:
    """Launches that a page draws.

    Attributes:
        numbers: numbers of the launches; ``None`` if all are drawn.
        count: number of drawn launches.
        total: number of launches.
    """

    numbers: frozenset[int] | None
    count: int
    total: int

    def __contains__(self, number: int) -> bool:
        return self.numbers is None or number in self.numbers


def drawn_launches(trials: Sequence[Trial], limit: int = MAX_DRAWN) -> DrawnLaunches:
    """Return the launches to draw: all, or extremes, and evenly spaced ones of each arm.

    Args:
        trials: all launches in order of start.
        limit: maximum number of drawn launches.
    """
    if len(trials) <= limit:
        return DrawnLaunches(None, len(trials), len(trials))
    counted = [trial for trial in trials if trial.state is State.VALUE]
    special = [trial for trial in trials if trial.state is not State.VALUE]
    chosen = {trial.number for trial in evenly(special, round(limit * _SPECIAL_SHARE))}
    by_value = sorted(counted, key=lambda trial: trial.value or 0.0)
    ends = round(limit * _EXTREME_SHARE)
    chosen |= {trial.number for trial in (*by_value[:ends], *by_value[-ends:])}
    arms: dict[str, list[Trial]] = {}
    for trial in counted:
        arms.setdefault(trial.arm, []).append(trial)
    # One row of all arms: a share of each arm would be zero where arms have few launches.
    by_arm = [trial for own in arms.values() for trial in own if trial.number not in chosen]
    chosen |= {trial.number for trial in evenly(by_arm, limit - len(chosen))}
    return DrawnLaunches(frozenset(chosen), len(chosen), len(trials))


def share_sentence(count: int, total: int) -> str:
    """Return a sentence on the launches that a picture of all arms omits; empty if it has all.

    Args:
        count: number of drawn launches with a value or a time-out.
        total: number of launches with a value or a time-out.
    """
    if count == total:
        return ""
    return (
        f"{count:,} of {total:,} launches are drawn, with the lowest and the highest "
        "values among them; tables and summaries use all."
    )


def evenly(items: Sequence[T], limit: int) -> Sequence[T]:
    """Return at most ``limit`` items at equal distances, the last one among them."""
    if len(items) <= limit:
        return items
    return [items[(at + 1) * len(items) // limit - 1] for at in range(limit)]
