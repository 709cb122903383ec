"""Display of the progress of a study in a notebook or on a terminal.

The display is updated at most once a second, since it uses time of the CPUs of the program.
"""

from __future__ import annotations

import html
import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol

from assay.api.observer import Observer
from assay.api.process import AssayWarning
from assay.errors import AssayError
from assay.records import Budget, Launch, Sample, StudySpec
from assay.search.races.race import Race
from assay.study.listener import Listener, SilentListener
from assay.units import show_count, show_duration
from assay.untrusted import clean
from assay.wording.stages import STAGE_NAMES

REFRESH_INTERVAL_S = 1.0
"""Shortest interval between two updates, in seconds."""
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


class ProgressBar(SilentListener):
    """Listener of a study that updates a display.

    Args:
        display: place of the line.
        spec: specification of the study.
        launches: number of earlier launches.
    """

    def __init__(self, display: Display, spec: StudySpec, launches: int) -> None:
        self._display = display
        self._budget = spec.budget
        self._launches = launches
        self._shown_s = -float("inf")
        self.study_id: str | None = None

    def started(self, study_id: str) -> None:
        """See ``Listener.started``."""
        self.study_id = study_id

    def warned(self, error: AssayError) -> None:
        """See ``Listener.warned``."""
        warnings.warn(str(error), AssayWarning, stacklevel=2)

    def launching(self, launch: Launch, left: Budget) -> None:
        """See ``Listener.launching``."""
        now_s = time.monotonic()
        if now_s - self._shown_s < REFRESH_INTERVAL_S:
            return
        self._shown_s = now_s
        parts = [STAGE_NAMES[launch.stage], show_count(self._launches, "launch", "launches")]
        if left.time_s is not None:
            parts.append(f"{show_duration(max(0, round(left.time_s)))} left")
        elif left.launches is not None:
            parts.append(f"{max(0, left.launches)} left")
        self._display.show(_spent(self._budget, left), ", ".join(parts))

    def building(self, argv: tuple[str, ...]) -> AbstractContextManager[None]:
        """See ``Listener.building``."""
        self._display.show(None, "building the program")
        return nullcontext()

    def sampled(self, sample: Sample, race: Race, left: Budget) -> None:
        """See ``Listener.sampled``."""
        self._launches += 1


class NotebookObserver(Observer):
    """Observer of the public functions: announcements are warnings, progress is a bar.

    Args:
        visible: whether to show the progress.

    Attributes:
        study_id: id of the study; ``None`` before it begins.
        launches: number of launches so far.
    """

    def __init__(self, *, visible: bool) -> None:
        self._visible = visible
        self._bar: ProgressBar | None = None

    @property
    def study_id(self) -> str | None:
        """Return the id of the study; ``None`` before it begins."""
        return self._bar.study_id if self._bar is not None else None

    def noted(self, text: str) -> None:
        """See ``Observer.noted``."""
        warnings.warn(clean(text, "\n"), AssayWarning, stacklevel=2)

    def boots_announced(self, words: str) -> None:
        """See ``Observer.boots_announced``."""
        self.noted(words)

    def building(self, argv: tuple[str, ...]) -> AbstractContextManager[None]:
        """See ``Observer.building``."""
        return self._showing("building the program")

    def inspecting(self) -> AbstractContextManager[None]:
        """See ``Observer.inspecting``."""
        return self._showing("inspecting the program")

    @contextmanager
    def _showing(self, text: str) -> Iterator[None]:
        display = self._display()
        display.show(None, text)
        try:
            yield
        finally:
            display.close()

    @contextmanager
    def listening(self, spec: StudySpec, launches: int = 0) -> Iterator[Listener]:
        """See ``Observer.listening``."""
        display = self._display()
        self._bar = ProgressBar(display, spec, launches)
        try:
            yield self._bar
        finally:
            display.close()

    def _display(self) -> Display:
        return find_display() if self._visible else NoDisplay()


def _spent(budget: Budget, left: Budget) -> float | None:
    """Return the spent share of a budget, from 0 to 1."""
    shares = [
        1.0 - rest / whole
        for whole, rest in ((budget.time_s, left.time_s), (budget.launches, left.launches))
        if whole and rest is not None
    ]
    return min(1.0, max(0.0, max(shares))) if shares else None


def _bar(share: float | None) -> str:
    full = round((share or 0.0) * BAR_CHARACTERS)
    return f"[{'#' * full}{'.' * (BAR_CHARACTERS - full)}]"


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or DEFAULT_COLUMNS
    except (OSError, ValueError):
        return DEFAULT_COLUMNS
