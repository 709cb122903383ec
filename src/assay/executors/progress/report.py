"""One item that a program reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Report:
    """Item that a program reports while it runs.

    Attributes:
        time_s: time since the start of the launch, in seconds.
        values: values by key; numbers, texts of numbers, and things of other types.
        step: printed step; ``None`` without one.
        total: printed number of steps of the whole; ``None`` without one.
        rank: rank of the process; ``None`` without one.
        restarted: true if earlier reports belong to something else and are dropped.
    """

    time_s: float
    values: Mapping[str, object] = field(default_factory=dict)
    step: float | None = None
    total: float | None = None
    rank: int | None = None
    restarted: bool = False
