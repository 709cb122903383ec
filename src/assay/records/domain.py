"""Domain: the valid values of a setting."""

from __future__ import annotations

import math
import re

from assay.errors import InvalidInputError, nearest
from assay.records.codec import Record
from assay.records.configuration import Value, show_value

_AMBIGUOUS = re.compile(r'[,"]|\.\.|^[-+]?\.?\d')
"""Text that a list would parse as several values, a range or a number."""


def _quoted(option: Value) -> str:
    """Return a value in the form of a list, with quotes around ambiguous text."""
    text = show_value(option)
    if not isinstance(option, str) or not (text == "" or _AMBIGUOUS.search(text)):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Choices(Record, frozen=True, tag_field="kind", tag="choices"):
    """Finite list of values, in the given order.

    Attributes:
        options: values to choose from.
        ordered: true if neighbours in the list are similar, for surrogate models.
    """

    options: tuple[Value, ...]
    ordered: bool = False

    def __contains__(self, value: object) -> bool:
        return any(type(o) is type(value) and o == value for o in self.options)

    def values(self) -> tuple[Value, ...]:
        """Return all values."""
        return self.options

    def __str__(self) -> str:
        return ",".join(_quoted(option) for option in self.options)


class Range(Record, frozen=True, tag_field="kind", tag="range"):
    """Range of numbers.

    Attributes:
        low: lowest value, included.
        high: highest value, included.
        step: distance between neighbours, or with ``log`` the factor between them (2 for ``log2``).
            Without a step a range of real numbers is continuous.
        log: true if the values are on a logarithmic scale.
        integer: true if all values are integers.
    """

    low: float
    high: float
    step: float | None = None
    log: bool = False
    integer: bool = True

    def __contains__(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int if self.integer else (int, float)):
            return False
        if not self.low <= value <= self.high:
            return False
        if self.step is None:
            return True
        steps = (
            math.log(value / self.low, self.step) if self.log else (value - self.low) / self.step
        )
        return math.isclose(steps, round(steps), abs_tol=1e-6)

    def values(self) -> tuple[Value, ...] | None:
        """Return all values, or ``None`` for a continuous range."""
        if self.step is None:
            return None
        found: list[Value] = []
        at = self.low
        # A rounding error must neither exclude the last value nor move it beyond the range.
        end = self.high * (1 + 1e-12) if self.log else self.high + 1e-9 * self.step
        while at <= end:
            value = min(at, self.high)
            found.append(round(value) if self.integer else value)
            at = at * self.step if self.log else self.low + self.step * len(found)
        return tuple(dict.fromkeys(found))

    def at(self, share: float) -> Value:
        """Return the value at a share (0 to 1) of the range, logarithmic if ``log`` is set."""
        if self.log:
            value = self.low * math.exp(math.log(self.high / self.low) * share)
        else:
            value = self.low + (self.high - self.low) * share
        value = min(max(value, self.low), self.high)  # a rounding error may exceed an end
        return round(value) if self.integer else value

    def position(self, value: float) -> float:
        """Return the position of a value in the range, from 0 to 1: the inverse of ``at``."""
        if self.high == self.low:
            return 0.0
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def __str__(self) -> str:
        form = ".0f" if self.integer else "g"
        text = f"{self.low:{form}}..{self.high:{form}}"
        if self.log:
            return f"{text}:log{self.step:g}" if self.step else f"{text}:log"
        return text if self.step in (None, 1) else f"{text}:{self.step:g}"


class AnyText(Record, frozen=True, tag_field="kind", tag="any"):
    """Any text: the domain of ``env.NAME`` and ``arg.NAME`` before the user gives one.

    Attributes:
        format: expected format, in words.
    """

    format: str = "any text"

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (str, int, float))

    def values(self) -> None:
        """Return ``None``: the values cannot be enumerated."""
        return

    def __str__(self) -> str:
        return self.format


Domain = Choices | Range | AnyText


def check(name: str, value: Value, domain: Domain) -> None:
    """Raise an error if a value is not in a domain.

    Raises:
        InvalidInputError: the value is not in the domain; names the nearest one.
    """
    if value in domain:
        return
    near = None
    if isinstance(domain, Choices):
        near = nearest(str(value), [str(option) for option in domain.options])
    hint = f"Did you mean {name}={near}? " if near else ""
    raise InvalidInputError(f"{name} cannot be {value!r}.", f"{hint}It takes {domain}.")
