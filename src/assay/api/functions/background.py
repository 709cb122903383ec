"""Studies in a thread of their own, and as awaitables."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable, Generator
from functools import partial
from types import TracebackType
from typing import Any, Generic, ParamSpec, TypeVar

from assay.api.functions.argument_types import shown
from assay.api.functions.session import CONTROL, Control
from assay.errors import InvalidInputError, NotPossibleError

P = ParamSpec("P")
R = TypeVar("R")

WAKE_INTERVAL_S = 1.0
"""Longest sleep of an event loop that awaits a study, in seconds.

IPython cancels the task of a cell in a signal handler. That does not wake the loop, so that a cell
would end only with the next event.
"""


class Study(Generic[R]):
    """Study that runs in a thread of its own.

    As a context manager it begins at the start of the block, and its end stops it if it still runs:
    launches are ended, settings restored, and the study can be resumed. It is awaitable as well;
    cancelling the task stops the study.

    Only one study of a process runs at a time. Methods may be called from any thread.

    Args:
        function: function that begins or resumes a study, such as ``assay.tune``.
        *arguments: its positional arguments.
        **options: its keyword arguments.

    Examples:
        >>> import assay
        >>> with assay.Study(assay.measure, ["sleep", "0.01"], runs=8) as study:
        ...     result = study.result()
        >>> result.kind == "measure"
        True
    """

    def __init__(self, function: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> None:
        if not callable(function):
            raise InvalidInputError(
                f"Invalid function: {shown(function)}.", "Give a function, such as assay.tune."
            )
        self._call: Callable[[], R] = lambda: function(*arguments, **options)
        self._control = Control()
        self._ended = threading.Event()
        self._watchers: list[Callable[[], object]] = []
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._value: R | None = None
        self._error: BaseException | None = None

    @property
    def id(self) -> str | None:
        """Id of the study; ``None`` before it begins."""
        observer = self._control.observer
        return None if observer is None else observer.study_id

    @property
    def running(self) -> bool:
        """True from the start of the study to its end."""
        return self._thread is not None and not self._ended.is_set()

    def start(self) -> Study[R]:
        """Start the study, and return it.

        Raises:
            NotPossibleError: it has been started before.
        """
        with self._lock:
            if self._thread is not None:
                raise NotPossibleError(
                    "The study has been started before.", "Make a new object, or resume the study."
                )
            self._thread = threading.Thread(target=self._run, name="assay-study", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Request the end of the study: launches are ended, and the study can be resumed."""
        self._control.stop.set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end of the study; return whether it has ended.

        Args:
            timeout_s: longest time to wait, in seconds (default: no limit).
        """
        return self._ended.wait(timeout_s)

    def result(self, timeout_s: float | None = None) -> R:
        """Wait for the end of the study, and return its result.

        Args:
            timeout_s: longest time to wait, in seconds (default: no limit).

        Raises:
            TimeoutError: the study still runs.
            StudyStopped: the study was stopped; a note names the call that resumes it.
            AssayError: the study failed.
        """
        if self._thread is None:
            self.start()
        try:
            ended = self.wait(timeout_s)
        except KeyboardInterrupt as interrupt:
            if self.running:
                interrupt.add_note("The study still runs: its method stop() ends it.")
            raise
        if not ended:
            raise TimeoutError("The study still runs.")
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]

    def __enter__(self) -> Study[R]:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self.wait()

    def __await__(self) -> Generator[Any, None, R]:
        return self._awaited().__await__()

    async def _awaited(self) -> R:
        """Wait for the end without blocking the event loop; a cancellation stops the study."""
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        self._watch(partial(loop.call_soon_threadsafe, ended.set))
        if self._thread is None:
            self.start()
        try:
            await _awake(ended)
        except asyncio.CancelledError as cancelled:
            self.stop()
            await _shielded(ended)
            if self.id is not None:
                cancelled.add_note(
                    f'Study {self.id} is kept: assay.resume("{self.id}") continues it.'
                )
            raise
        return self.result()

    def _watch(self, ended: Callable[[], object]) -> None:
        """Call a function at the end of the study, or now if it has ended."""
        with self._lock:
            if not self._ended.is_set():
                self._watchers.append(ended)
                return
        ended()

    def _run(self) -> None:
        try:
            self._value = contextvars.Context().run(self._controlled)
        except BaseException as error:
            self._error = error
        with self._lock:
            self._ended.set()
            watchers, self._watchers = self._watchers, []
        for ended in watchers:
            ended()

    def _controlled(self) -> R:
        CONTROL.set(self._control)
        return self._call()

    def __repr__(self) -> str:
        state = "running" if self.running else "ended" if self._ended.is_set() else "not started"
        return f"<assay.Study {f'{self.id} ' if self.id else ''}{state}>"


async def _awake(ended: asyncio.Event) -> None:
    """Wait for the end of a study, and wake the event loop regularly."""
    while not ended.is_set():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), WAKE_INTERVAL_S)


async def _shielded(ended: asyncio.Event) -> None:
    """Wait for the end of a study, also if the task is cancelled again."""
    while not ended.is_set():
        try:
            await ended.wait()
        except asyncio.CancelledError:
            continue


async def in_thread(function: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> R:
    """Call a function of assay in a thread, without blocking the event loop.

    A cancellation of the task ends the launch; a study can be resumed.

    Args:
        function: function of assay, such as ``assay.compare``.
        *arguments: its positional arguments.
        **options: its keyword arguments.

    Raises:
        AssayError: as the function.

    Examples:
        >>> import assay, asyncio
        >>> asyncio.run(assay.in_thread(assay.run, ["true"])).succeeded
        True
    """
    return await Study(function, *arguments, **options)
