"""Conditions that settings bring with them: an allocator's option needs its allocator."""

from __future__ import annotations

import msgspec

from assay.errors import BadInput
from assay.records import Parameter, Space, Value
from assay.settings.allocators import AllocatorOption
from assay.settings.registry import Registry


def with_conditions(space: Space, registry: Registry) -> Space:
    """The space with a ``when`` for each option of an allocator, where ``malloc`` varies too.

    Raises:
        BadInput: an option of which none of the allocators in the space has any.
    """
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
        raise BadInput(
            f"{parameter.name} belongs to {', '.join(owners)}, and malloc varies over "
            f"{', '.join(map(str, offered))} only.",
            f"Write malloc={','.join((*map(str, offered), owners[0]))}, or leave "
            f"{parameter.name} out.",
        )
    needed = " or ".join(f"malloc == {name!r}" for name in owners)
    when = f"({parameter.when}) and ({needed})" if parameter.when else needed
    return msgspec.structs.replace(parameter, when=when)
