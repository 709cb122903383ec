"""Conditions that settings bring with them.

An allocator's option needs its allocator, and one of several instances needs several.
"""

from __future__ import annotations

import msgspec

from assay.errors import InvalidInputError
from assay.records import Parameter, Space, Value
from assay.settings.allocators import AllocatorOption
from assay.settings.instances import CORES, COUNT, RANK
from assay.settings.registry import Registry


def with_conditions(space: Space, registry: Registry) -> Space:
    """The space with a ``when`` for what has no effect alone.

    Options of an allocator have one where ``malloc`` varies too; without it they are told to
    whichever allocator serves.

    Raises:
        InvalidInputError: an option of which none of the allocators in the space has any, or the number of
            an instance without instances.
    """
    return _among_instances(_beside_allocators(space, registry))


def _among_instances(space: Space) -> Space:
    names = {parameter.name for parameter in space.parameters}
    if RANK not in names:
        return space
    if not names & {COUNT, CORES}:
        raise InvalidInputError(
            f"{RANK} chooses one of several instances, and there are none.",
            f"Give {COUNT} as well, as in {COUNT}=2,4.",
        )
    needed = {COUNT: f"{COUNT} != 1", CORES: f"{CORES} >= 1"}
    either = " or ".join(text for name, text in needed.items() if name in names)
    return msgspec.structs.replace(
        space,
        parameters=tuple(_only_when(p, either) if p.name == RANK else p for p in space.parameters),
    )


def _only_when(parameter: Parameter, needed: str) -> Parameter:
    when = f"({parameter.when}) and ({needed})" if parameter.when else needed
    return msgspec.structs.replace(parameter, when=when)


def _beside_allocators(space: Space, registry: Registry) -> Space:
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
            f"{parameter.name} belongs to {', '.join(owners)}, and malloc varies over "
            f"{', '.join(map(str, offered))} only.",
            f"Write malloc={','.join((*map(str, offered), owners[0]))}, or leave "
            f"{parameter.name} out.",
        )
    needed = " or ".join(f"malloc == {name!r}" for name in owners)
    return _only_when(parameter, needed)
