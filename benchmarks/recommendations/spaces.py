"""Simulated spaces in which few settings have an effect."""

from __future__ import annotations

import enum
import itertools
import math
import random
from dataclasses import dataclass

from assay.records import Choices, Configuration, Parameter, Space

SETTINGS = 20
VALUES = (2, 3, 4)
"""Possible numbers of values of a setting, including its default."""
OTHERS = (-0.5, 1.0)
"""Range of the effects of all but the best value of an effective setting, in multiples of the
effect of the best value; a gain is negative."""
INTERACTION = 0.5
"""Largest effect of an interaction, in multiples of the smaller of the two effects."""


class Shape(enum.StrEnum):
    """Effects of the settings of a space."""

    NONE = "none"
    ONE = "one"
    SUM = "sum"
    PAIR = "pair"


@dataclass(frozen=True)
class Effects:
    """A space and the logarithms of its effects.

    Attributes:
        space: settings.
        of_value: effect of each value of each effective setting.
        together: best values of two interacting settings, and the further effect of both.
    """

    space: Space
    of_value: dict[str, dict[int, float]]
    together: tuple[tuple[tuple[str, int], ...], float] = ((), 0.0)

    def log_ratio(self, configuration: Configuration) -> float:
        """Return the logarithm of the true ratio of a configuration to the default."""
        found = 0.0
        for name, effects in self.of_value.items():
            found += effects.get(int(configuration.get(name, 0)), 0.0)
        pair, further = self.together
        if pair and all(configuration.get(name) == value for name, value in pair):
            found += further
        return found

    @property
    def best(self) -> float:
        """Smallest logarithm of all configurations."""
        names = list(self.of_value)
        options = [(0, *effects) for effects in self.of_value.values()]
        combinations = (
            Configuration({n: v for n, v in zip(names, values, strict=True) if v})
            for values in itertools.product(*options)
        )
        return min(map(self.log_ratio, combinations))

    def idle(self, configuration: Configuration) -> list[str]:
        """Return the settings of a configuration without effect."""
        return [name for name in configuration if name not in self.of_value]


def draw(shape: Shape, low: float, high: float, seed: int) -> Effects:
    """Return a random space.

    Args:
        shape: shape of its effects.
        low, high: range of the effect of a setting's best value (a share of the time).
        seed: seed of all random numbers.
    """
    rng = random.Random(f"{shape}/{seed}")
    counts = [rng.choice(VALUES) for _ in range(SETTINGS)]
    names = [f"arg.s{k}" for k in range(SETTINGS)]
    space = Space(
        parameters=tuple(
            Parameter(name=name, domain=Choices(tuple(range(count))), default=0)
            for name, count in zip(names, counts, strict=True)
        )
    )
    matter = rng.sample(range(SETTINGS), {"none": 0, "one": 1}.get(shape, 2))
    of_value: dict[str, dict[int, float]] = {}
    best: list[tuple[str, int]] = []
    for k in matter:
        gain = -math.log(1.0 - rng.uniform(low, high))
        values = list(range(1, counts[k]))
        chosen = rng.choice(values)
        of_value[names[k]] = {
            value: -gain if value == chosen else rng.uniform(*OTHERS) * gain for value in values
        }
        best.append((names[k], chosen))
    if shape is not Shape.PAIR:
        return Effects(space, of_value)
    least = min(-of_value[name][value] for name, value in best)
    further = rng.uniform(-INTERACTION, INTERACTION) * least
    return Effects(space, of_value, (tuple(best), further))
