"""Fractional factorial designs with two levels.

A fraction 2^(k-p) runs the full design of k - p basic factors; each of the other p is set as the
product of the signs of some basic ones, its *generator*. The defining relation states the cost. It
consists of all products of the words "generated factor times its generator"; effects whose product
is a word of it are aliased. The *resolution* is the length of the shortest word (Box and Hunter,
Technometrics 3:311 and 3:449, 1961; Box, Hunter and Hunter, Statistics for Experimenters, 2nd
edition 2005, chapter 6). At III main effects are aliased with two-factor interactions, at IV
two-factor interactions with each other, at V neither.

Sets of factors are bit masks: bit i stands for factor i, and the product of two is their XOR.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.errors import InvalidInputError, nearest

ROMAN_NUMERALS = {3: "III", 4: "IV", 5: "V", 6: "VI", 7: "VII", 8: "VIII"}
MAX_SEARCH_STEPS = 200_000
"""Maximum number of generator sets examined for one size of a fraction before a larger size."""
MAX_FACTORS = 15

_GENERATOR = re.compile(r"\s*([^=*]+?)\s*=\s*(-?)\s*([^=]+?)\s*")


class InvalidGeneratorError(InvalidInputError):
    """Generators that do not define a valid design."""


@dataclass(frozen=True)
class Fraction:
    """A two-level design.

    Attributes:
        factors: number of factors.
        generated: index, generator mask and sign of each generated factor.
    """

    factors: int
    generated: tuple[tuple[int, int, int], ...] = ()

    @property
    def basic(self) -> tuple[int, ...]:
        """Indices of the basic factors, which vary freely."""
        made = {factor for factor, _, _ in self.generated}
        return tuple(at for at in range(self.factors) if at not in made)

    @property
    def cells(self) -> int:
        """Number of cells."""
        return 1 << len(self.basic)

    @property
    def min_word_length(self) -> int | None:
        """Length of the shortest word of the defining relation; ``None`` for the full design."""
        words = [mask | 1 << factor for factor, mask, _ in self.generated]
        return min((w.bit_count() for w in _products(words)), default=None)

    @property
    def resolution(self) -> str | None:
        """Resolution as a Roman numeral; ``None`` for the full design."""
        least = self.min_word_length
        return None if least is None else ROMAN_NUMERALS.get(least, str(least))

    def rows(self) -> Iterator[tuple[int, ...]]:
        """Yield the signs of the factors by cell, in standard order (the first is fastest)."""
        basic = self.basic
        for signs in itertools.product((-1, 1), repeat=len(basic)):
            row = dict(zip(reversed(basic), signs, strict=True))
            for factor, mask, sign in self.generated:
                product = sign
                for at in basic:
                    if mask >> at & 1:
                        product *= row[at]
                row[factor] = product
            yield tuple(row[at] for at in range(self.factors))

    def has(self, row: Sequence[int]) -> bool:
        """Return whether a corner, given by the signs of the factors, is a cell of the design."""
        return all(
            row[factor] == sign * math.prod(row[at] for at in self.basic if mask >> at & 1)
            for factor, mask, sign in self.generated
        )


def fraction_of(names: Sequence[str], generators: Sequence[str] = ()) -> Fraction:
    """Return the design with generators such as ``d = a * b * c`` or ``d = -a * b``.

    Raises:
        InvalidGeneratorError: a generator is malformed, or main effects are aliased.
    """
    if generators and len(names) > MAX_FACTORS:
        raise InvalidGeneratorError(
            f"A fraction of {len(names)} settings is not supported.",
            f"Vary {MAX_FACTORS} settings at most.",
        )
    made: dict[int, tuple[int, int]] = {}
    for text in generators:
        factor, mask, sign = _generator(text, names)
        if factor in made:
            raise InvalidGeneratorError(
                f"{names[factor]} has two generators.", "Give it one generator."
            )
        made[factor] = (mask, sign)
    for factor, (mask, _) in made.items():
        chained = [names[at] for at in made if mask >> at & 1]
        if chained:
            raise InvalidGeneratorError(
                f"The generator of {names[factor]} contains {chained[0]}, which has a generator "
                "itself.",
                "Use only factors without a generator.",
            )
    found = Fraction(len(names), tuple((f, m, s) for f, (m, s) in sorted(made.items())))
    least = found.min_word_length
    if least is not None and least < 3:
        raise InvalidGeneratorError(
            f"These generators give a design of resolution {least}: two settings would always "
            "change together.",
            "Use at least two factors in each generator, and different ones in any two.",
        )
    return found


def _generator(text: str, names: Sequence[str]) -> tuple[int, int, int]:
    match = _GENERATOR.fullmatch(text)
    if match is None:
        raise InvalidGeneratorError(f"Invalid generator: {text!r}.", 'Write "d = a * b * c".')
    mask = 0
    for word in match[3].split("*"):
        bit = 1 << _factor(word.strip(), names, text)
        if mask & bit:
            raise InvalidGeneratorError(f"{text!r} names {word.strip()} twice.", "Name each once.")
        mask |= bit
    factor = _factor(match[1], names, text)
    if mask >> factor & 1:
        raise InvalidGeneratorError(f"{text!r} defines {match[1]} by itself.", "Use other factors.")
    return factor, mask, -1 if match[2] else 1


def _factor(name: str, names: Sequence[str], text: str) -> int:
    if name in names:
        return list(names).index(name)
    near = nearest(name, tuple(names))
    raise InvalidGeneratorError(
        f"Unknown setting in {text!r}: {name or '(none)'}.",
        f"Did you mean {near}?" if near else f"The settings are {', '.join(names)}.",
    )


def generators_for(names: Sequence[str], resolution: int) -> tuple[str, ...]:
    """Return generators of the smallest fraction with a resolution; none for the full design.

    The search goes through increasing sizes of the fraction. With many factors its result may be
    larger than the best fraction of published tables.

    Raises:
        InvalidGeneratorError: too many factors to search, or an unknown resolution.
    """
    if resolution < 3:
        raise InvalidGeneratorError(f"Invalid resolution: {resolution}.", "Write 3, 4 or 5.")
    if len(names) > MAX_FACTORS:
        raise InvalidGeneratorError(
            f"A fraction of {len(names)} settings is not supported.",
            f"Vary {MAX_FACTORS} settings at most.",
        )
    for basic in range(1, len(names)):
        masks = _search(basic, len(names) - basic, resolution)
        if masks is not None:
            return tuple(
                f"{names[basic + at]} = "
                + " * ".join(names[bit] for bit in range(basic) if mask >> bit & 1)
                for at, mask in enumerate(masks)
            )
    return ()


def _search(basic: int, made: int, resolution: int) -> list[int] | None:
    """Return masks for ``made`` more factors without a word shorter than ``resolution``."""
    columns = sorted(
        (m for m in range(1, 2**basic) if m.bit_count() >= resolution - 1),
        key=lambda m: (-m.bit_count(), m),
    )
    left = MAX_SEARCH_STEPS

    def extend(chosen: list[int], words: list[int], start: int) -> list[int] | None:
        nonlocal left
        if len(chosen) == made:
            return chosen
        factor = 1 << (basic + len(chosen))
        for at in range(start, len(columns)):
            left -= 1
            if left < 0:
                return None
            word = columns[at] | factor
            new = [word, *(word ^ other for other in words)]
            if all(w.bit_count() >= resolution for w in new):
                found = extend([*chosen, columns[at]], [*words, *new], at + 1)
                if found is not None:
                    return found
        return None

    return extend([], [], 0)


def _products(words: Sequence[int]) -> list[int]:
    """Return all products of one or more words."""
    found: list[int] = []
    for word in words:
        found += [word, *(word ^ other for other in found)]
    return found
