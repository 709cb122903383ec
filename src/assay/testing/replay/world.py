"""World: simulated launches of a recorded table, with noise."""

from __future__ import annotations

import enum
import hashlib
import math
import random
from dataclasses import dataclass

from assay.testing.replay.table import Table

UNSTABLE_SHARE = 0.2
"""Share of points with two modes, in a world of unstable configurations."""
SLOW_SHARE, SLOWER = 0.3, 1.5
"""Probability of the slow mode of such a point, and its factor on the time."""
DRIFT_STEP = 0.01
"""Relative standard deviation of the change of the machine's speed between two launches."""
DRIFT_KEEPS = 0.98
"""AR(1) coefficient of the machine's speed from one launch to the next."""
TAIL = 3.0
"""Degrees of freedom of heavy-tailed noise (Student)."""


class Kind(enum.StrEnum):
    """Kind of variation between launches of one configuration, beside recorded noise."""

    PLAIN = "plain"
    DRIFT = "drift"
    TAILS = "tails"
    UNSTABLE = "unstable"
    UNEQUAL = "unequal"


@dataclass(frozen=True)
class SimulatedLaunch:
    """One launch.

    Attributes:
        value: time or score; ``None`` if it failed.
        stopped: whether it timed out; then ``value`` is the cap.
        spent: cost of the launch; that of a typical launch if it failed.
    """

    value: float | None
    stopped: bool
    spent: float


class World:
    """A simulated program with a recorded space.

    The default, and the n-th launch of each point, depend on the seed alone.

    Args:
        table: recorded table.
        seed: seed of the default and of all noise.
        noise: standard deviation of the logarithm, added if only means were recorded.
        kind: further noise.
        higher: whether higher is better.
        default: index of the default point; a random one if absent.
    """

    def __init__(
        self,
        table: Table,
        seed: int,
        *,
        noise: float = 0.05,
        kind: Kind = Kind.PLAIN,
        higher: bool = False,
        default: int | None = None,
    ) -> None:
        self.table = table
        self.higher = higher
        self._seed = seed
        self._noise = noise
        self._kind = kind
        drawn = random.Random(f"{seed}/default").choice(table.working)
        self.default = drawn if default is None else default
        self._departure = 0.0
        self._launched: dict[int, int] = {}
        means = [mean for mean in table.means if mean is not None]
        self._best = max(means) if higher else min(means)
        self._usual = sorted(means)[len(means) // 2]
        self.launches = 0
        self.spent = 0.0
        self.timeouts = 0

    def like(self, table: Table, seed: int) -> World:
        """Return a new world of another table or seed, with noise of the same kind."""
        return World(table, seed, noise=self._noise, kind=self._kind, higher=self.higher)

    def launch(self, point: int, cap: float | None = None) -> SimulatedLaunch:
        """Launch a point once."""
        number = self._launched.get(point, 0)
        self._launched[point] = number + 1
        self.launches += 1
        taken = self._take(point, number, cap)
        self.spent += taken.spent
        self.timeouts += taken.stopped
        return taken

    def _take(self, point: int, number: int, cap: float | None) -> SimulatedLaunch:
        mean = self.table.means[point]
        self._departure = DRIFT_KEEPS * self._departure
        if self._kind is Kind.DRIFT:
            self._departure += self._draw("drift", self.launches).gauss(0.0, DRIFT_STEP)
        if mean is None:
            return SimulatedLaunch(None, False, self._usual)
        value = self._noisy(mean, point, number) * math.exp(self._departure)
        if cap is not None and value > cap and not self.higher:
            return SimulatedLaunch(cap, True, cap)
        return SimulatedLaunch(value, False, value)

    def _noisy(self, mean: float, point: int, number: int) -> float:
        draw = self._draw(point, number)
        repeats = self.table.repeats[point] if self.table.repeats else ()
        value = draw.choice(repeats) if repeats else mean * math.exp(self._gauss(draw, point))
        if self._kind is Kind.UNSTABLE:
            torn = self._draw("torn", point).random() < UNSTABLE_SHARE
            if torn and draw.random() < SLOW_SHARE:
                value = value / SLOWER if self.higher else value * SLOWER
        return value

    def _gauss(self, draw: random.Random, point: int) -> float:
        if self._kind is Kind.TAILS:
            chi = draw.gammavariate(TAIL / 2.0, 2.0)
            return self._noise * draw.gauss(0.0, 1.0) / math.sqrt(chi / TAIL)
        if self._kind is Kind.UNEQUAL:
            own = math.exp(self._draw("own", point).gauss(0.0, 0.7))
            return self._noise * own * draw.gauss(0.0, 1.0)
        return self._noise * draw.gauss(0.0, 1.0)

    def _draw(self, *what: object) -> random.Random:
        text = "/".join(map(str, (self._seed, *what)))
        return random.Random(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()))

    # --- the truth, for scores only ---

    def regret(self, point: int) -> float:
        """Return the true relative regret of a point against the best one."""
        mean = self._mean(point)
        return self._best / mean - 1.0 if self.higher else mean / self._best - 1.0

    def ratio(self, point: int) -> float:
        """Return the true ratio of a point to the default."""
        return self._mean(point) / self._mean(self.default)

    def _mean(self, point: int) -> float:
        mean = self.table.means[point]
        return math.nan if mean is None else mean
