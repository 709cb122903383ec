"""Running launch whose reports are read, and which ends as soon as its values suffice."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from assay.executors.progress.notices import Notice
from assay.executors.progress.recorder import SeriesRecorder
from assay.executors.progress.watch import DRAIN_INTERVAL_S, ProgressWatch
from assay.launch.running import RunningLaunch
from assay.records import EndRule, Metric

if TYPE_CHECKING:
    from assay.stats.progress.end import EndReason

NoticeListener = Callable[[Notice], None]
"""Receiver of notices while a launch runs."""


def no_notices(notice: Notice) -> None:
    """Receive a notice, and do nothing."""


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
        self._rule = rule
        self._listener = listener
        self._began = time.monotonic()
        self._next_check = 0
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
        if self.ended is None and self._rule is not None and self._metric is not None:
            self.ended = self._reason(self._rule, self._metric, now - self._began)
            if self.ended is not None:
                running.ask_to_end()

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

    def _reason(self, rule: EndRule, metric: Metric, elapsed_s: float) -> EndReason | None:
        from assay.stats.progress.end import EndReason, next_check, reason_to_end
        from assay.stats.progress.launch_curve import launch_curve
        from assay.stats.progress.reports import reports_of

        recorder = self.watch.recorder(metric.name)
        if recorder is None:
            return EndReason.TIME if rule.max_s is not None and elapsed_s >= rule.max_s else None
        if not self._is_due(rule, recorder, elapsed_s):
            return None
        curve = launch_curve(reports_of(recorder), metric.rate_form)
        found = reason_to_end(rule, curve, elapsed_s, goal=metric.goal, form=metric.rate_form)
        self._next_check = next_check(len(recorder))
        return found

    def _is_due(self, rule: EndRule, recorder: SeriesRecorder, elapsed_s: float) -> bool:
        """Return whether the reports are to be examined, which takes milliseconds.

        With a known warm-up the number of steps decides. Otherwise a statistic of all reports does,
        each time that their number has grown by a fifth.
        """
        if rule.max_s is not None and elapsed_s >= rule.max_s:
            return True
        if rule.steady_steps is None and not rule.first_look:
            return False
        if rule.warmup_steps is not None and rule.steady_steps is not None:
            done = recorder.steps[-1] >= rule.warmup_steps + rule.steady_steps
            return done or (rule.incumbent is not None and len(recorder) >= self._next_check)
        return len(recorder) >= self._next_check
