"""Running launch whose reports are read, and which ends as soon as its values suffice."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from assay.executors.progress.notices import Notice
from assay.executors.progress.recorder import SeriesRecorder
from assay.executors.progress.watch import DRAIN_INTERVAL_S, ProgressWatch
from assay.launch.running import RunningLaunch
from assay.records import EndRule, Metric

if TYPE_CHECKING:
    from assay.stats.progress.end import EndReason
    from assay.stats.progress.launch_end import LaunchEnd


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


DRAIN_VARIATION = 0.4
"""Largest deviation of the time between two readings, as a share of its mean."""
NoticeListener = Callable[[Notice], None]
"""Receiver of notices while a launch runs."""


def no_notices(notice: Notice) -> None:
    """Receive a notice, and do nothing."""


def _decision(rule: EndRule, metric: Metric) -> LaunchEnd:
    from assay.stats.progress.launch_end import LaunchEnd

    return LaunchEnd(rule, goal=metric.goal, form=metric.rate_form)


def drain_interval_s() -> float:
    """Return the time until the next reading, in seconds.

    It varies at random: readings at equal distances would show in the times of the reports as
    periodic dips.
    """
    return DRAIN_INTERVAL_S * random.uniform(1 - DRAIN_VARIATION, 1 + DRAIN_VARIATION)


class LiveReports:
    """Reads the reports of one launch, and ends the launch by its rule.

    Reports after the request to end do not count: a program may then write its results.

    Args:
        watch: reader of the reports.
        metric: metric whose values decide when the launch ends; ``None`` if none does.
        rule: rule that ends the launch; ``None``: the program ends by itself.
        listener: receiver of notices while the launch runs.
        timeout_s: time-out of the launch, in seconds; ``None`` without one.

    Attributes:
        watch: the same.
        ended: reason for which assay ended the launch; ``None`` if it did not.
        is_cut: true if the launch has ended before its program did, by its rule or its time-out.
        notices: notices so far.
    """

    def __init__(
        self,
        watch: ProgressWatch,
        metric: Metric | None,
        rule: EndRule | None,
        listener: NoticeListener = no_notices,
        timeout_s: float | None = None,
    ) -> None:
        self.watch = watch
        self.ended: EndReason | None = None
        self.is_cut = False
        self.notices: list[Notice] = []
        self._metric = metric
        self._rule = rule
        self._decisions: list[LaunchEnd] = []
        self._listener = listener
        self._timeout_s = math.inf if timeout_s is None else timeout_s
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
            interval_s = drain_interval_s()
            left_s = interval_s if end is None else max(0.0, end - time.monotonic())
            if running.finished(min(left_s, interval_s)):
                return True
            running.resume_if_stopped()
            self.observe(running)
            if end is not None and left_s <= interval_s:
                return False

    def observe(self, running: RunningLaunch) -> None:
        """Read the newest reports, and end the launch if they suffice.

        Args:
            running: the launch.
        """
        now = time.monotonic()
        elapsed_s = now - self._began
        if self.ended is not None or elapsed_s >= self._timeout_s:
            return
        found = self.watch.drain(now)
        self.notices += found
        for notice in found:
            self._listener(notice)
        if self._rule is not None and self._metric is not None:
            self.ended = self._reason(self._rule, self._metric, elapsed_s)
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
        """Read the rest of the reports after the end of a launch that its program ended."""
        now = time.monotonic()
        self.is_cut = self.ended is not None or now - self._began >= self._timeout_s
        known = {(notice.kind, notice.metric) for notice in self.notices}
        self.notices += [
            notice
            for notice in self.watch.finish(now, reads=not self.is_cut)
            if (notice.kind, notice.metric) not in known
        ]

    def _reason(self, rule: EndRule, metric: Metric, elapsed_s: float) -> EndReason | None:
        """Return the reason to end the launch, which holds for all of its instances."""
        from assay.stats.progress.end import EndReason

        recorders = self.watch.instance_recorders(metric.name)
        known = [recorder for recorder in recorders if recorder is not None]
        if len(known) < len(recorders):
            return EndReason.TIME if rule.max_s is not None and elapsed_s >= rule.max_s else None
        if not self._decisions:
            if len(known) > 1:  # the value of the incumbent is that of all instances together
                rule = msgspec.structs.replace(rule, incumbent=None)
            self._decisions = [_decision(rule, metric) for _ in known]
        reasons = [
            _reason_of(decision, recorder, elapsed_s)
            for decision, recorder in zip(self._decisions, known, strict=True)
        ]
        return None if None in reasons else reasons[0]


def _reason_of(decision: LaunchEnd, recorder: SeriesRecorder, elapsed_s: float) -> EndReason | None:
    from assay.stats.progress.reports import reports_of

    return decision.reason(
        len(recorder), recorder.steps[-1], elapsed_s, lambda: reports_of(recorder)
    )
