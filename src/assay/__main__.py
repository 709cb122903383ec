"""``assay``, and ``python -m assay``.

Ctrl-C is to end the process without a traceback from its first moments on. So next to nothing is
loaded before that is seen to, not even ``__future__``; what the interpreter loads before it begins
this is out of reach.
"""

import sys

TYPE_CHECKING = False
"""As ``typing`` has it, which takes long to load."""

if TYPE_CHECKING:
    from types import TracebackType


def entry() -> None:
    """The ``assay`` command."""
    sys.excepthook = _without_interrupts
    from assay.cli.ending import end_at_once

    end_at_once()
    from assay.cli.main import entry as command_line

    command_line()


def _without_interrupts(
    kind: type[BaseException], error: BaseException, trace: "TracebackType | None"
) -> None:
    """Show an exception that nobody caught; Python ends by the signal behind an interrupt."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


if __name__ == "__main__":
    entry()
