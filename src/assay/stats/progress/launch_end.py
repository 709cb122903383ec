"""Checks of a running launch, made only when a new report can change the decision.

The reports are read many times a second. Computing the curve each time would cost more of a core
than the measurement may.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from assay.records.progress import EndRule, RateForm
from assay.records.workload import Goal
from assay.stats.progress.early_stop import LOOKS
from assay.stats.progress.end import EndReason, next_check, reason_to_end
from assay.stats.progress.launch_curve import launch_curve
from assay.stats.progress.reports import Reports


class LaunchEnd:
    """Decision to end one running launch."""

    def __init__(
        self, rule: EndRule, *, goal: Goal = Goal.HIGHER, form: RateForm = RateForm.RATE
    ) -> None:
        """Create the decision for a launch that has not reported yet.

        Args:
            rule: rule of the launch.
            goal: direction of better values.
            form: meaning of the values.
        """
        self._rule = rule
        self._goal = goal
        self._form = form
        self._next_count = next_check(0) if self._needs_curve() else 0
        self._next_step = self._first_step()

    def reason(
        self, count: int, last_step: float, elapsed_s: float, reports: Callable[[], Reports]
    ) -> EndReason | None:
        """Return the reason to end the launch, or ``None`` while it should go on.

        Args:
            count: number of reports so far.
            last_step: step of the last one; 0 without reports.
            elapsed_s: time since the start of the launch, in seconds.
            reports: function that returns the reports so far; called only for a full check.
        """
        if self._rule.max_s is not None and elapsed_s >= self._rule.max_s:
            return EndReason.TIME
        if self._rule.steady_steps is None and not self._rule.first_look:
            return None
        if count < max(2, self._next_count) or last_step < self._next_step - 1e-6:
            return None
        found = reports()
        curve = launch_curve(found, self._form)
        if self._needs_curve():
            self._next_count = next_check(count)
        self._next_step = self._step_after(found, last_step)
        return reason_to_end(self._rule, curve, elapsed_s, goal=self._goal, form=self._form)

    def _needs_curve(self) -> bool:
        """Return whether the end depends on the form of the curve, not on the step alone."""
        return self._rule.steady_steps is None or self._rule.warmup_steps is None

    def _first_step(self) -> float:
        """Return the first step at which a check can end the launch."""
        rule = self._rule
        if rule.warmup_steps is None:
            return 0.0
        return min(self._look_after(-math.inf), self._known_end(rule.warmup_steps))

    def _step_after(self, reports: Reports, last_step: float) -> float:
        """Return the next step at which a check can end the launch."""
        rule = self._rule
        if rule.warmup_steps is None:
            return 0.0
        after = reports.steps[reports.steps >= rule.warmup_steps - 1e-6]
        begin = float(after[0]) if len(after) else rule.warmup_steps
        return min(self._look_after(last_step), max(self._known_end(begin), last_step))

    def _known_end(self, begin: float) -> float:
        """Return the step at which the steady part is long enough; 0 if it is not known."""
        steady = self._rule.steady_steps
        return begin + steady if steady is not None else 0.0

    def _look_after(self, step: float) -> float:
        """Return the step of the first comparison with the incumbent after a step."""
        rule = self._rule
        if rule.incumbent is None or rule.warmup_steps is None:
            return math.inf
        unit_steps, curve = rule.incumbent.unit_steps, rule.incumbent.curve_steps
        looks = [rule.warmup_steps + look * unit_steps for look in LOOKS]
        if curve:
            in_warm_up = (curve[0] + look * unit_steps for look in LOOKS)
            looks += [look for look in in_warm_up if look < rule.warmup_steps]
        return min((look for look in looks if look > step + 1e-6), default=math.inf)
