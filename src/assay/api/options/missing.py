"""Errors on commands that cannot be started."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from assay.errors import InvalidInputError
from assay.launch.build_command import FOLDER
from assay.machine.programs.program import find_program
from assay.machine.root import Root

_PATH = "Give its path, or make sure that it is in PATH and executable."
_INTERPRETERS = {".py": "python3", ".sh": "sh", ".bash": "bash", ".pl": "perl", ".rb": "ruby"}
"""Interpreters of scripts, by suffix."""
_HEAD_BYTES = 128


def demand_found(program_path: str | None, word: str) -> None:
    """Raise if a command does not exist or is not executable.

    Args:
        program_path: path of the program; ``None`` if it was not found.
        word: first word of the command, for the error.

    Raises:
        InvalidInputError: the program was not found; names the reason.
    """
    if program_path is None:
        raise missing_program_error(word)


def demand_in_path(word: str) -> None:
    """Raise if the first word of a command cannot be started.

    Raises:
        InvalidInputError: the program does not exist, or is not executable.
    """
    cwd = os.getcwd()  # noqa: PTH109 - as execvp(3) takes it
    demand_found(find_program(Root(), word, os.environ, cwd), word)


def missing_program_error(word: str) -> InvalidInputError:
    """Return the error on a program that cannot be started, with its reason."""
    place = Path(word)
    if f"{{{FOLDER}}}" in word:
        return InvalidInputError(
            f"The command {word!r} was not found: {{{FOLDER}}} stands for a folder only with "
            "--build.",
            "Give a command that builds the program into it (--build).",
        )
    if any(letter.isspace() for letter in word) and not place.exists():
        return InvalidInputError(
            f"The command {word!r} was not found.",
            "Write its words as separate arguments, or add --shell to run it through bash.",
        )
    if place.is_dir() and "/" in word:
        return InvalidInputError(f"The command {word!r} is a folder.", "Name a program in it.")
    if not place.is_file():
        return InvalidInputError(f"The command {word!r} was not found.", _PATH)
    path = word if "/" in word else f"./{word}"
    if os.access(place, os.X_OK):
        return InvalidInputError(
            f"The command {word!r} was not found in PATH; a file of this name is in this folder.",
            f"Write {path} to run that.",
        )
    if place.stat().st_mode & 0o111:
        return InvalidInputError(
            f"You may not execute the command {word!r}.",
            f"Check `ls -l {shlex.quote(path)}`, and whether its file system is mounted noexec; or "
            f"name its interpreter, as in `{_interpreter(place)} {shlex.quote(path)}`.",
        )
    return InvalidInputError(
        f"The command {word!r} is there, but it is not executable.",
        f"`chmod +x {shlex.quote(path)}`, or name its interpreter, as in "
        f"`{_interpreter(place)} {shlex.quote(path)}`.",
    )


def _interpreter(place: Path) -> str:
    """Return the interpreter of a script, from its first line or its suffix."""
    try:
        with place.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        head = b""
    if head.startswith(b"#!"):
        words = head[2:].partition(b"\n")[0].decode(errors="replace").split()
        if words and words[0].endswith("/env") and len(words) > 1:
            words = words[1:]
        if words:
            return words[0].rpartition("/")[2]
    return _INTERPRETERS.get(place.suffix, "python3")
