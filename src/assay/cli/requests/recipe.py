"""From command-line words to what builds the program."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence

from assay.cli.parsing.option_values import parse_quantity
from assay.errors import InvalidInputError
from assay.launch.build_command import FOLDER, no_command_error, recipe_of
from assay.launch.command import placeholders_in
from assay.records import BuildRecipe, Configuration, Parameter
from assay.settings.value_text import format_value
from assay.units import parse_duration_s

_FAMILY = "build."


def recipe_asked(
    build: tuple[str, ...] | None,
    inputs: Sequence[str],
    limit: str | None,
    argv: tuple[str, ...],
    parameters: Sequence[Parameter] = (),
    configurations: Sequence[Configuration] = (),
) -> BuildRecipe | None:
    """What builds the program; ``None`` where nothing does.

    Args:
        build: words of the command.
        inputs: files and folders that it is built from.
        limit: what a build may take, as text; ``None``: what is usual.
        argv: the program's command.
        parameters: of the space; the defaults of ``build.NAME`` stand where a configuration has
            none.
        configurations: that were named.

    Raises:
        InvalidInputError: a placeholder without values, or values without a placeholder; a program
            outside the folder of the build; a missing tool or input.
    """
    names = _names(parameters, configurations)
    if build is None:
        if names:
            raise no_command_error(names[0])
        demand_command(inputs, limit)
        return None
    defaults = {
        p.name.removeprefix(_FAMILY): format_value(p.default)
        for p in parameters
        if p.name.startswith(_FAMILY) and p.default is not None
    }
    recipe = recipe_of(
        build,
        names,
        defaults,
        inputs=tuple(inputs),
        cwd=os.getcwd(),  # noqa: PTH109 - a path of the build, not one to work with
        limit_s=parse_quantity("--build-timeout", limit, parse_duration_s) if limit else None,
    )
    _demand_used(argv, names, parameters, configurations)
    from assay.cli.requests.missing import demand_in_path

    for first in _first_words(build, parameters, configurations):
        try:
            demand_in_path(first)
        except InvalidInputError as error:
            raise InvalidInputError(f"--build: {error.cause}", error.remedy) from error
    return recipe


def demand_command(inputs: Sequence[str], limit: str | None) -> None:
    """Refuse what belongs to a build command where none was given.

    Raises:
        InvalidInputError: it was given.
    """
    for option, given in (("--build-input", inputs), ("--build-timeout", limit)):
        if given:
            raise InvalidInputError(
                f"{option} is given without --build.", "Give the command as well."
            )


def _names(
    parameters: Sequence[Parameter], configurations: Sequence[Configuration]
) -> tuple[str, ...]:
    """Of all placeholders that something gives a value, each once."""
    named = (*(p.name for p in parameters), *(name for one in configurations for name in one))
    own = (name.removeprefix(_FAMILY) for name in named if name.startswith(_FAMILY))
    return tuple(dict.fromkeys(own))


def _demand_used(
    argv: tuple[str, ...],
    names: Sequence[str],
    parameters: Sequence[Parameter],
    configurations: Sequence[Configuration],
) -> None:
    """Refuse a study of builds that runs something else."""
    if any(p.name == f"arg.{FOLDER}" for p in parameters) or any(
        f"arg.{FOLDER}" in one for one in configurations
    ):
        raise InvalidInputError(
            f"arg.{FOLDER} cannot be varied beside --build: {{{FOLDER}}} is the folder for what is "
            "built.",
            "Give the placeholder another name.",
        )
    compared = (str(one["command"]) for one in configurations if "command" in one)
    held = placeholders_in((*argv, *compared))
    if FOLDER not in held:
        raise runs_another()
    filled = {p.name for p in parameters}.union(*configurations)
    for name in names:
        if name in held and f"arg.{name}" not in filled:
            raise InvalidInputError(
                f"The program's command holds {{{name}}}, which build.{name} fills in --build "
                "alone.",
                f"Name its values there, as in arg.{name}=A,B, or give one of the two placeholders "
                "another name.",
            )


def runs_another() -> InvalidInputError:
    """What is told where a program is built and another one run."""
    return InvalidInputError(
        f"The command holds no {{{FOLDER}}}, so that it would not run what --build makes.",
        f"Write it where the program lies, as in: -- '{{{FOLDER}}}/prog'",
    )


def _first_words(
    build: tuple[str, ...],
    parameters: Sequence[Parameter],
    configurations: Sequence[Configuration],
) -> Iterable[str]:
    """The programs that the command begins with, as far as they are known before it is run."""
    first = build[0]
    if not placeholders_in((first,)):
        return (first,)
    if first[1:-1] not in placeholders_in((first,)):
        return ()
    name = f"{_FAMILY}{first[1:-1]}"
    values = [v for p in parameters if p.name == name for v in p.domain.values() or ()]
    values += [one[name] for one in configurations if name in one]
    words = (shlex.split(format_value(value)) for value in values)
    return tuple(dict.fromkeys(split[0] for split in words if split))
