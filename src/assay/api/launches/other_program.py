"""Comparison of the program of a command with that of a study."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.machine.programs.command import base_name

_INTERPRETERS = re.compile(r"(python|pypy|perl|ruby|lua|node|julia|bash|dash|ksh|zsh)[0-9.]*|sh")


def different_names(studied: Sequence[str], requested: Sequence[str]) -> tuple[str, str] | None:
    """Return the names of two programs if they differ; ``None`` if they are equal.

    Arguments and folders are ignored: a recommendation is often used for other input.

    Args:
        studied: command of the study.
        requested: command to run.
    """
    names = program_name(studied), program_name(requested)
    return names if names[0] != names[1] else None


def program_name(argv: Sequence[str]) -> str:
    """Return the name of a program, or of the script of an interpreter, without its folder.

    Args:
        argv: the command.
    """
    name = base_name(argv[0])
    if not _INTERPRETERS.fullmatch(name) or any(word.startswith("-") for word in argv[1:2]):
        return name
    return " ".join([name, *map(base_name, argv[1:2])])
