"""Asked: which data and how many threads a case is to have."""

from __future__ import annotations

import argparse

from assay.errors import BadInput

USUAL_SIZE = "L2"


def data_words(arguments: argparse.Namespace) -> tuple[str, ...]:
    """The words of a kernel's command line that say which data.

    Raises:
        BadInput: a word that says nothing.
    """
    words = ["--size", arguments.size or USUAL_SIZE]
    for text in arguments.values:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise BadInput(
                f"{text!r} says nothing of the work.",
                f"Write PARAMETER=N: `assay case show {arguments.name}` names the parameters.",
            )
        words += [f"--{name}", value]
    return tuple(words)


def thread_words(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Those that say how many threads; none where it is left to OpenMP."""
    return ("--threads", arguments.threads) if arguments.threads else ()
