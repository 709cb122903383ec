"""Trial: one configuration that a session deals, and the reports on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from assay.api.functions.argument_types import demand_type
from assay.api.trials.guard import OwnerGuard
from assay.api.trials.reports import demand_reportable
from assay.api.trials.state import TrialState
from assay.errors import InvalidInputError
from assay.records import Stage
from assay.records.configuration import Value, show_value


class TrialOwner(Protocol):
    """Session that dealt a trial."""

    @property
    def guard(self) -> OwnerGuard:
        """Guard of the session."""
        ...

    @property
    def is_closed(self) -> bool:
        """True once the session deals no more trials."""
        ...

    @property
    def objective(self) -> str | None:
        """Name of the objective; ``None`` if it is not known yet."""
        ...

    def demand_goal(self, name: str) -> None:
        """Raise an error if the goal of a metric is unknown that becomes the objective.

        Raises:
            InvalidInputError: the goal is neither given nor clear from the name.
        """
        ...


class Trial(Mapping[str, Value]):
    """Configuration to try, with its values by name.

    A session deals it; the program applies the values and reports on it.

    Attributes:
        number: number of the trial within the session, from 0.

    Example:
        >>> import assay
        >>> with assay.Session({"batch": [32, 64]}, runs=8) as session:
        ...     trial = session.ask()
        ...     trial["batch"]
        ...     trial.report(sps=310.2)
        32
    """

    def __init__(
        self,
        owner: TrialOwner,
        number: int,
        settings: Mapping[str, Value],
        state: TrialState,
    ) -> None:
        self.number = number
        self._owner = owner
        self._settings = dict(settings)
        self._state = state

    def __getitem__(self, name: str) -> Value:
        return self._settings[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def __len__(self) -> int:
        return len(self._settings)

    def __repr__(self) -> str:
        text = " ".join(f"{name}={show_value(value)}" for name, value in self.items())
        return f"<assay.Trial {self.number}: {text}>"

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    @property
    def is_default(self) -> bool:
        """True if every value is the default."""
        return not self._state.launch.configuration

    @property
    def is_warm_up(self) -> bool:
        """True if the value of the trial does not count, because it warms up the process."""
        return self._state.launch.stage is Stage.SURVEY

    def report(
        self, value: object = None, /, *, step: float | None = None, **values: object
    ) -> None:
        """Report values of the trial.

        Several reports make a series. The value of the trial is their mean, or the value over the
        steady part if the session describes the progress of the metric.

        Args:
            value: value of the objective, if the session knows its name.
            step: number of the step, in ascending order (default: number of the report).
            **values: values by name of the metric; the first name of a session is its objective.

        Raises:
            InvalidInputError: a value is not a finite number, a name is unknown, a step does not
                follow the last one, or the trial has ended.
            NotPossibleError: another thread or a forked child reports.

        Example:
            >>> import assay
            >>> with assay.Session({"batch": [32, 64]}, runs=8) as session:
            ...     trial = session.ask()
            ...     for step in range(10):
            ...         trial.report(step=step, sps=300.0 + step)
        """
        self.demand_open()
        if value is not None:
            name = self._owner.objective
            if name is None:
                raise InvalidInputError(
                    "The first report must name its metric.",
                    "Write trial.report(sps=310.2), or give the session metric=.",
                )
            if name in values:
                raise InvalidInputError(f"{name} is reported twice.", "Report it once.")
            values = {name: value, **values}
        if self._owner.objective is None and values and not self._state.reports:
            first = next(iter(values))
            demand_reportable(first)
            self._owner.demand_goal(first)
        self._state.reports.add(self._state.elapsed_s, values, step)

    def fail(self, reason: str) -> None:
        """Mark the trial as failed; its reports do not count.

        Args:
            reason: reason in words, which the report shows.

        Raises:
            InvalidInputError: the trial has ended, or the reason is not a text.
            NotPossibleError: another thread or a forked child calls.

        Example:
            >>> import assay
            >>> with assay.Session({"batch": [32, 64]}, runs=8) as session:
            ...     trial = session.ask()
            ...     trial.fail("out of memory")
        """
        self.demand_open()
        demand_type(reason, str, "reason")
        self._state.failure = reason or "the program gave no reason"

    @property
    def owner(self) -> TrialOwner:
        """Session that dealt the trial."""
        return self._owner

    def demand_open(self) -> None:
        """Raise an error if the trial has ended.

        Raises:
            InvalidInputError: it has.
            NotPossibleError: another thread or a forked child calls.
        """
        self._owner.guard.check()
        if self._state.is_open:
            return
        if self._owner.is_closed:
            raise InvalidInputError(
                f"Trial {self.number} has ended, because its session is closed.",
                "Report values before session.close() and within the with block.",
            )
        raise InvalidInputError(
            f"Trial {self.number} has ended: its values were told, or the next trial was dealt.",
            "Report on the trial that the session dealt last.",
        )
