"""Session of one public function: context, exclusion of other studies, and interrupts."""

from __future__ import annotations

import contextvars
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from assay.api.composition import opened_store
from assay.api.context import Context
from assay.api.functions.quantities import path_text
from assay.api.process import prepare, single_study
from assay.api.progress_bar import NotebookObserver
from assay.api.results.result import Result
from assay.api.studies.stored import report_input
from assay.errors import NotPossibleError, StudyStopped
from assay.study.result import StudyResult
from assay.study.stop import StopSignal


class Control:
    """Control of a study that runs in another thread.

    Attributes:
        stop: request to stop the study.
        observer: observer of the study; ``None`` before its session begins.
    """

    def __init__(self) -> None:
        self.stop = StopSignal()
        self.observer: NotebookObserver | None = None


CONTROL: contextvars.ContextVar[Control | None] = contextvars.ContextVar("control", default=None)
"""Control of the study that the current thread runs; ``None`` without one."""


@contextmanager
def session(given: Mapping[str, Any], *, begins: bool = False) -> Iterator[Context]:
    """Context of a function that launches programs.

    An interrupt leaves a study that can be resumed, and its exception says how.

    Args:
        given: keywords of the function.
        begins: whether the function begins a study.

    Raises:
        NotPossibleError: another study of this process is running.
    """
    control = CONTROL.get()
    observer = NotebookObserver(visible=given.get("progress_bar") is not False)
    if control is not None:
        control.observer = observer
    with single_study():
        try:
            yield Context(
                prepare=prepare,
                db=path_text(given.get("db")),
                observer=observer,
                stop=None if control is None else control.stop,
            )
        except NotPossibleError as error:
            error.for_python()
            raise
        except (KeyboardInterrupt, StudyStopped) as interrupt:
            if observer.study_id is not None:
                interrupt.add_note(kept_note(observer.study_id))
            elif begins:
                interrupt.add_note(NOTHING_KEPT)
            raise


NOTHING_KEPT = "The study had not begun, so there is nothing to resume."
"""Note on a function that was interrupted before its first sample was stored."""


def kept_note(study_id: str) -> str:
    """Return the note on a study that was interrupted."""
    return f'Study {study_id} is kept: assay.resume("{study_id}") continues it.'


def result_of(found: StudyResult, db: str | None) -> Result:
    """Return the public result of a study that has just ended.

    Args:
        found: result with its notes on this host.
        db: path or URL of the store; ``None`` for the default one.
    """
    with opened_store(db, create=False) as store:
        report, _ = report_input(store, found.study_id)
    return Result(report, found)
