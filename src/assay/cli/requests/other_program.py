"""Other programs: a command that is run as a study of something else recommends."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.machine.command import base_name

_INTERPRETERS = re.compile(r"(python|pypy|perl|ruby|lua|node|julia|bash|dash|ksh|zsh)[0-9.]*|sh")


def named_otherwise(studied: Sequence[str], asked: Sequence[str]) -> tuple[str, str] | None:
    """Return the names of two programs, where a study looked at another than is to run.

    Arguments may differ: a recommendation is often used for other input. Folders may as well.

    Args:
        studied: command of the study.
        asked: command that is to run.
    """
    names = program_name(studied), program_name(asked)
    return names if names[0] != names[1] else None


def program_name(argv: Sequence[str]) -> str:
    """Return the name of a program without its folder; of an interpreter that of its script.

    Args:
        argv: the command.
    """
    name = base_name(argv[0])
    if not _INTERPRETERS.fullmatch(name) or any(word.startswith("-") for word in argv[1:2]):
        return name
    return " ".join([name, *map(base_name, argv[1:2])])
