"""Conditions between settings.

An allocator's option needs its allocator, and the rank of an instance needs several instances.
"""

from __future__ import annotations

import msgspec

from assay.errors import InvalidInputError
from assay.records import Parameter, Space, Value
from assay.settings.instances import CORES, COUNT, RANK
from assay.settings.malloc.encodings import AllocatorOption
from assay.settings.registry import Registry


def with_conditions(space: Space, registry: Registry) -> Space:
    """Return the space with conditions for settings that have no effect alone.

    Options of an allocator get a condition if ``malloc`` varies too; otherwise they apply to any
    allocator that the program uses.

    Raises:
        InvalidInputError: an option belongs to no allocator of the space, or the space has a rank
            but no instances.
    """
    return _with_rank_condition(_with_allocator_conditions(space, registry))


def _with_rank_condition(space: Space) -> Space:
    names = {parameter.name for parameter in space.parameters}
    if RANK not in names:
        return space
    if not names & {COUNT, CORES}:
        raise InvalidInputError(
            f"{RANK} selects one of several instances, but {COUNT} is not set.",
            f"Add {COUNT}, for example {COUNT}=2,4.",
        )
    needed = {COUNT: f"{COUNT} != 1", CORES: f"{CORES} >= 1"}
    either = " or ".join(text for name, text in needed.items() if name in names)
    return msgspec.structs.replace(
        space,
        parameters=tuple(
            _add_condition(p, either) if p.name == RANK else p for p in space.parameters
        ),
    )


def _add_condition(parameter: Parameter, needed: str) -> Parameter:
    when = f"({parameter.condition}) and ({needed})" if parameter.condition else needed
    return msgspec.structs.replace(parameter, condition=when)


def _with_allocator_conditions(space: Space, registry: Registry) -> Space:
    malloc = next((p for p in space.parameters if p.name == "malloc"), None)
    if malloc is None:
        return space
    offered = malloc.domain.values() or ()
    return msgspec.structs.replace(
        space, parameters=tuple(_conditioned(p, offered, registry) for p in space.parameters)
    )


def _conditioned(parameter: Parameter, offered: tuple[Value, ...], registry: Registry) -> Parameter:
    setting = registry.get(parameter.name)
    if not isinstance(setting, AllocatorOption):
        return parameter
    owners = setting.owners(parameter.domain)
    if not set(owners) & set(offered):
        raise InvalidInputError(
            f"{parameter.name} belongs to {', '.join(owners)}, but malloc varies only over"
            f" {', '.join(map(str, offered))}.",
            f"Write malloc={','.join((*map(str, offered), owners[0]))}, or remove"
            f" {parameter.name}.",
        )
    needed = " or ".join(f"malloc == {name!r}" for name in owners)
    return _add_condition(parameter, needed)
