"""Running launch whose reports are read, and which ends as soon as its values suffice."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from assay.executors.progress.notices import Notice
from assay.executors.progress.watch import DRAIN_INTERVAL_S, ProgressWatch
from assay.launch.running import RunningLaunch
from assay.records import EndRule, Metric

if TYPE_CHECKING:
    from assay.stats.progress.end import EndReason
    from assay.stats.progress.launch_end import LaunchEnd
    from assay.stats.progress.reports import Reports


class LatestReport(NamedTuple):
    """Newest reported value of a running launch.

    Attributes:
        metric: name of the metric.
        value: mean of the newest interval, in the unit of the metric.
        unit: unit of the metric.
        step: newest step.
    """

    metric: str
    value: float
    unit: str
    step: float


NoticeListener = Callable[[Notice], None]
"""Receiver of notices while a launch runs."""


def no_notices(notice: Notice) -> None:
    """Receive a notice, and do nothing."""


def _decision(rule: EndRule, metric: Metric) -> LaunchEnd:
    from assay.stats.progress.launch_end import LaunchEnd

    return LaunchEnd(rule, goal=metric.goal, form=metric.rate_form)


class LiveReports:
    """Reads the reports of one launch, and ends the launch by its rule.

    Args:
        watch: reader of the reports.
        metric: metric whose values decide when the launch ends; ``None`` if none does.
        rule: rule that ends the launch; ``None``: the program ends by itself.
        listener: receiver of notices.

    Attributes:
        watch: the same.
        ended: reason for which assay ended the launch; ``None`` if it did not.
        notices: notices so far.
    """

    def __init__(
        self,
        watch: ProgressWatch,
        metric: Metric | None,
        rule: EndRule | None,
        listener: NoticeListener,
    ) -> None:
        self.watch = watch
        self.ended: EndReason | None = None
        self.notices: list[Notice] = []
        self._metric = metric
        self._decision = None if metric is None or rule is None else _decision(rule, metric)
        self._listener = listener
        self._began = time.monotonic()
        watch.begin(self._began)

    def is_finished(self, running: RunningLaunch, timeout_s: float | None) -> bool:
        """Wait for the end of a launch, at most ``timeout_s``; read its reports meanwhile.

        Args:
            running: the launch.
            timeout_s: longest time to wait, in seconds; ``None`` for no limit.
        """
        end = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            left_s = DRAIN_INTERVAL_S if end is None else max(0.0, end - time.monotonic())
            if running.finished(min(left_s, DRAIN_INTERVAL_S)):
                return True
            running.resume_if_stopped()
            self.observe(running)
            if end is not None and left_s <= DRAIN_INTERVAL_S:
                return False

    def observe(self, running: RunningLaunch) -> None:
        """Read the newest reports, and end the launch if they suffice.

        Args:
            running: the launch.
        """
        now = time.monotonic()
        self._take(self.watch.drain(now))
        if self.ended is not None or self._decision is None or self._metric is None:
            return
        self.ended = self._reason(self._decision, self._metric, now - self._began)
        if self.ended is not None:
            running.ask_to_end()

    def latest(self) -> LatestReport | None:
        """Return the newest value of the metric that decides; ``None`` without any.

        Another thread may call this.
        """
        recorder = None if self._metric is None else self.watch.recorder(self._metric.name)
        if self._metric is None or recorder is None:
            return None
        try:
            value, step = recorder.newest
        except IndexError:  # the reading thread has just cleared the reports
            return None
        return LatestReport(self._metric.name, value, self._metric.unit, step)

    def __enter__(self) -> LiveReports:
        return self

    def __exit__(self, *_: object) -> None:
        self.watch.close()

    def finish(self) -> None:
        """Read the rest of the reports after the end of the launch."""
        self._take(self.watch.finish(time.monotonic()))

    def _take(self, notices: list[Notice]) -> None:
        self.notices += notices
        for notice in notices:
            self._listener(notice)

    def _reason(self, decision: LaunchEnd, metric: Metric, elapsed_s: float) -> EndReason | None:
        from assay.stats.progress.reports import reports_of

        recorder = self.watch.recorder(metric.name)
        if recorder is None:
            return decision.reason(0, 0.0, elapsed_s, _no_reports)
        return decision.reason(
            len(recorder), recorder.steps[-1], elapsed_s, lambda: reports_of(recorder)
        )


def _no_reports() -> Reports:
    raise AssertionError("no check without reports")
