"""Entry point: parses and dispatches, and turns errors into messages and exit statuses."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from assay.cli.parsing.parser import parse
from assay.cli.process.streams import discard_streams, open_streams
from assay.cli.process.termination import Terminated, terminate_at_once
from assay.errors import NotPossibleError

if TYPE_CHECKING:
    from assay.cli.arguments.common import CommonOptions
    from assay.cli.parsing.parser import Parsed
    from assay.root_helper.helper import RootHelper

OWN_ERROR = 125
"""Exit status of ``run`` for errors of assay, the same as that of env(1) and docker."""

KEPT_CONTROLS = "\n"
"""Control characters that remain in a message, which may quote the output of a program."""

INTERNAL_ERROR = 70
"""Exit status after an internal error of assay (EX_SOFTWARE of sysexits.h)."""


def entry() -> NoReturn:
    """Run the ``assay`` command."""
    terminate_at_once()
    open_streams()
    try:
        sys.exit(main(sys.argv[1:]))
    finally:
        terminate_at_once()
        discard_streams()


def main(words: Sequence[str]) -> int:
    """Run one command line, and return its exit status."""
    try:
        return _dispatch(words)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Terminated as termination:
        return 128 + termination.number
    except BrokenPipeError:  # the reader of the output has ended
        return 128 + signal.SIGPIPE


def _dispatch(words: Sequence[str]) -> int:
    parsed = _parsed(words)
    transparent = _is_transparent((parsed.verb, parsed.action))
    from assay.cli.arguments.common import common_options, demand_no_command
    from assay.cli.process.descriptors import demand_descriptors
    from assay.errors import AssayError, StudyPaused

    options = common_options(parsed)
    helper = None
    try:
        demand_descriptors()
        helper = _root_helper(parsed, options)
        parsed = parsed._replace(helper=helper)
        module = importlib.import_module(f"assay.cli.verbs.{parsed.verb}")
        run: Callable[[Parsed], int] = module.run
        demand_no_command(parsed)
        try:
            status = run(parsed)
        except StudyPaused as pause:
            from assay.cli.arguments.boot import pause_reboot_argv
            from assay.cli.boot_pauses import report_pause

            status = report_pause(pause, pause_reboot_argv(parsed), json=options.json)
        sys.stdout.flush()
    except AssayError as error:
        _print_error(str(error))
        return OWN_ERROR if transparent else error.exit_status
    except BrokenPipeError:
        raise
    except OSError as error:
        _print_error(_message_of(error))
        return OWN_ERROR if transparent else 3
    except Exception as error:
        if options.verbose:
            raise
        _print_error(
            f"internal error: {type(error).__name__}: {error}\n"
            "  All measurements are kept. Run the command with -v, and report the traceback."
        )
        return OWN_ERROR if transparent else INTERNAL_ERROR
    finally:
        if helper is not None:
            helper.close()
    return status


def _root_helper(parsed: Parsed, options: CommonOptions) -> RootHelper | None:
    """Give up root privileges under sudo, and return the helper that keeps them.

    See ``assay.cli.process.privileges``.
    """
    if os.geteuid() != 0 or "SUDO_UID" not in os.environ or options.as_root:
        return None
    from assay.cli.process.privileges import separate_privileges

    return separate_privileges(parsed.verb, parsed.action, os.environ, quiet=options.quiet)


def _print_error(text: str) -> None:
    """Print an error; without error output the exit status alone reports it."""
    from assay.untrusted import clean

    with contextlib.suppress(OSError):
        print(f"assay: {clean(text, KEPT_CONTROLS)}", file=sys.stderr)


def _message_of(error: OSError) -> str:
    """Return the message for an unexpected error of the operating system."""
    from assay.cli.process.descriptors import descriptor_error

    if (found := descriptor_error(error)) is not None:
        return str(found)
    if (
        isinstance(error, FileNotFoundError)
        and error.filename is None
        and not _has_working_directory()
    ):
        return "The working directory no longer exists.\n  Change to another one."
    place = f": {error.filename}" if error.filename else ""
    return f"{error.strerror or error}{place}"


def _has_working_directory() -> bool:
    try:
        os.stat(os.getcwd())  # noqa: PTH109, PTH116 - asks the kernel
    except OSError:
        return False
    return True


def _parsed(words: Sequence[str]) -> Parsed:
    """Return the parsed line; usage errors of ``run`` exit with the status of its other errors."""
    try:
        return parse(words)
    except NotPossibleError as error:  # the help or version cannot be written
        _print_error(str(error))
        raise SystemExit(OWN_ERROR if _is_transparent(words) else error.exit_status) from error
    except SystemExit as end:
        if end.code and _is_transparent(words):
            raise SystemExit(OWN_ERROR) from end
        raise


def _is_transparent(words: Sequence[str]) -> bool:
    """Return whether the exit status is that of the launched program."""
    return list(words[:1]) == ["run"] or list(words[:2]) == ["tier", "run"]
