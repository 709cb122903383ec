"""Budget account: time and launches that a study has spent."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from assay.records import Budget
from assay.store import Store


@dataclass
class BudgetAccount:
    """Time and launches spent by a study over all its sessions.

    Attributes:
        budget: total budget.
        elapsed_s: time spent by earlier sessions, in seconds.
        launches: launches of earlier sessions and this one.
        waited_s: time of this session spent waiting for the store, in seconds; excluded from the
            spent time, because nothing can be measured meanwhile.
        began: start of the session on the monotonic clock, in seconds.
        ended: end of the session on the same clock; ``None`` while it runs.
    """

    budget: Budget
    elapsed_s: float = 0.0
    launches: int = 0
    waited_s: float = 0.0
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None

    @property
    def session_s(self) -> float:
        """Return the time of this session, in seconds."""
        now = time.monotonic() if self.ended is None else self.ended
        return now - self.began - self.waited_s

    def end(self) -> None:
        """End the session, so that its time no longer changes."""
        self.ended = time.monotonic()

    @property
    def spent_s(self) -> float:
        """Return the time of all sessions, in seconds."""
        return self.elapsed_s + self.session_s

    @property
    def left(self) -> Budget:
        """Return the remaining budget."""
        time_s, launches = self.budget.time_s, self.budget.launches
        return Budget(
            time_s=None if time_s is None else time_s - self.spent_s,
            launches=None if launches is None else launches - self.launches,
        )

    @contextmanager
    def storing(self, store: Store) -> Iterator[None]:
        """Context of a launch that is stored: it counts, and the time of waiting does not.

        Args:
            store: store of the study.
        """
        before_s = store.waited_s
        try:
            yield
        finally:
            self.waited_s += store.waited_s - before_s
        self.launches += 1
