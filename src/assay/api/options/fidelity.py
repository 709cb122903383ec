"""Fidelity of a search, from ``--fidelity``."""

from __future__ import annotations

import math
from collections.abc import Collection

from assay.errors import InvalidInputError
from assay.machine.document import Machine
from assay.records import Choices, Domain, Fidelity, Parameter, Range, Statistic, Value
from assay.settings.domain_text import parse_domain
from assay.settings.registry import Registry

FAMILIES = ("arg.", "env.")
"""Families of settings that a program reads itself, and that may therefore be a fidelity."""
LEVEL_FACTOR = 4.0
"""Largest factor between neighbouring levels of a logarithmic range (Hyperband's eta is 3 or 4)."""
LINEAR_LEVELS = 3
"""Number of levels of a linear range without a step."""
MAX_LEVELS = 6
"""Largest number of levels: each takes an equal share of the search."""
_DIGITS = 3
"""Significant digits of a level of real numbers between the ends of a range."""
_EXAMPLE = "--fidelity arg.steps=50..2000:log or --fidelity arg.epochs=1,3,9"


def parse_fidelity(
    text: str | None, registry: Registry, machine: Machine, varied: Collection[str]
) -> Fidelity | None:
    """Return the fidelity of a search; ``None`` without one.

    Args:
        text: value of the option, as ``SETTING=DOMAIN``.
        registry: known settings.
        machine: machine that determines the domains.
        varied: names of the settings of the search space.

    Raises:
        InvalidInputError: an invalid domain, a single value, a setting that the program does not
            read itself, or one of the search space.
    """
    if text is None:
        return None
    name = text.partition("=")[0].strip()
    if not name.startswith(FAMILIES):
        raise InvalidInputError(
            f"--fidelity: {name!r} is not an argument or a variable of the program.",
            f"Write it as arg.NAME or env.NAME, for example {_EXAMPLE}.",
        )
    if name in varied:
        raise InvalidInputError(
            f"--fidelity: the search space varies {name} as well.",
            f"Leave {name} out of the search space, or leave out --fidelity.",
        )
    try:
        levels = levels_of(parse_domain(text, registry, machine).domain)
    except InvalidInputError as error:
        raise InvalidInputError(f"--fidelity: {error.cause}", error.remedy) from error
    if len(levels) < 2:
        raise InvalidInputError(
            f"--fidelity {text}: a single value leaves nothing to begin with.",
            f"Write the lowest and the full fidelity, for example {_EXAMPLE}.",
        )
    return Fidelity(name=name, levels=levels)


def levels_of(domain: Domain) -> tuple[Value, ...]:
    """Return the levels of a domain, the cheapest first and the full fidelity last.

    A list is taken as it is written. A range with a step gives its own values, a logarithmic range
    values with a constant factor, and a linear one values with a constant distance.

    Args:
        domain: values of the setting.
    """
    if isinstance(domain, Choices):
        return _thinned(domain.options)
    if not isinstance(domain, Range):
        return ()
    values = domain.values()
    if values is not None and (domain.log or domain.step != 1):
        if values[-1] != domain.high:  # the step does not reach the full fidelity
            values = (*values, int(domain.high) if domain.integer else domain.high)
        return _thinned(values)
    count = LINEAR_LEVELS
    if domain.log:
        count = 1 + math.ceil(math.log(domain.high / domain.low, LEVEL_FACTOR))
    count = min(max(count, 2), MAX_LEVELS)
    inner = (_rounded(domain.at(at / (count - 1))) for at in range(1, count - 1))
    low, high = (int(end) if domain.integer else end for end in (domain.low, domain.high))
    return tuple(dict.fromkeys((low, *inner, high)))


def fidelity_parameters(fidelity: Fidelity | None) -> tuple[Parameter, ...]:
    """Return the fidelity as a parameter whose default is the full one.

    Args:
        fidelity: fidelity of the search; ``None`` without one.
    """
    if fidelity is None:
        return ()
    domain = Choices(fidelity.levels, ordered=True)
    return (Parameter(name=fidelity.name, domain=domain, default=fidelity.full),)


def demand_comparable(
    fidelity: Fidelity | None, objectives: Collection[str], statistic: Statistic
) -> None:
    """Raise if the search cannot begin at low fidelity.

    Args:
        fidelity: fidelity of the search; ``None`` without one.
        objectives: names of the objectives, if there are several.
        statistic: statistic of the objective.

    Raises:
        InvalidInputError: several objectives, or the spread as the statistic.
    """
    if fidelity is None:
        return
    if objectives:
        raise InvalidInputError(
            "--fidelity is for one objective; there are several.",
            "Leave --fidelity out, or decide by one of them.",
        )
    if statistic is Statistic.SPREAD:
        raise InvalidInputError(
            "--fidelity does not apply to the spread: short launches differ less from each other.",
            "Leave --fidelity out, or decide by the mean.",
        )


def _thinned(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return at most ``MAX_LEVELS`` values at equal distances, both ends included."""
    if len(values) <= MAX_LEVELS:
        return values
    last = len(values) - 1
    return tuple(values[round(at * last / (MAX_LEVELS - 1))] for at in range(MAX_LEVELS))


def _rounded(value: Value) -> Value:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
