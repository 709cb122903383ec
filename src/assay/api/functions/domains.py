"""Settings and domains as Python values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from assay.api.functions.argument_types import demand_type, is_list, shown
from assay.errors import InvalidInputError
from assay.records.configuration import show_value

Value: TypeAlias = str | int | float | bool
"""Value of a setting."""

_QUOTED = ('"', ",", "..")
"""Parts of a text that need quotes within a domain."""


@dataclass(frozen=True)
class Range:
    """Range of numbers of a setting, both ends included.

    Attributes:
        low: smallest value.
        high: largest value.
        step: distance of two values; ``None`` for 1, or for no steps with ``log``.
        log: true for values that are equally spaced on a logarithmic scale.
        base: base of the powers to try with ``log``, such as 2; ``None`` for all values.

    Examples:
        >>> import assay
        >>> str(assay.Range(1, 64, log=True, base=2))
        '1..64:log2'
    """

    low: float
    high: float
    step: float | None = None
    log: bool = False
    base: int | None = None

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: a value is invalid, the range is empty, or two of its options exclude
                each other.
        """
        for name, kind in (("low", float), ("high", float), ("step", float | None)):
            demand_type(getattr(self, name), kind, name)
        if self.step is not None and not self.step > 0:
            raise InvalidInputError(f"Invalid step: {self.step}.", "Give a number above 0.")
        if not self.low <= self.high:
            raise InvalidInputError(
                f"The range from {self.low} to {self.high} is empty.", "Exchange its ends."
            )
        if self.step is not None and self.log:
            raise InvalidInputError(
                "A logarithmic range has no step.", "Leave out step, or give base instead."
            )
        if self.base is not None and not self.log:
            raise InvalidInputError("base belongs to a logarithmic range.", "Add log=True.")

    def __str__(self) -> str:
        """Return the range as on the command line."""
        suffix = f":log{self.base or ''}" if self.log else ""
        if self.step is not None:
            suffix = f":{show_value(self.step)}"
        return f"{show_value(self.low)}..{show_value(self.high)}{suffix}"


Domain: TypeAlias = str | Range | range | Sequence[Value]
"""Values of a setting to try: a list, a range, or text as on the command line."""
Space: TypeAlias = Mapping[str, Domain] | Sequence[str]
"""Settings to vary: domains by name, or texts ``SETTING=DOMAIN``."""
Settings: TypeAlias = Mapping[str, Value] | Sequence[str] | str
"""One configuration: values by name, or texts ``SETTING=VALUE``."""


def domain_texts(space: Space | None) -> tuple[str, ...]:
    """Return the settings to vary as ``SETTING=DOMAIN``.

    Raises:
        InvalidInputError: a domain is empty or has an invalid value.
    """
    if space is None:
        return ()
    if isinstance(space, str):
        return (space,)
    if not isinstance(space, Mapping):
        return _texts(space, "SETTING=VALUE,VALUE", "{'threads': [1, 2, 4]}")
    return tuple(f"{name}={_domain_text(name, domain)}" for name, domain in space.items())


def fidelity_text(fidelity: Mapping[str, Domain] | str | None) -> str | None:
    """Return the fidelity of a search as ``SETTING=DOMAIN``; ``None`` without one.

    Raises:
        InvalidInputError: several settings, or a domain is empty or has an invalid value.
    """
    if fidelity is None:
        return None
    found = domain_texts(fidelity)
    if len(found) != 1:
        raise InvalidInputError(
            f"fidelity: {len(found)} settings instead of one.",
            'Write for example fidelity={"arg.steps": assay.Range(50, 2000, log=True)}.',
        )
    return found[0]


def setting_texts(settings: Settings | None) -> tuple[str, ...]:
    """Return a configuration as ``SETTING=VALUE``.

    Raises:
        InvalidInputError: a value is neither text nor a number.
    """
    if settings is None:
        return ()
    if isinstance(settings, str):
        return (settings,)
    if not isinstance(settings, Mapping):
        return _texts(settings, "SETTING=VALUE", "{'threads': 4}")
    return tuple(f"{name}={_value_text(name, value)}" for name, value in settings.items())


def _texts(values: object, form: str, example: str) -> tuple[str, ...]:
    """Return texts of settings.

    Args:
        values: texts.
        form: form of a text.
        example: mapping that is accepted too.

    Raises:
        InvalidInputError: the values are not texts, or have no order.
    """
    items: tuple[object, ...] = tuple(values) if is_list(values) else (None,)
    found = tuple(item for item in items if isinstance(item, str))
    if len(found) < len(items):
        raise InvalidInputError(
            f"Invalid settings: {shown(values)}.",
            f"Give values by name, such as {example}, or texts {form}.",
        )
    return found


def _domain_text(name: str, domain: object) -> str:
    if isinstance(domain, Range):
        return str(domain)
    if isinstance(domain, range):
        if not domain:
            raise _empty(name)
        step = "" if domain.step == 1 else f":{domain.step}"
        if domain.step < 0:
            return ",".join(map(str, domain))
        return f"{domain.start}..{domain[-1]}{step}"
    if is_list(domain):
        values = list(domain)
        if not values:
            raise _empty(name)
        return ",".join(_item_text(name, value) for value in values)
    if isinstance(domain, Mapping | Set):
        raise InvalidInputError(
            f"{name}: invalid domain {shown(domain)}.", "Give a list, whose order is fixed."
        )
    if isinstance(domain, str):
        return domain
    value = _value_text(name, domain)
    raise InvalidInputError(
        f"{name}: {value} is one value, not a domain.",
        f"Give a list of values to try; [{value}] fixes the setting. assay.measure and assay.run "
        "take fixed values as settings=.",
    )


def _empty(name: str) -> InvalidInputError:
    return InvalidInputError(f"The domain of {name} is empty.", "Give at least one value.")


def _item_text(name: str, value: object) -> str:
    """Return one value of a list; a text with a comma is quoted."""
    text = _value_text(name, value)
    if isinstance(value, str) and (not value or any(part in value for part in _QUOTED)):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return text


def _value_text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    item = getattr(value, "item", None)
    if callable(item):  # a number of NumPy
        value = item()
    if isinstance(value, bool | int | float) and math.isfinite(value):
        return show_value(value)
    raise InvalidInputError(
        f"{name}: invalid value {shown(value)}.", "Give a text, a number or a truth value."
    )
