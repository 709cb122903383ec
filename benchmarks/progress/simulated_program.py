"""Program of a simulated job, as a race launches it: its launches end by their rules."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from assay.executors.progress.recorder import SeriesRecorder
from assay.records import (
    Configuration,
    EndRule,
    Goal,
    Launch,
    Metric,
    Outcome,
    Progress,
    RateForm,
    Sample,
    Workload,
)
from assay.stats.progress.early_stop import LOOKS, as_bound
from assay.stats.progress.end import EndReason, next_check, reason_to_end
from assay.stats.progress.launch_curve import launch_curve
from assay.stats.progress.reports import Reports
from assay.stats.progress.steady import steady_part
from assay.stats.progress.value import launch_value
from assay.stats.progress.warm_up import WarmUp
from benchmarks.progress.jobs import Array, Job, launches

SPEED = Metric(name="speed", unit="1/s", goal=Goal.HIGHER, progress=Progress())
WORKLOAD = Workload(argv=("simulated",), metrics=(SPEED,))

Effect = Callable[[Configuration], float]
"""Function that returns the factor of a configuration on the time of a step."""


class JobProgram:
    """Launches of a job with the effects of configurations.

    Args:
        job: simulated job.
        effect: effects of configurations.
        seed: seed of launches and steps.
    """

    def __init__(self, job: Job, effect: Effect, seed: int) -> None:
        self._job = job
        self._effect = effect
        self._rng = np.random.default_rng(seed)

    def run(self, launch: Launch) -> Sample:
        """Return the sample of one launch; see ``assay.testing.search_contracts.Program``."""
        job = self._job
        factor = self._effect(launch.configuration)
        ends = launches(job, self._rng, np.array([factor]), job.whole)[0]
        count, reason = self._end(launch, ends)
        reports = _reports(ends, count)
        curve = launch_curve(reports, RateForm.RATE)
        rule = launch.end
        warm_up = None
        if rule is not None and rule.warmup_steps is not None:
            warm_up = WarmUp(rule.warmup_steps, rule.period_steps, settled=True)
        part = None
        for known in (warm_up,) if warm_up is None else (warm_up, replace(warm_up, settled=False)):
            part = part or steady_part(
                curve,
                known,
                steady_steps=None if rule is None else rule.steady_steps,
                ended_early=reason is EndReason.WORSE,
            )
        if part is None:
            return Sample(launch=launch, outcome=Outcome.FAILED, wall_s=float(ends[count]))
        value = launch_value(curve, part, RateForm.RATE).value
        if part.ended_early and rule is not None:
            value, part = as_bound(value, part, reports, rule, Goal.HIGHER)
        return Sample(
            launch=launch,
            outcome=Outcome.OK if reason is None else Outcome.ENOUGH,
            wall_s=float(ends[count]),
            metrics={SPEED.name: value},
            series={SPEED.name: _recorder(reports).series()},
            steady={SPEED.name: part},
        )

    def _end(self, launch: Launch, ends: Array) -> tuple[int, EndReason | None]:
        """Return the number of steps at which a launch ends, and the reason."""
        rule, whole = launch.end, len(ends) - 1
        if rule is None or (rule.steady_steps is None and not rule.first_look):
            return whole, None
        check, count_so_far = next_check(0), 0
        while True:
            count = check
            if rule.warmup_steps is not None and rule.steady_steps is not None:
                enough = math.ceil(rule.warmup_steps + rule.steady_steps)
                count = min(enough, _next_look(rule, count_so_far))
            if count >= whole:
                return whole, None
            curve = launch_curve(_reports(ends, count), RateForm.RATE)
            elapsed_s = float(ends[count])
            reason = reason_to_end(rule, curve, elapsed_s, goal=Goal.HIGHER, form=RateForm.RATE)
            if reason is EndReason.TIME and rule.max_s is not None:
                return max(1, int(np.searchsorted(ends, rule.max_s))), reason
            if reason is not None:
                return count, reason
            check, count_so_far = max(count + 1, next_check(count)), count


def _next_look(rule: EndRule, count: int) -> int:
    """Return the number of steps at which a launch is compared with the incumbent next."""
    incumbent = rule.incumbent
    if incumbent is None or rule.warmup_steps is None:
        return sys.maxsize
    unit = incumbent.unit_steps
    looks = [rule.warmup_steps + look * unit for look in LOOKS]
    looks += [1.0 + look * unit for look in LOOKS if 1.0 + look * unit < rule.warmup_steps]
    return min((math.ceil(look) for look in looks if look > count), default=sys.maxsize)


def _reports(ends: Array, count: int) -> Reports:
    """Return the reports of the first steps, each with the speed of its step."""
    times_s = ends[1 : count + 1]
    return Reports(np.arange(1.0, count + 1.0), times_s, 1.0 / np.diff(ends[: count + 1]))


def _recorder(reports: Reports) -> SeriesRecorder:
    found = SeriesRecorder()
    for step, time_s, value in zip(reports.steps, reports.times_s, reports.values, strict=True):
        found.add(float(time_s), float(step), float(value))
    return found
