"""Places that show the progress of a study: a notebook, a terminal, or none."""

from __future__ import annotations

import html
import os
import sys
from typing import Any, Protocol

from assay.untrusted import clean

BAR_CHARACTERS = 20
DEFAULT_COLUMNS = 80
"""Width of a terminal that does not state it."""


class Display(Protocol):
    """Place of one line that is updated."""

    def show(self, share: float | None, text: str) -> None:
        """Replace the line.

        Args:
            share: spent share of the budget, from 0 to 1; ``None`` if unknown.
            text: state in words.
        """
        ...

    def close(self) -> None:
        """Remove the line."""
        ...


class TerminalDisplay:
    """Line on error output of a terminal."""

    def show(self, share: float | None, text: str) -> None:
        """See ``Display.show``."""
        width = max(20, _columns() - 1)
        line = f"{_bar(share)} {clean(text)}" if share is not None else clean(text)
        print(f"\r\x1b[2K{line[:width]}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """See ``Display.close``."""
        print("\r\x1b[2K", end="", file=sys.stderr, flush=True)


class NotebookDisplay:
    """Output of a notebook that is updated in place.

    Args:
        display: ``IPython.display.display``.
    """

    def __init__(self, display: Any) -> None:
        self._handle = display(_Line("", ""), display_id=True)

    def show(self, share: float | None, text: str) -> None:
        """See ``Display.show``."""
        value = "" if share is None else f' value="{min(1.0, share):.3f}"'
        words = html.escape(clean(text))
        markup = f'<progress max="1"{value} style="vertical-align:middle"></progress> {words}'
        plain = f"{_bar(share)} {clean(text)}" if share is not None else clean(text)
        self._handle.update(_Line(markup, plain))

    def close(self) -> None:
        """See ``Display.close``."""
        self._handle.update(_Line("", ""))


class _Line:
    """Line as HTML, and as text for front ends without HTML."""

    def __init__(self, markup: str, plain: str) -> None:
        self._markup, self._plain = markup, plain

    def _repr_html_(self) -> str:
        return self._markup

    def __repr__(self) -> str:
        return self._plain


class NoDisplay:
    """Display that shows nothing."""

    def show(self, share: float | None, text: str) -> None:
        """See ``Display.show``."""

    def close(self) -> None:
        """See ``Display.close``."""


def find_display() -> Display:
    """Return the display of this process: a notebook, a terminal, or none."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    if shell is not None and getattr(shell, "kernel", None) is not None:
        from IPython.display import display

        return NotebookDisplay(display)
    if sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return TerminalDisplay()
    return NoDisplay()


def _bar(share: float | None) -> str:
    full = round((share or 0.0) * BAR_CHARACTERS)
    return f"[{'#' * full}{'.' * (BAR_CHARACTERS - full)}]"


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or DEFAULT_COLUMNS
    except (OSError, ValueError):
        return DEFAULT_COLUMNS
