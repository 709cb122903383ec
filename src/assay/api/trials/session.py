"""Session: asks for trials and tells their values within the user's own process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Self, Unpack

from assay.api.functions.domains import Value
from assay.api.functions.study_names import StudyName, study_id
from assay.api.results.result import Result
from assay.api.trials.free_space import FreeSpace
from assay.api.trials.guard import OwnerGuard
from assay.api.trials.keywords import SessionOptions
from assay.api.trials.plan import SessionPlan, session_plan
from assay.api.trials.results import session_result
from assay.api.trials.state import TrialState
from assay.api.trials.storage import SessionStorage
from assay.api.trials.trial import Trial
from assay.errors import InvalidInputError, NotPossibleError, WorkloadFailedError
from assay.records import Space
from assay.search.races.race import Ending, EndReason
from assay.wording.trial_words import SampleWords

_WORDS = SampleWords(in_process=True)


class Session:
    """Trials of a search within the user's own process.

    assay launches nothing: the session deals configurations, the program applies them and reports
    values. Trials of one process share its warm-up, caches and memory layout, so a process is one
    observation. One process gives an unproven answer; ``assay.Session(study=...)`` continues the
    study in the next process, and from six confirming processes on claims are possible.

    A loop over the session deals trials until the budget of the process is spent or the study is
    decided. A trial ends when the next one is dealt. If the loop is left early, the open trial does
    not count, and the study can be continued.

    A session belongs to the thread that made it; other threads and forked children are refused.

    Args:
        space: values to try by name, as lists or ranges; the program applies them itself. The
            first value of a list is the default.
        study: study to continue: its id, the beginning of its id, ``last``, or its result (default:
            a new study).
        **options: see ``SessionOptions``.

    Raises:
        AssayError: a value is invalid, or the study cannot be continued.

    Example:
        >>> import assay, time
        >>> session = assay.Session({"pause": [0.003, 0.001]}, runs=30, goal="lower")
        >>> for trial in session:
        ...     time.sleep(trial["pause"])
        ...     trial.report(step_ms=1000 * trial["pause"])
        >>> str(session.result.verdict)
        'unproven'
    """

    def __init__(
        self,
        space: FreeSpace | None = None,
        *,
        study: StudyName | None = None,
        **options: Unpack[SessionOptions],
    ) -> None:
        self._guard = OwnerGuard()
        self._plan: SessionPlan = session_plan(
            space, None if study is None else study_id(study), options
        )
        self._storage = SessionStorage(self._plan)
        self._open: tuple[Trial, TrialState] | None = None
        self._count = 0
        self._ending: Ending | None = None
        self._is_closed = False

    @property
    def guard(self) -> OwnerGuard:
        """Guard that refuses other threads and forked children."""
        return self._guard

    @property
    def id(self) -> str | None:
        """Id of the study; ``None`` before its first trial has a value."""
        return self._storage.study_id

    @property
    def is_closed(self) -> bool:
        """True once the session deals no more trials."""
        return self._is_closed

    @property
    def objective(self) -> str | None:
        """Name of the objective; ``None`` if it is not known yet."""
        return self._storage.objective

    def demand_goal(self, name: str) -> None:
        """Raise an error if the goal of a metric is unknown that becomes the objective.

        Args:
            name: name of the metric.

        Raises:
            InvalidInputError: the goal is neither given nor clear from the name.
        """
        self._plan.demand_goal(name)

    @property
    def ending(self) -> str | None:
        """Reason why the session deals no more trials, as a sentence; ``None`` before."""
        return None if self._ending is None else _WORDS(self._ending.message)

    @property
    def space(self) -> Space | None:
        """Space of the study; ``None`` before the first trial of a continued study."""
        return self._storage.space

    @property
    def settings(self) -> Mapping[str, Value]:
        """Default values by name."""
        return self._storage.defaults

    def ask(self) -> Trial | None:
        """End the open trial, and return the next one; ``None`` if there is none.

        Raises:
            WorkloadFailedError: the default configuration always fails.
            NotPossibleError: another thread, a forked child or another study of this process.

        Example:
            >>> import assay
            >>> with assay.Session({"batch": [32, 64]}, runs=8) as session:
            ...     while (trial := session.ask()) is not None:
            ...         session.tell(trial, sps=300.0 + trial["batch"])
            >>> session.ending is not None
            True
        """
        self._guard.check()
        if self._is_closed:
            return None
        self._end_open()
        answer = self._storage.ask()
        if isinstance(answer, Ending):
            self._end(answer)
            return None
        state = TrialState(answer, self._storage.metric_names)
        trial = Trial(self, self._count, self._storage.values_of(answer.configuration), state)
        self._count += 1
        self._open = trial, state
        return trial

    def tell(self, trial: Trial, *, failed: str | None = None, **values: object) -> None:
        """Report the values of a trial, and end it.

        Args:
            trial: trial that this session dealt last.
            failed: reason of a failure; ``None`` without one.
            **values: values by name of the metric.

        Raises:
            InvalidInputError: the session did not deal the trial, the trial has ended, or a value
                or the reason is invalid.

        Example:
            >>> import assay
            >>> with assay.Session({"batch": [32, 64]}, runs=8) as session:
            ...     session.tell(session.ask(), sps=310.2)
        """
        self._guard.check()
        if not isinstance(trial, Trial) or trial.owner is not self:
            raise InvalidInputError(
                "This session did not deal that trial.",
                "Tell the values of a trial that session.ask() or the loop returned.",
            )
        if failed is not None:
            trial.fail(failed)
        if values:
            trial.report(**values)  # type: ignore[arg-type]
        trial.demand_open()
        self._end_open()

    def __iter__(self) -> Iterator[Trial]:
        """Deal trials until the end of the session; a loop that is left early closes it."""
        try:
            while (trial := self.ask()) is not None:
                yield trial
        finally:
            self.close()

    def close(self) -> None:
        """Release the study; the open trial does not count. The study can be continued."""
        if self._is_closed or self._guard.is_forked:
            return
        self._is_closed = True
        if self._open is not None:
            self._open[1].end()
            self._open = None
        self._storage.close(self._ending)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def result(self) -> Result:
        """Result of the study over all its processes.

        Raises:
            NotPossibleError: the session still runs, or no trial has a value yet.
        """
        self._guard.check()
        if not self._is_closed and self._count:
            raise NotPossibleError(
                "The session still runs.", "Leave the loop, or call session.close(), first."
            )
        if self.id is None:
            raise NotPossibleError(
                "The session has no ended trial with a value yet.",
                "Report a value, and let the session deal the next trial, or call session.tell.",
            )
        return session_result(self.id, self._plan.db)

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else "open"
        return f"<assay.Session {self.id or 'without a study'}, {self._count} trials, {state}>"

    def _end_open(self) -> None:
        """End the open trial, and store its sample."""
        if self._open is None:
            return
        _, state = self._open
        self._open = None
        state.end()
        self._storage.tell(state)

    def _end(self, ending: Ending) -> None:
        """End the session.

        Raises:
            WorkloadFailedError: the default configuration always fails.
        """
        self._ending = ending
        self.close()
        if ending.reason is EndReason.WORKLOAD_FAILED:
            raise WorkloadFailedError(
                f"{_WORDS(ending.message)} {self._storage.last_failure}".rstrip(),
                "Correct the program, or choose another default.",
            )
