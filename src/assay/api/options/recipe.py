"""Build of the program: the request of ``--build``, and the recipe of a workload."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence

from assay.api.options.option_values import parse_quantity
from assay.errors import InvalidInputError
from assay.launch.build_command import FOLDER, no_command_error, recipe_of
from assay.launch.command import placeholders_in
from assay.records import BuildRecipe, Configuration, Parameter
from assay.requests.workload import BuildRequest
from assay.settings.value_text import format_value
from assay.units import parse_duration_s

_FAMILY = "build."


def build_request(
    argv: tuple[str, ...] | None, inputs: Sequence[str], timeout: str | None
) -> BuildRequest | None:
    """Return the requested build; ``None`` without a build command.

    Args:
        argv: words of the build command.
        inputs: source files and folders.
        timeout: time limit of a build, with its unit; ``None`` for the default.

    Raises:
        InvalidInputError: an input or a time limit without a command, or an invalid time.
    """
    if argv is None:
        for option, given in (("--build-input", inputs), ("--build-timeout", timeout)):
            if given:
                raise InvalidInputError(
                    f"{option} is given without --build.", "Give the command as well."
                )
        return None
    timeout_s = parse_quantity("--build-timeout", timeout, parse_duration_s) if timeout else None
    return BuildRequest(argv=argv, inputs=tuple(inputs), timeout_s=timeout_s)


def resolve_recipe(
    build: BuildRequest | None,
    argv: tuple[str, ...],
    parameters: Sequence[Parameter] = (),
    configurations: Sequence[Configuration] = (),
) -> BuildRecipe | None:
    """Return the recipe of a build; ``None`` without a build.

    Args:
        build: requested build.
        argv: command of the program.
        parameters: parameters of the space; their defaults are those of ``build.NAME``.
        configurations: named configurations.

    Raises:
        InvalidInputError: a placeholder without values, or values without a placeholder; a program
            outside of the output directory; a missing tool or input.
    """
    names = _names(parameters, configurations)
    if build is None:
        if names:
            raise no_command_error(names[0])
        return None
    defaults = {
        p.name.removeprefix(_FAMILY): format_value(p.default)
        for p in parameters
        if p.name.startswith(_FAMILY) and p.default is not None
    }
    recipe = recipe_of(
        build.argv,
        names,
        defaults,
        inputs=build.inputs,
        cwd=os.getcwd(),  # noqa: PTH109 - a path of the build, not one to work with
        limit_s=build.timeout_s,
    )
    _demand_used(argv, names, parameters, configurations)
    from assay.api.options.missing import demand_in_path

    for first in _first_words(build.argv, parameters, configurations):
        try:
            demand_in_path(first)
        except InvalidInputError as error:
            raise InvalidInputError(f"--build: {error.cause}", error.remedy) from error
    return recipe


def _names(
    parameters: Sequence[Parameter], configurations: Sequence[Configuration]
) -> tuple[str, ...]:
    """Return the placeholders with values, each once."""
    named = (*(p.name for p in parameters), *(name for one in configurations for name in one))
    own = (name.removeprefix(_FAMILY) for name in named if name.startswith(_FAMILY))
    return tuple(dict.fromkeys(own))


def _demand_used(
    argv: tuple[str, ...],
    names: Sequence[str],
    parameters: Sequence[Parameter],
    configurations: Sequence[Configuration],
) -> None:
    """Raise if the command does not run the program that is built."""
    if any(p.name == f"arg.{FOLDER}" for p in parameters) or any(
        f"arg.{FOLDER}" in one for one in configurations
    ):
        raise InvalidInputError(
            f"arg.{FOLDER} cannot be varied with --build: {{{FOLDER}}} is the output directory of "
            "the build.",
            "Give the placeholder another name.",
        )
    compared = (str(one["command"]) for one in configurations if "command" in one)
    held = placeholders_in((*argv, *compared))
    if FOLDER not in held:
        raise other_program_error()
    filled = {p.name for p in parameters}.union(*configurations)
    for name in names:
        if name in held and f"arg.{name}" not in filled:
            raise InvalidInputError(
                f"The program's command contains {{{name}}}, but build.{name} fills it in the "
                "command of --build only.",
                f"Vary it in the program's command too, as in arg.{name}=A,B, or give one of the "
                "two placeholders another name.",
            )


def other_program_error() -> InvalidInputError:
    """Return the error for a command that does not run the program that is built."""
    return InvalidInputError(
        f"The command contains no {{{FOLDER}}}, so that it would not run the program of --build.",
        f"Write the path of the built program, as in: -- '{{{FOLDER}}}/prog'",
    )


def _first_words(
    build: tuple[str, ...],
    parameters: Sequence[Parameter],
    configurations: Sequence[Configuration],
) -> Iterable[str]:
    """Return the possible programs of a build command, as far as they are known before a build."""
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
