"""Parameters of Optuna as settings of assay, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from assay.api.functions.domains import Range, Value
from assay.records import Choices, Parameter
from assay.records import Range as RangeRecord

Domains: TypeAlias = dict[str, Sequence[Value] | range | Range]
"""Values to try by name."""


def domain_of(distribution: BaseDistribution) -> Sequence[Value] | Range:
    """Return the values of a distribution, as a session takes them.

    Args:
        distribution: distribution with more than one value.
    """
    if isinstance(distribution, CategoricalDistribution):
        return [label(choice) for choice in distribution.choices]
    assert isinstance(distribution, IntDistribution | FloatDistribution)
    low, high = distribution.low, distribution.high
    if distribution.log:
        return Range(low, high, log=True)
    if isinstance(distribution, IntDistribution):
        return Range(low, high, step=distribution.step)
    return Range(float(low), float(high), step=distribution.step)


def varied(distributions: Mapping[str, BaseDistribution]) -> dict[str, BaseDistribution]:
    """Return the distributions with more than one value."""
    return {name: one for name, one in distributions.items() if not one.single()}


def label(choice: object) -> Value:
    """Return a choice as a value of a setting: itself, or its text."""
    if isinstance(choice, str | bool | int | float):
        return choice
    return repr(choice)


def choice_of(distribution: BaseDistribution, value: Value) -> Any:
    """Return the value of Optuna for a value of a setting.

    Args:
        distribution: distribution of the parameter.
        value: value of the setting.
    """
    if isinstance(distribution, CategoricalDistribution):
        return next(
            choice
            for choice in distribution.choices
            if type(label(choice)) is type(value) and label(choice) == value
        )
    return value


def distribution_of(parameter: Parameter) -> BaseDistribution:
    """Return the distribution of a setting of a stored study.

    Args:
        parameter: parameter of its space.
    """
    domain = parameter.domain
    if isinstance(domain, Choices):
        return CategoricalDistribution(domain.options)
    assert isinstance(domain, RangeRecord)
    step = None if domain.log else domain.step
    if domain.integer:
        return IntDistribution(
            int(domain.low), int(domain.high), log=domain.log, step=int(step or 1)
        )
    return FloatDistribution(domain.low, domain.high, log=domain.log, step=step)


def first_value(distribution: BaseDistribution) -> Any:
    """Return the default of a parameter without a given one: first choice, or low end."""
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[0]
    assert isinstance(distribution, IntDistribution | FloatDistribution)
    return distribution.low
