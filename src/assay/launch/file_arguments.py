"""Words of a command that may name input files. Pure: the file system is not read."""

from __future__ import annotations

import shlex

_MIN_SHELL_WORDS = 3
"""Length of a shell command in words: the shell, its option, the text."""
_SHELLS = (("sh", "-c"), ("bash", "-c"), ("dash", "-c"))


def file_words(argv: tuple[str, ...], stdin: str | None = None) -> tuple[str, ...]:
    """Return the words that may name files: arguments, values behind ``=``, and the input.

    The words of a shell command are included. The program itself is omitted: it is found in
    ``PATH``.
    """
    words: list[str] = []
    for word in (*argv[1:], *_within_shell(argv)):
        words += [word, word.partition("=")[2]]
    return tuple(dict.fromkeys(word for word in (*words, stdin) if word))


def _within_shell(argv: tuple[str, ...]) -> list[str]:
    if len(argv) < _MIN_SHELL_WORDS or (argv[0].rsplit("/", 1)[-1], argv[1]) not in _SHELLS:
        return []
    lexer = shlex.shlex(argv[2], posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return []
