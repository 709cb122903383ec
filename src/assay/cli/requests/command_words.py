"""Command words: commands as they are written on a command line."""

from __future__ import annotations

import argparse
import re
import shlex

from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError
from assay.records.shell import SIGPIPE_TRAP

LAUNCHING = frozenset({"run", "measure", "compare", "sweep", "tune"})
"""Verbs that take a command after ``--``."""
ACTIONS = frozenset({("study", "calibrate"), ("tier", "run"), ("tier", "predict")})
"""Actions of other verbs that do."""
QUOTED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.""", re.DOTALL)
"""What a POSIX shell takes as it is: quoted text, or a character behind a backslash."""
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
"""Words that begin more than a simple command, or change the shell."""
SHELL_ONLY = "|<>;&"
SHELL_HINT = "Add --shell"


def split_command(text: str, *, shell: bool) -> tuple[str, ...]:
    """The words of a command that was given as one text.

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
        raise InvalidInputError("There is no command.", "Write the program and its arguments.")
    return tuple(words)


def words_of(text: str) -> list[str]:
    """A text split as POSIX words.

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
    """The words after ``--``, as they will be run.

    Raises:
        InvalidInputError: there are none, or several for a shell, which reads one text.
    """
    if not separated or not command or not command[0]:
        raise InvalidInputError("There is no command.", "Write it after `--`, as in: -- ./app")
    if shell and len(command) > 1:
        # Joined, sh -c 'sleep 1; true' would lose its quotes, and be another command.
        raise InvalidInputError(
            f"--shell takes the command as one text, and these are {len(command)} words.",
            "Quote the whole of it, as in: --shell -- './app | tee log'; or leave out --shell.",
        )
    return through_shell(command[0]) if shell else command


def through_shell(text: str) -> tuple[str, ...]:
    """Return the words that run a text in bash, with ``pipefail``, or in ``sh`` without bash.

    A pipeline fails then if any of its commands does. Where the text is one pipeline, a command
    that ends because a later one reads no further (SIGPIPE) has not failed. Within a longer text
    that status decides what runs next, so that it stays what it is.
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


def demand_no_command(parsed: Parsed) -> None:
    """Refuse words after ``--`` where nothing is launched: what they ask for would be left undone.

    Raises:
        InvalidInputError: there are some.
    """
    words = parsed.arguments
    launches = words.verb in LAUNCHING or (words.verb, getattr(words, "action", None)) in ACTIONS
    if parsed.separated and not launches:
        told = " ".join(filter(None, (words.verb, getattr(words, "action", None))))
        raise InvalidInputError(
            f"`assay {told}` launches nothing, and takes no words after --.",
            "Leave out -- and what stands after it, or write it in front.",
        )


def build_words(arguments: argparse.Namespace) -> tuple[str, ...] | None:
    """The command of ``--build``, as ``--shell`` says how it is read, where a verb has that.

    Raises:
        InvalidInputError: it cannot be read.
    """
    if arguments.build is None:
        return None
    shell = getattr(arguments, "shell", None)
    try:
        return split_command(arguments.build, shell=bool(shell))
    except InvalidInputError as error:
        cause = f"--build: {error.cause}"
        if shell is not None or SHELL_HINT not in (error.remedy or ""):
            raise InvalidInputError(cause, error.remedy) from error
        raise InvalidInputError(cause, "Write it as: --build \"sh -c '...'\"") from error
