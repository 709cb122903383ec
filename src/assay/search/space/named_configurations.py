"""Named configurations: cells of a sweep and candidates of a search that have names.

Each configuration of such a space is a named configuration or none of them, plus values of the
other settings.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence

from assay.records import (
    Arm,
    Configuration,
    Design,
    DesignKind,
    NamedConfiguration,
    Space,
    Value,
)
from assay.records.configuration import show_value
from assay.search.space.errors import DesignError
from assay.search.space.grid import grid_cells
from assay.search.space.search_space import MAX_DRAWS, AdmissionCheck, SearchSpace, same_value

NAME_COLUMN = "configuration"
"""Heading of the column of names, and the key of a name in a baseline."""


def make_search_space(space: Space, admissible: AdmissionCheck | None = None) -> SearchSpace:
    """Return the search space of a study.

    Raises:
        InvalidInputError: see ``SearchSpace``.
    """
    kind = NamedSpace if space.named_configurations else SearchSpace
    return kind(space, admissible)


def label_of(space: Space, configuration: Configuration) -> str | None:
    """Name a configuration: ``A``, or ``A threads=2`` with further settings.

    Returns:
        The label; ``None`` without a name.
    """
    named = find_named(space, configuration)
    if named is None:
        return None
    own = named.configuration
    other_settings = [f"{n}={show_value(v)}" for n, v in configuration.items() if n not in own]
    return " ".join([named.name, *other_settings])


class NamedLookup:
    """Lookup of named configurations, for many configurations.

    Args:
        space: space with the named configurations.
    """

    def __init__(self, space: Space) -> None:
        self._defaults = {p.name: p.default for p in space.parameters}
        self._names = {name for named in space.named_configurations for name in named.configuration}
        self._known = {
            self._without_defaults(named.configuration): named
            for named in reversed(space.named_configurations)
        }

    def find(self, configuration: Configuration) -> NamedConfiguration | None:
        """Return the named configuration that equals another one in the settings it sets."""
        part = Configuration({n: v for n, v in configuration.items() if n in self._names})
        here = self._without_defaults(part)
        return self._known.get(here) if here else None

    def _without_defaults(self, configuration: Configuration) -> Configuration:
        kept = {n: v for n, v in configuration.items() if not same_value(v, self._defaults.get(n))}
        return Configuration(kept)


def find_named(space: Space, configuration: Configuration) -> NamedConfiguration | None:
    """Return the named configuration of a single configuration; see ``NamedLookup``."""
    return NamedLookup(space).find(configuration)


def named_cells(design: Design, space: Space, bound: SearchSpace) -> tuple[list[Arm], list[str]]:
    """Cross the named configurations with a grid of the other settings.

    Returns:
        The cells, and notes on cells of the grid that cannot be granted.

    Raises:
        DesignError: the design is not a grid, or its grid has too many cells.
    """
    if design.kind is not DesignKind.GRID:
        raise DesignError(
            ("design", "kind"),
            f"A {design.kind} design does not support named configurations.",
            "Remove kind: each configuration runs with each cell of the grid of [settings].",
        )
    grid, notes = grid_cells(space, bound) if space.parameters else ([Configuration()], [])
    arms = [
        Arm(
            name=" ".join([named.name, *([str(cell)] if cell else [])]),
            configuration=Configuration({**named.configuration, **cell}),
        )
        for named in space.named_configurations
        for cell in grid
    ]
    return arms, notes


class NamedSpace(SearchSpace):
    """A space of named configurations.

    Parts of one of them are valid as well: a winner is reduced to the settings that matter.

    Args:
        space: its parameters hold every setting of the named configurations.
        admissible: see ``SearchSpace``.
    """

    is_named = True

    def __init__(self, space: Space, admissible: AdmissionCheck | None = None) -> None:
        super().__init__(space, admissible)
        self._own = {name for named in space.named_configurations for name in named.configuration}
        canonical = (self.canonical(named.configuration) for named in space.named_configurations)
        self._named = list(dict.fromkeys((Configuration(), *canonical)))
        self._free = [name for name in self.parameters if name not in self._own]

    def valid(self, configuration: Configuration) -> bool:
        """Return whether a configuration is a named one or a part of one."""
        part = self._part(configuration)
        return any(part.items() <= named.items() for named in self._named) and super().valid(
            configuration
        )

    def raw_size(self) -> float:
        """Return the number of combinations of names and of the other settings."""
        sizes = [self.options(name) for name in self._free]
        if None in sizes:
            return math.inf
        return len(self._named) * math.prod(float(len(s)) for s in sizes if s)

    def _combinations(self) -> Iterator[Configuration]:
        options = (self.options(name) or () for name in self._free)
        for named, values in itertools.product(self._named, itertools.product(*options)):
            candidate = self._with(named, dict(zip(self._free, values, strict=True)))
            if self.valid(candidate):
                yield candidate

    def draw(self, rng: random.Random) -> Configuration | None:
        """Draw one valid configuration; return ``None`` where constraints exclude nearly all."""
        for _ in range(MAX_DRAWS):
            values = {name: self._draw_value(name, rng) for name in self._free}
            candidate = self._with(rng.choice(self._named), values)
            if self.valid(candidate):
                return candidate
        return None

    def neighbours(self, configuration: Configuration) -> Iterator[Configuration]:
        """Yield configurations with another name, nearest first, then those with other settings."""
        other_settings = configuration.without(*self._own)
        for named in self._nearest(configuration):
            candidate = self.canonical(Configuration({**other_settings, **named}))
            if candidate != configuration and self.valid(candidate):
                yield candidate
        for name in self._free:
            for value in self._alternatives(name, configuration.get(name)):
                candidate = self._with(self._part(configuration), {**other_settings, name: value})
                if candidate != configuration and self.valid(candidate):
                    yield candidate

    def repair(self, configuration: Configuration, rng: random.Random) -> Configuration:
        """Return the nearest valid configuration that is complete, not a part of one."""
        candidate = self.canonical(configuration)
        if self._part(candidate) in self._named and self.valid(candidate):
            return candidate
        found = next(self.neighbours(candidate), None) or self.draw(rng)
        return Configuration() if found is None else found

    def _part(self, configuration: Configuration) -> Configuration:
        """Return the settings of a configuration that belong to named configurations."""
        return Configuration({n: v for n, v in configuration.items() if n in self._own})

    def _nearest(self, configuration: Configuration) -> Sequence[Configuration]:
        """Sort the named configurations by the number of settings in which they differ."""
        part = self._part(configuration)
        return sorted(self._named, key=lambda named: len(named.items() ^ part.items()))

    def _with(self, named: Configuration, values: dict[str, Value | None]) -> Configuration:
        other_settings = {name: value for name, value in values.items() if value is not None}
        return self.canonical(Configuration({**named, **other_settings}))
