"""Search space: the configurations that a study may try."""

from __future__ import annotations

import copy
import itertools
import math
import random
from collections.abc import Callable, Iterator

from assay.errors import InvalidInputError, nearest
from assay.records import Configuration, Range, Space, Value
from assay.search.space.expression import Expression

MAX_DRAWS = 1000
"""Maximum number of random configurations checked against the constraints in one draw."""
MAX_LISTED_COMBINATIONS = 5000
"""Maximum number of combinations of values with which an expression is checked before a study."""

AdmissionCheck = Callable[[Configuration], bool]
"""Predicate: whether the machine can grant a configuration."""


class SearchSpace:
    """A space with evaluated conditions and constraints.

    Every configuration that it returns is *canonical*: settings at their default, and settings
    whose ``when`` does not hold, are left out, so that equal launches are equal configurations.

    Args:
        space: parameters and constraints.
        admissible: predicate of the planner; all configurations are admissible if absent.

    Raises:
        InvalidInputError: an expression names a setting outside the space, or is invalid for its
            values.
    """

    def __init__(self, space: Space, admissible: AdmissionCheck | None = None) -> None:
        self.parameters = {p.name: p for p in space.parameters}
        self._constraints = [Expression(text) for text in space.constraints]
        self._when = {p.name: Expression(p.condition) for p in space.parameters if p.condition}
        self._admissible = admissible
        self._options: dict[str, tuple[Value | None, ...] | None] = {}
        for expression in (*self._constraints, *self._when.values()):
            self._check_names(expression)
            self._check_values(expression)

    def _check_names(self, expression: Expression) -> None:
        for name in sorted(expression.names - self.parameters.keys()):
            near = nearest(name, tuple(self.parameters))
            raise InvalidInputError(
                f"{expression.text!r} names {name}, which this study does not vary.",
                f"Did you mean {near}?" if near else "Give it a domain, or remove it.",
            )

    def _check_values(self, expression: Expression) -> None:
        """Evaluate an expression before the study, so that an invalid one costs no launch."""
        names = sorted(expression.names)
        some = [self.options(n) or self._ends(n) for n in names]
        for values in itertools.islice(itertools.product(*some), MAX_LISTED_COMBINATIONS):
            pairs = zip(names, values, strict=True)
            expression.holds({n: v for n, v in pairs if v is not None}, unknown=True)

    def _ends(self, name: str) -> tuple[Value | None, ...]:
        domain = self.parameters[name].domain
        return (domain.at(0.0), domain.at(1.0)) if isinstance(domain, Range) else (None,)

    is_named = False
    """True if its configurations have names."""

    @property
    def is_product(self) -> bool:
        """True if the values of settings are combined freely, apart from constraints."""
        return not self.is_named and not self._when

    def options(self, name: str) -> tuple[Value | None, ...] | None:
        """Return the values of a parameter, its default first; ``None`` stands for *not set*.

        The result is ``None`` for a continuous domain.
        """
        if name not in self._options:
            self._options[name] = self._options_of(name)
        return self._options[name]

    def _options_of(self, name: str) -> tuple[Value | None, ...] | None:
        parameter = self.parameters[name]
        values = parameter.domain.values()
        if values is None:
            return None
        return (None, *(v for v in values if not same_value(v, parameter.default)))

    def canonical(self, configuration: Configuration) -> Configuration:
        """Return the shortest configuration that makes the same launch."""
        values = dict(configuration)
        for name, parameter in self.parameters.items():
            if name in values and same_value(values[name], parameter.default):
                del values[name]
        return self.without_inactive(Configuration(values))

    def without_inactive(self, configuration: Configuration) -> Configuration:
        """Return the configuration without settings whose condition does not hold in it."""
        if not self._when:
            return configuration
        values = dict(configuration)
        while inactive := self._inactive(values):
            del values[inactive]
        return Configuration(values)

    def _inactive(self, values: dict[str, Value]) -> str | None:
        """Return a setting whose condition does not hold, if there is one.

        Known defaults enter the condition: ``when arg.n > 4`` holds for arg.n's own.
        """
        full = self._with_defaults(values)
        return next(
            (n for n, w in self._when.items() if n in values and not w.holds(full, unknown=False)),
            None,
        )

    def valid(self, configuration: Configuration) -> bool:
        """Return whether a configuration satisfies all constraints and can be granted."""
        if self._constraints:
            values = self._with_defaults(dict(configuration))
            if not all(c.holds(values, unknown=True) for c in self._constraints):
                return False
        return self._admissible is None or self._admissible(configuration)

    def excluding(self, refused: Callable[[Configuration], bool]) -> SearchSpace:
        """Return the space without configurations that turned out to be refused."""
        narrower = copy.copy(self)
        admissible = self._admissible
        narrower._admissible = lambda configuration: (
            not refused(configuration) and (admissible is None or admissible(configuration))
        )
        return narrower

    def _with_defaults(self, values: dict[str, Value]) -> dict[str, Value]:
        known = {n: p.default for n, p in self.parameters.items() if p.default is not None}
        return {**known, **values}

    def raw_size(self) -> float:
        """Return the number of combinations before conditions and constraints; may be infinite."""
        sizes = [self.options(name) for name in self.parameters]
        return math.inf if None in sizes else math.prod(float(len(s)) for s in sizes if s)

    def enumerate(self, most: int) -> list[Configuration] | None:
        """Return all valid configurations, the default first; ``None`` if over ``most``."""
        # A cheap bound first: the product may be orders of magnitude larger than the valid part.
        if self.raw_size() > 200_000:
            return None
        found: dict[Configuration, None] = {Configuration(): None}
        for configuration in self._combinations():
            found.setdefault(configuration)
            if len(found) > most:
                return None
        return list(found)

    def _combinations(self) -> Iterator[Configuration]:
        names = list(self.parameters)
        for values in itertools.product(*(self.options(name) or () for name in names)):
            pairs = zip(names, values, strict=True)
            candidate = self.canonical(Configuration({n: v for n, v in pairs if v is not None}))
            if self.valid(candidate):
                yield candidate

    def draw(self, rng: random.Random) -> Configuration | None:
        """Draw one valid configuration; return ``None`` where constraints exclude nearly all."""
        for _ in range(MAX_DRAWS):
            drawn = {name: self._draw_value(name, rng) for name in self.parameters}
            values = {n: v for n, v in drawn.items() if v is not None}
            candidate = self.without_inactive(Configuration(values))
            if self.valid(candidate):
                return candidate
        return None

    def balanced_sample(self, count: int, rng: random.Random) -> list[Configuration]:
        """Draw configurations in which the values of each setting are about equally frequent.

        Configurations that violate constraints are dropped (a Latin hypercube; McKay et al., 1979).
        """
        columns = {name: self._spread_values(name, count, rng) for name in self.parameters}
        rows = (
            {name: value for name, values in columns.items() if (value := values[at]) is not None}
            for at in range(count)
        )
        found = (self.canonical(Configuration(row)) for row in rows)
        return [candidate for candidate in found if self.valid(candidate)]

    def _spread_values(self, name: str, count: int, rng: random.Random) -> list[Value | None]:
        options = self.options(name)
        if options is None:
            domain = self.parameters[name].domain
            assert isinstance(domain, Range)
            positions = [(at + rng.random()) / max(1, count) for at in range(count)]
            rng.shuffle(positions)
            return [domain.at(place) for place in positions]
        whole, rest = divmod(count, len(options))
        values = [*options] * whole + rng.sample(options, rest)
        rng.shuffle(values)
        return values

    def _draw_value(self, name: str, rng: random.Random) -> Value | None:
        options = self.options(name)
        if options is not None:
            return rng.choice(options)
        parameter = self.parameters[name]
        assert isinstance(parameter.domain, Range)
        value = parameter.domain.at(rng.random())
        return None if same_value(value, parameter.default) else value

    def neighbours(self, configuration: Configuration) -> Iterator[Configuration]:
        """Yield valid configurations that differ in one parameter, nearest values first."""
        for name in self.parameters:
            for value in self._alternatives(name, configuration.get(name)):
                changed = (
                    configuration.without(name)
                    if value is None
                    else configuration.having(name, value)
                )
                candidate = self.canonical(changed)
                if candidate != configuration and self.valid(candidate):
                    yield candidate

    def _alternatives(self, name: str, value: Value | None) -> list[Value | None]:
        options = self.options(name)
        if options is None:
            domain = self.parameters[name].domain
            assert isinstance(domain, Range)
            position = domain.position(value) if isinstance(value, int | float) else 0.5
            near: list[Value | None] = [
                domain.at(min(1.0, max(0.0, position + d))) for d in (-0.1, 0.1)
            ]
            return near if value is None else [*near, None]
        here = options.index(value) if value in options else 0
        order = sorted(range(len(options)), key=lambda i: (abs(i - here), i))
        return [options[i] for i in order if i != here]

    def repair(self, configuration: Configuration, rng: random.Random) -> Configuration:
        """Return the nearest valid configuration: fewest changed parameters, nearest values first.

        It tries all single changes, then all double ones, then a random draw, then the default.
        """
        candidate = self.canonical(configuration)
        if self.valid(candidate):
            return candidate
        for near in self.neighbours(candidate):
            return near
        for first in self._neighbours(candidate):
            for near in self.neighbours(first):
                return near
        drawn = self.draw(rng)
        return Configuration() if drawn is None else drawn

    def _neighbours(self, configuration: Configuration) -> Iterator[Configuration]:
        """Yield the results of ``neighbours`` including invalid ones."""
        for name in self.parameters:
            for value in self._alternatives(name, configuration.get(name)):
                yield self.canonical(
                    configuration.without(name)
                    if value is None
                    else configuration.having(name, value)
                )


def same_value(a: Value | None, b: Value | None) -> bool:
    """Return whether values are equal; ``True`` differs from 1, but 2 equals 2.0."""
    return a is not None and b is not None and isinstance(a, bool) is isinstance(b, bool) and a == b
