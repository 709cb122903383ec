"""Entry point: parse, dispatch, and turn errors into messages and exit statuses."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from assay.cli.ending import Terminated, end_at_once
from assay.cli.parser import parse

if TYPE_CHECKING:
    from assay.cli.parser import Parsed

OWN_ERROR = 125
"""Exit status of ``run`` for assay's own errors, as env(1) and docker have it."""

LINES = "\n"
"""What stays of the control characters in a message, which may quote what a program wrote."""

FAULT = 70
"""Exit status for a fault in assay itself (EX_SOFTWARE of sysexits.h)."""


def entry() -> NoReturn:
    """The ``assay`` command."""
    end_at_once()
    sys.exit(main(sys.argv[1:]))


def main(words: Sequence[str]) -> int:
    """Run one command line; gives the exit status."""
    try:
        return _dispatch(words)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Terminated as termination:
        return 128 + termination.number
    except BrokenPipeError:
        # Whoever read our output has gone; the interpreter must not complain at its own end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


def _dispatch(words: Sequence[str]) -> int:
    parsed = _parsed(words)
    verb: str = parsed.arguments.verb
    module = importlib.import_module(f"assay.cli.verbs.{verb}")
    run: Callable[[Parsed], int] = module.run
    from assay.errors import AssayError
    from assay.untrusted import clean

    try:
        _demand_text(words)
        status = run(parsed)
        sys.stdout.flush()
    except AssayError as error:
        print(f"assay: {clean(str(error), LINES)}", file=sys.stderr)
        return OWN_ERROR if verb == "run" else error.exit_status
    except BrokenPipeError:
        raise
    except OSError as error:
        place = f": {error.filename}" if error.filename else ""
        print(f"assay: {clean(f'{error.strerror or error}{place}', LINES)}", file=sys.stderr)
        return OWN_ERROR if verb == "run" else 3
    except Exception as error:
        if parsed.arguments.verbose:
            raise
        fault = clean(f"{type(error).__name__}: {error}", LINES)
        print(
            f"assay: a fault in assay itself: {fault}\n"
            "  What was measured is kept. Run it again with -v to see where, and report that.",
            file=sys.stderr,
        )
        return OWN_ERROR if verb == "run" else FAULT
    return status


def _parsed(words: Sequence[str]) -> Parsed:
    """The parsed line; a wrong one of ``run`` ends with its own status, as its other errors."""
    try:
        return parse(words)
    except SystemExit as end:
        if end.code and list(words[:1]) == ["run"]:
            raise SystemExit(OWN_ERROR) from end
        raise


def _demand_text(words: Sequence[str]) -> None:
    """Plans and studies are JSON, which holds text only.

    Raises:
        BadInput: bytes that are not UTF-8.
    """
    from assay.errors import BadInput

    for word in words:
        if not word.isascii() and any("\ud800" <= letter <= "\udfff" for letter in word):
            raise BadInput(
                f"The command line holds bytes that are not UTF-8: '{word}'.",
                "Rename the file, or put the command into a script.",
            )
