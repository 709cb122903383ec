"""Command words: commands as they are written on a command line."""

from __future__ import annotations

import re
import shlex

from assay.errors import InvalidInputError
from assay.records.shell import SIGPIPE_TRAP

QUOTED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.""", re.DOTALL)
"""Text that a POSIX shell takes literally: quoted, or a character after a backslash."""
COMPOUND = frozenset(
    [
        "if",
        "while",
        "until",
        "for",
        "case",
        "select",
        "function",
        "time",
        "coproc",
        "exec",
        "set",
        "!",
        "[[",
    ]
)
"""Words that begin a compound command, or change the shell."""
SHELL_ONLY = "|<>;&"
SHELL_HINT = "Add --shell"


def split_command(text: str, *, shell: bool) -> tuple[str, ...]:
    """Return the words of a command that is written as one text.

    Raises:
        InvalidInputError: no words, unbalanced quotes, or shell syntax without ``--shell``.
    """
    if shell:
        return through_shell(text)
    words = words_of(text)
    for quoted in QUOTED.sub("", text):
        if quoted in SHELL_ONLY:
            raise InvalidInputError(
                f"{text!r} holds an unquoted {quoted}, which only a shell understands.",
                f"{SHELL_HINT} to run it through bash, or quote it.",
            )
    if not words:
        raise InvalidInputError("The command is missing.", "Write the program and its arguments.")
    return tuple(words)


def words_of(text: str) -> list[str]:
    """Split a text into POSIX words.

    Raises:
        InvalidInputError: unbalanced quotes.
    """
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InvalidInputError(
            f"{text!r} cannot be split into words: {error}.", "Close its quotes."
        ) from error


def command_of(command: tuple[str, ...], *, separated: bool, shell: bool) -> tuple[str, ...]:
    """Return the words after ``--``, as they are launched.

    Raises:
        InvalidInputError: the command is missing, or has several words for a shell.
    """
    if not separated or not command or not command[0]:
        raise InvalidInputError("The command is missing.", "Write it after `--`, as in: -- ./app")
    if shell and len(command) > 1:
        # Joined, sh -c 'sleep 1; true' would lose its quotes, and be another command.
        raise InvalidInputError(
            f"--shell takes the command as one text, and these are {len(command)} words.",
            "Quote the whole of it, as in: --shell -- './app | tee log'; or leave out --shell.",
        )
    return through_shell(command[0]) if shell else command


def through_shell(text: str) -> tuple[str, ...]:
    """Return the words that run a text in bash, with ``pipefail``, or in ``sh`` without bash.

    A pipeline fails then if any of its commands fails. If the text is a single pipeline, a command
    that ends because a later one stops reading (SIGPIPE) counts as successful. Within a longer text
    that status determines the next command, and remains unchanged.
    """
    from shutil import which  # a run without a shell need not load it

    bash = which("bash")
    if bash is None:
        return ("/bin/sh", "-c", text)
    return (bash, "-o", "pipefail", "-c", SIGPIPE_TRAP + text if _is_pipeline(text) else text)


def _is_pipeline(text: str) -> bool:
    """Return whether a text is several simple commands, joined by ``|`` alone."""
    bare = QUOTED.sub("_", text.strip())
    commands = re.split(r"\|&?", bare)
    return (
        len(commands) > 1
        and all(command.strip() for command in commands)
        and not re.search(r"[;&\n(){}`]", re.sub(r"\d*[<>]&\d|&>>?|\|&", "", bare))
        and not any(command.split()[0] in COMPOUND for command in commands)
    )


def build_words(text: str | None, shell: bool | None) -> tuple[str, ...] | None:
    """Return the words of ``--build``; ``None`` without the option.

    Args:
        text: value of the option.
        shell: the commands are texts for a shell; ``None`` if the verb has no such option.

    Raises:
        InvalidInputError: an invalid command.
    """
    if text is None:
        return None
    try:
        return split_command(text, shell=bool(shell))
    except InvalidInputError as error:
        cause = f"--build: {error.cause}"
        if shell is not None or SHELL_HINT not in (error.remedy or ""):
            raise InvalidInputError(cause, error.remedy) from error
        raise InvalidInputError(cause, "Write it as: --build \"sh -c '...'\"") from error
