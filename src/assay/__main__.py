"""Entry point of ``assay`` and ``python -m assay``.

Ctrl-C must end the process without a traceback from its first moments on. Therefore hardly any
module is loaded before the handlers are installed, not even ``__future__``. Modules that the
interpreter loads before this one are out of reach.
"""

import os
import sys

TYPE_CHECKING = False
"""Substitute for ``typing.TYPE_CHECKING``, since ``typing`` takes long to load."""

if TYPE_CHECKING:
    from types import TracebackType


def entry() -> None:
    """Run the ``assay`` command."""
    sys.excepthook = _without_interrupts
    sys.path[:] = own_modules_first(sys.path, os.environ.get("PYTHONPATH", ""), here())
    from assay.cli.process.termination import terminate_at_once

    terminate_at_once()
    from assay.cli.process.locale_bytes import ensure_utf8_mode, undo_locale_coercion

    ensure_utf8_mode()
    undo_locale_coercion()
    from assay.cli.main import entry as command_line

    command_line()


def own_modules_first(path: "list[str]", variable: str, folder: str) -> "list[str]":
    """Return a search path on which assay's own Python comes before modules of the user.

    ``PYTHONPATH`` is for the programs that assay starts. A ``json.py`` there, or NumPy for another
    Python, would otherwise run inside assay. The variable itself stays as it is. Where assay itself
    is found through it, the variable is a part of assay's installation, and nothing is moved.

    Args:
        path: ``sys.path``.
        variable: value of ``PYTHONPATH``.
        folder: current working folder, which ``python -m`` puts first.
    """

    # pathlib takes long to load, and abspath fails in a removed folder.
    def whole(one: str) -> str:
        return os.path.normpath(os.path.join(folder, one))  # noqa: PTH118

    users = {whole(one) for one in variable.split(os.pathsep)} if variable else set()
    users.add(whole(""))
    if whole(os.path.dirname(os.path.dirname(__file__))) in users:  # noqa: PTH120
        return path
    return sorted(path, key=lambda one: whole(one) in users)


def here() -> str:
    """Return the current working folder; an empty text if it was removed."""
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return ""


def _without_interrupts(
    kind: type[BaseException], error: BaseException, trace: "TracebackType | None"
) -> None:
    """Show an uncaught exception; Python ends by the signal behind an interrupt."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


if __name__ == "__main__":
    entry()
