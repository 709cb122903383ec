"""Arms of ``--arm``: the name of a configuration, settings, or both."""

from __future__ import annotations

from collections.abc import Sequence

from assay.api.files.space_file import read_space
from assay.api.options.assigned import configuration_of
from assay.api.options.command_words import words_of
from assay.errors import InvalidInputError, nearest
from assay.machine.document import Machine
from assay.records import Arm, Configuration, NamedConfiguration
from assay.search.history.history import DEFAULT_ARM
from assay.settings.registry import Registry


def named_in_file(
    name: str | None, registry: Registry, machine: Machine
) -> tuple[NamedConfiguration, ...]:
    """Read the named configurations of a space file; empty without a file.

    Raises:
        InvalidInputError: the file is unreadable, invalid or without configurations, or it has
            settings to vary, which a comparison does not support.
    """
    if name is None:
        return ()
    parsed = read_space(name, registry, machine)
    if parsed.space.parameters:
        raise parsed.file.error(
            ("settings",),
            "A comparison varies no settings.",
            "Leave [settings] out, or run it as a sweep: assay sweep FILE.toml.",
        )
    if not parsed.space.named_configurations:
        raise InvalidInputError(
            f"{name} names no configurations.", "Write [configuration.NAME] with its settings."
        )
    return parsed.space.named_configurations


def arm_of(
    text: str, named: Sequence[NamedConfiguration], registry: Registry, machine: Machine
) -> Arm:
    """Return the arm of a text: ``A``, ``threads=2``, ``A threads=2`` or ``default``.

    Raises:
        InvalidInputError: an unknown name, setting or value, or a second name.
    """
    words = words_of(text)
    if words == [DEFAULT_ARM.name] and DEFAULT_ARM.name not in {one.name for one in named}:
        return DEFAULT_ARM
    names = [word for word in words if "=" not in word] if named else []
    settings = configuration_of([w for w in words if w not in names], registry, machine)
    if not names:
        return Arm(name=str(settings), configuration=settings)
    known = {one.name: one.configuration for one in named}
    if len(names) > 1:
        raise InvalidInputError(f"--arm {text!r} names two configurations.", "Name one.")
    if names[0] not in known:
        near = nearest(names[0], tuple(known))
        raise InvalidInputError(
            f"--arm: unknown configuration {names[0]!r}.",
            f"Did you mean {near}?" if near else f"Write one of {', '.join(known)}.",
        )
    label = " ".join([names[0], *([str(settings)] if settings else [])])
    return Arm(name=label, configuration=Configuration({**known[names[0]], **settings}))
