"""Building: the command that builds a program, with a configuration's values in it.

Pure: nobody looks for files here, and nothing is run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping

import msgspec

from assay.errors import InvalidInputError, nearest
from assay.records import Build, Plan, Recipe, Workload

FOLDER = "build"
"""Name of the placeholder that stands for the folder with what is built."""
KEY_VERSION = 1
"""Of keys: builds of another form are not looked for."""
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
) -> Recipe:
    """A build command in which every placeholder is declared.

    Args:
        argv: its words.
        names: of the placeholders that some configuration gives a value.
        defaults: what stands for them elsewhere; nothing where absent.
        inputs, cwd, limit_s: as ``Recipe`` has them.

    Raises:
        InvalidInputError: a placeholder that nothing gives a value, or a value without a place.
    """
    used = {name for word in argv for name in _PLACEHOLDER.findall(word)} - {FOLDER}
    declared = set(names)
    for name in sorted(declared - used):
        near = nearest(name, tuple(used))
        raise InvalidInputError(
            f"build.{name} has no place in the build command: it holds no {{{name}}}.",
            f"Did you mean build.{near}?" if near else f"Write {{{name}}} where it belongs.",
        )
    for name in sorted(used - declared):
        near = nearest(name, tuple(declared))
        raise InvalidInputError(
            f"The build command holds {{{name}}}, and nothing gives it a value.",
            f"Did you mean {{{near}}}?" if near else f"Name its values, as in build.{name}=A,B.",
        )
    values = {name: defaults.get(name, "") for name in sorted(declared)}
    return Recipe(argv=argv, values=values, inputs=inputs, cwd=cwd, limit_s=limit_s)


def build_command(plan: Plan, workload: Workload) -> tuple[str, ...]:
    """The words that build the program of a plan; ``{build}`` still stands for the folder.

    A value that is a whole word of the command gives as many words as a shell would read in it,
    none where it is empty; within a word it is put as it is.

    Returns:
        Nothing where the workload is not built.

    Raises:
        InvalidInputError: ``build.NAME`` is set, but there is no build command, or no place in it; or the
            command comes out empty.
    """
    given = _given(plan)
    recipe = workload.build
    if recipe is None:
        for name in sorted(given):
            raise no_command_error(name)
        return ()
    for name in sorted(given.keys() - recipe.values.keys()):
        raise InvalidInputError(
            f"build.{name} has no place in the build command: it holds no {{{name}}}.",
            "Leave it out, or build with another command.",
        )
    values = build_values(plan, recipe)
    words = tuple(part for word in recipe.argv for part in _filled(word, values))
    if not words:
        raise InvalidInputError(
            "The build command holds no word: its values are empty.", "Name a compiler in it."
        )
    return words


def build_values(plan: Plan, recipe: Recipe) -> dict[str, str]:
    """Return what stands for each placeholder of a build command, by name."""
    return {**recipe.values, **_given(plan)}


def _given(plan: Plan) -> dict[str, str]:
    return {a.name: a.value for a in plan.actions if isinstance(a, Build)}


def no_command_error(name: str) -> InvalidInputError:
    """What is told where a value of a build has nothing that builds."""
    return InvalidInputError(
        f"build.{name} is set, but there is no build command.",
        f"Give it: --build 'cc {{{name}}} -o {{build}}/prog prog.c' -- '{{build}}/prog'",
    )


def _filled(word: str, values: Mapping[str, str]) -> list[str]:
    alone = _PLACEHOLDER.fullmatch(word)
    if alone and alone[1] in values:
        return shlex.split(values[alone[1]])
    return [_PLACEHOLDER.sub(lambda m: values.get(m[1], m[0]), word)]


def with_build_path(argv: Iterable[str], folder: str) -> tuple[str, ...]:
    """The words with a folder in the place of ``{build}``."""
    return tuple(
        _PLACEHOLDER.sub(lambda m: folder if m[1] == FOLDER else m[0], word) for word in argv
    )


def with_build_folder(workload: Workload, folder: str) -> Workload:
    """The workload with the program that lies in a folder."""
    return msgspec.structs.replace(
        workload, placeholders={**workload.placeholders, FOLDER: folder}, build=None
    )


def build_key(argv: tuple[str, ...], recipe: Recipe, basis: Mapping[str, str]) -> str:
    """64 hexadecimal digits that name what a build makes.

    Args:
        argv: the command as ``build_command`` gives it.
        recipe: says where it runs.
        basis: what else it hangs on (digests of files, tools, the machine), by name.
    """
    import hashlib
    import json

    told = {"form": KEY_VERSION, "argv": argv, "cwd": recipe.cwd, "basis": dict(basis)}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
