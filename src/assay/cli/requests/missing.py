"""Missing: a command that cannot be started, and why."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from assay.errors import InvalidInputError
from assay.launch.build_command import FOLDER
from assay.machine.program import find_program
from assay.machine.root import Root

_PATH = "Give its path, or see that it lies in PATH and may be executed."
_INTERPRETERS = {".py": "python3", ".sh": "sh", ".bash": "bash", ".pl": "perl", ".rb": "ruby"}
"""Of scripts that say by their names what they are written in."""
_HEAD_BYTES = 128


def demand_found(program_path: str | None, word: str) -> None:
    """Refuse a command that does not exist or may not be executed.

    Raises:
        InvalidInputError: says which of the two.
    """
    if program_path is None:
        raise missing(word)


def demand_in_path(word: str) -> None:
    """The same for a command that is only to be started, whatever it runs in the end.

    Raises:
        InvalidInputError: it does not exist, or may not be executed.
    """
    cwd = os.getcwd()  # noqa: PTH109 - as execvp(3) takes it
    demand_found(find_program(Root(), word, os.environ, cwd), word)


def missing(word: str) -> InvalidInputError:
    """Why the first word of a command cannot be started."""
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
            "Write its words apart, or add --shell to run it through bash.",
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
            f"The command {word!r} may not be executed by you.",
            f"See `ls -l {shlex.quote(path)}` and whether its file system is mounted noexec; or "
            f"name its interpreter, as in `{_interpreter(place)} {shlex.quote(path)}`.",
        )
    return InvalidInputError(
        f"The command {word!r} is there, but it is not executable.",
        f"`chmod +x {shlex.quote(path)}`, or name its interpreter, as in "
        f"`{_interpreter(place)} {shlex.quote(path)}`.",
    )


def _interpreter(place: Path) -> str:
    """What its first line names, else what its name tells."""
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
