"""Entry point: parse, dispatch, and turn errors into messages and exit statuses."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from assay.cli.parser import parse

if TYPE_CHECKING:
    from types import FrameType

    from assay.cli.parser import Parsed

OWN_ERROR = 125
"""Exit status of ``run`` for assay's own errors, as env(1) and docker have it."""


class Terminated(BaseException):
    """SIGTERM or SIGHUP arrived."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def entry() -> NoReturn:
    """The ``assay`` command."""
    sys.exit(main(sys.argv[1:]))


def main(words: Sequence[str]) -> int:
    """Run one command line; gives the exit status."""
    parsed = parse(words)
    verb: str = parsed.arguments.verb
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _terminate)
    module = importlib.import_module(f"assay.cli.verbs.{verb}")
    run: Callable[[Parsed], int] = module.run
    from assay.errors import AssayError

    try:
        status = run(parsed)
        sys.stdout.flush()
    except AssayError as error:
        print(f"assay: {_clean(str(error))}", file=sys.stderr)
        return OWN_ERROR if verb == "run" else error.exit_status
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Terminated as termination:
        return 128 + termination.number
    except BrokenPipeError:
        # Whoever read our output has gone; the interpreter must not complain at its own end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        print(f"assay: {error.strerror or error}: {error.filename or ''}", file=sys.stderr)
        return OWN_ERROR if verb == "run" else 3
    return status


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated(number)


def _clean(text: str) -> str:
    """Without control characters: messages may quote what a program wrote."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
