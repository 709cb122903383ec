"""State of a dealt trial, and its sample once it has ended."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from assay.api.trials.reports import TrialReports
from assay.records import Launch, Metric, Outcome, Sample


class TrialState:
    """State of a trial from the moment at which it is dealt.

    Args:
        launch: the trial as a launch.
        names: names of the metrics of the study; ``None`` if the trial determines them.

    Attributes:
        launch: the same.
        reports: reports of the program.
        failure: reason of a failure that the program states; ``None`` without one.
        is_open: true until the next trial is dealt.
    """

    def __init__(self, launch: Launch, names: Sequence[str] | None) -> None:
        self.launch = launch
        self.reports = TrialReports(names)
        self.failure: str | None = None
        self.is_open = True
        self._began = time.monotonic()
        self._began_at = time.time()
        self._cpu = os.times()
        self._wall_s: float | None = None

    @property
    def elapsed_s(self) -> float:
        """Time since the trial was dealt, in seconds."""
        return time.monotonic() - self._began

    def end(self) -> None:
        """End the trial."""
        if self.is_open:
            self.is_open = False
            self._wall_s = self.elapsed_s
            self._ended_cpu = os.times()

    def sample(self, metrics: Sequence[Metric]) -> Sample:
        """Return the sample of the ended trial.

        Args:
            metrics: metrics of the study, the objective first.
        """
        found = self.reports.values(metrics)
        failure = self.failure or found.failure
        before, after = self._cpu, self._ended_cpu
        return Sample(
            launch=self.launch,
            outcome=Outcome.OK if failure is None else Outcome.FAILED,
            message=failure,
            wall_s=self._wall_s,
            user_s=after.user + after.children_user - before.user - before.children_user,
            sys_s=after.system + after.children_system - before.system - before.children_system,
            metrics=found.metrics if failure is None else {},
            series=found.series,
            steady=found.steady,
            started_at=self._began_at,
        )
