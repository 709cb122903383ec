"""Named configurations of a search: removal of those that cannot be granted, and descriptions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from assay.records import Choices, Configuration, NamedConfiguration, Parameter, Plan, Space
from assay.search.space.named_configurations import NAME_COLUMN
from assay.study.space_choice import describe_space, grantable_space


def grantable_named(
    space: Space, planner: Callable[[Configuration], Plan]
) -> tuple[Space, dict[str, str]]:
    """Return the space without the values that the planner refuses, and the reasons.

    A named configuration is removed as a whole: without one of its settings it would be another
    one.

    Raises:
        NotPossibleError: as ``grantable_space``.
    """
    if not space.named_configurations:
        return grantable_space(space, planner)
    refused: dict[str, str] = {}
    kept: list[NamedConfiguration] = []
    for named in space.named_configurations:
        plan = planner(named.configuration)
        if plan.impossible:
            reasons = (f"{name}: {word.reason}" for name, word in plan.refused.items())
            refused[f"{NAME_COLUMN}.{named.name}"] = "; ".join(reasons)
        else:
            kept.append(named)
    own = {name for named in space.named_configurations for name in named.configuration}
    other_parameters = tuple(p for p in space.parameters if p.name not in own)
    rest, also = grantable_space(
        msgspec.structs.replace(space, parameters=other_parameters, named_configurations=()),
        planner,
    )
    narrowed = (_narrowed(p, kept) for p in space.parameters if p.name in own)
    parameters = (*(p for p in narrowed if p is not None), *rest.parameters)
    narrowed_space = msgspec.structs.replace(
        space, parameters=parameters, named_configurations=tuple(kept)
    )
    return narrowed_space, refused | also


def _narrowed(parameter: Parameter, kept: Iterable[NamedConfiguration]) -> Parameter | None:
    """Return a parameter with its remaining values; ``None`` without any."""
    values = parameter.domain.values() or ()
    found = {named.configuration.get(parameter.name) for named in kept}
    options = tuple(value for value in values if value in found)
    if not options:
        return None
    ordered = isinstance(parameter.domain, Choices) and parameter.domain.ordered
    return msgspec.structs.replace(parameter, domain=Choices(options, ordered=ordered))


def describe_named(space: Space) -> Iterable[str]:
    """Yield a line for each named configuration, then one for each of the other settings."""
    own = {name for named in space.named_configurations for name in named.configuration}
    yield from (f"{named.name}: {named.configuration}" for named in space.named_configurations)
    other_parameters = tuple(p for p in space.parameters if p.name not in own)
    yield from describe_space(msgspec.structs.replace(space, parameters=other_parameters))
