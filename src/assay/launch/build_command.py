"""Build command: the command that builds a program, with the values of a configuration.

Pure: no file is read and no command is run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping

import msgspec

from assay.errors import InvalidInputError, nearest
from assay.records import Build, BuildRecipe, Plan, Workload

FOLDER = "build"
"""Placeholder for the folder of the build result."""
KEY_VERSION = 1
"""Version of the key format: results with another version are ignored."""
# A shell's own ${NAME} is left to it.
_PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z_][A-Za-z0-9_]*)\}")


def recipe_of(
    argv: tuple[str, ...],
    names: Iterable[str],
    defaults: Mapping[str, str],
    *,
    inputs: tuple[str, ...] = (),
    cwd: str | None = None,
    limit_s: float | None = None,
) -> BuildRecipe:
    """Return a recipe after a check that each placeholder of its command is declared.

    Args:
        argv: words of the build command.
        names: placeholders to which some configuration assigns a value.
        defaults: values for all other configurations; empty if absent.
        inputs, cwd, limit_s: see ``BuildRecipe``.

    Raises:
        InvalidInputError: a placeholder has no value, or a value has no placeholder.
    """
    used = {name for word in argv for name in _PLACEHOLDER.findall(word)} - {FOLDER}
    declared = set(names)
    for name in sorted(declared - used):
        near = nearest(name, tuple(used))
        raise InvalidInputError(
            f"build.{name} is set, but the build command has no placeholder {{{name}}}.",
            f"Did you mean build.{near}?" if near else f"Write {{{name}}} in the build command.",
        )
    for name in sorted(used - declared):
        near = nearest(name, tuple(declared))
        raise InvalidInputError(
            f"The placeholder {{{name}}} of the build command has no value.",
            f"Did you mean {{{near}}}?" if near else f"Set it, for example build.{name}=A,B.",
        )
    values = {name: defaults.get(name, "") for name in sorted(declared)}
    return BuildRecipe(argv=argv, values=values, inputs=inputs, cwd=cwd, timeout_s=limit_s)


def build_command(plan: Plan, workload: Workload) -> tuple[str, ...]:
    """Return the build command of a plan; ``{build}`` still stands for the folder.

    A value that replaces a whole word is split as a shell would split it (an empty value gives no
    word). Inside a word it is inserted unchanged.

    Returns:
        An empty command if the workload needs no build.

    Raises:
        InvalidInputError: ``build.NAME`` is set, but the build command or its placeholder is
            missing; or the command is empty.
    """
    given = _build_variables(plan)
    recipe = workload.build
    if recipe is None:
        for name in sorted(given):
            raise no_command_error(name)
        return ()
    for name in sorted(given.keys() - recipe.values.keys()):
        raise InvalidInputError(
            f"build.{name} is set, but the build command has no placeholder {{{name}}}.",
            "Remove the setting, or change the build command.",
        )
    values = build_values(plan, recipe)
    words = tuple(part for word in recipe.argv for part in _filled(word, values))
    if not words:
        raise InvalidInputError(
            "The build command is empty: all its values are empty.", "Name a compiler in it."
        )
    return words


def build_values(plan: Plan, recipe: BuildRecipe) -> dict[str, str]:
    """Return the value of each placeholder of a build command."""
    return {**recipe.values, **_build_variables(plan)}


def _build_variables(plan: Plan) -> dict[str, str]:
    return {a.name: a.value for a in plan.actions if isinstance(a, Build)}


def no_command_error(name: str) -> InvalidInputError:
    """Return the error for a build setting without a build command."""
    return InvalidInputError(
        f"build.{name} is set, but there is no build command.",
        f"Add one: --build 'cc {{{name}}} -o {{build}}/prog prog.c' -- '{{build}}/prog'",
    )


def _filled(word: str, values: Mapping[str, str]) -> list[str]:
    alone = _PLACEHOLDER.fullmatch(word)
    if alone and alone[1] in values:
        return shlex.split(values[alone[1]])
    return [_PLACEHOLDER.sub(lambda m: values.get(m[1], m[0]), word)]


def with_build_path(argv: Iterable[str], folder: str) -> tuple[str, ...]:
    """Return the command with a folder in the place of ``{build}``."""
    return tuple(
        _PLACEHOLDER.sub(lambda m: folder if m[1] == FOLDER else m[0], word) for word in argv
    )


def with_build_folder(workload: Workload, folder: str) -> Workload:
    """Return the workload with the program in a build folder."""
    return msgspec.structs.replace(
        workload, placeholders={**workload.placeholders, FOLDER: folder}, build=None
    )


def build_key(argv: tuple[str, ...], recipe: BuildRecipe, basis: Mapping[str, str]) -> str:
    """Return 64 hexadecimal digits that identify the result of a build.

    Args:
        argv: command that ``build_command`` returned.
        recipe: recipe with the working folder.
        basis: other inputs (digests of files, tools, the machine), by name.
    """
    import hashlib
    import json

    inputs = {"form": KEY_VERSION, "argv": argv, "cwd": recipe.cwd, "basis": dict(basis)}
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()
