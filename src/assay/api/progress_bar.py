"""Progress of a study that Python began: a line that is updated, and warnings.

The line is updated once a second, since it uses time of the CPUs of the program.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace

from assay.api.displays import Display, NoDisplay, find_display
from assay.api.observer import Observer
from assay.api.process import AssayWarning
from assay.errors import AssayError
from assay.executors.progress.live import LatestReport
from assay.records import Budget, Launch, Sample, StudySpec
from assay.search.races.race import Race
from assay.study.listener import Listener, SilentListener
from assay.units import show_count, show_duration, show_quantity
from assay.untrusted import clean
from assay.wording.stages import STAGE_NAMES

REFRESH_INTERVAL_S = 1.0
"""Time between two updates, in seconds."""
NO_BUDGET = Budget()


@dataclass(frozen=True)
class BarState:
    """State that a bar shows; replaced as a whole, since another thread reads it.

    Attributes:
        activity: stage of the study, or another activity.
        launches: number of launches so far; ``None`` to leave it out.
        left: remaining budget at ``at_s``.
        at_s: time of the state on the monotonic clock, in seconds.
    """

    activity: str
    launches: int | None = None
    left: Budget = NO_BUDGET
    at_s: float = 0.0

    def left_at(self, now_s: float) -> Budget:
        """Return the remaining budget at a later time."""
        if self.left.time_s is None:
            return self.left
        return Budget(
            time_s=max(0.0, self.left.time_s - (now_s - self.at_s)), launches=self.left.launches
        )


class ProgressBar(SilentListener):
    """Listener of a study that updates a display, also during a long launch.

    Args:
        display: place of the line.
        spec: specification of the study.
        launches: number of earlier launches.
    """

    def __init__(self, display: Display, spec: StudySpec, launches: int) -> None:
        self._display = display
        self._budget = spec.budget
        self._launches = launches
        self._state: BarState | None = None
        self._latest: Callable[[], LatestReport | None] = lambda: None
        self._drawing = threading.Lock()
        self.study_id: str | None = None

    def started(self, study_id: str) -> None:
        """See ``Listener.started``."""
        self.study_id = study_id

    def warned(self, error: AssayError) -> None:
        """See ``Listener.warned``."""
        warnings.warn(str(error), AssayWarning, stacklevel=2)

    def noticed(self, text: str) -> None:
        """See ``Listener.noticed``."""
        warnings.warn(clean(text, "\n"), AssayWarning, stacklevel=2)

    def watching(self, latest: Callable[[], LatestReport | None]) -> None:
        """See ``Listener.watching``."""
        self._latest = latest

    def launching(self, launch: Launch, left: Budget) -> None:
        """See ``Listener.launching``."""
        first = self._state is None
        if first:
            self._budget = _larger(self._budget, left)
        activity = STAGE_NAMES[launch.stage]
        self._state = BarState(activity, self._launches, left, time.monotonic())
        if first:
            self.draw()

    @contextmanager
    def building(self, argv: tuple[str, ...]) -> Iterator[None]:
        """See ``Listener.building``."""
        before, self._state = self._state, BarState("building the program")
        self.draw()
        try:
            yield
        finally:
            self._state = before

    def sampled(self, sample: Sample, race: Race, left: Budget) -> None:
        """See ``Listener.sampled``."""
        self._launches += 1

    def ending(self, grace_s: float) -> None:
        """See ``Listener.ending``."""
        if self._state is not None:
            words = f"ending the program, which takes up to {show_duration(grace_s)}"
            self._state = replace(self._state, activity=words)
            self.draw()

    def draw(self) -> None:
        """Update the display; any thread may call this."""
        with self._drawing:
            state = self._state
            if state is None:
                return
            left = state.left_at(time.monotonic())
            self._display.show(_spent(self._budget, left), ", ".join(self._parts(state, left)))

    def _parts(self, state: BarState, left: Budget) -> Iterator[str]:
        yield state.activity
        report = self._latest()
        if report is not None:
            value = show_quantity(report.value, report.unit)
            yield f"{report.metric} {value} at step {report.step:,.0f}"
        if state.launches is not None:
            yield show_count(state.launches, "launch", "launches")
        if left.time_s is not None:
            yield f"{show_duration(round(left.time_s))} left"
        elif left.launches is not None:
            yield f"{max(0, left.launches)} left"

    @contextmanager
    def updating(self) -> Iterator[None]:
        """Context in which a thread updates the display; it is removed at the end."""
        ended = threading.Event()

        def update() -> None:
            while not ended.wait(REFRESH_INTERVAL_S):
                self.draw()

        thread = threading.Thread(target=update, name="assay-progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            self._display.close()


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
        self._bar = ProgressBar(self._display(), spec, launches)
        with self._bar.updating() if self._visible else nullcontext():
            yield self._bar

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


def _larger(budget: Budget, left: Budget) -> Budget:
    """Return the budget of this session: a resumed study may have more left than it began with."""
    return Budget(
        time_s=max(filter(None, (budget.time_s, left.time_s)), default=None),
        launches=max(filter(None, (budget.launches, left.launches)), default=None),
    )
