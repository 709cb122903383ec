"""Values of confirmation blocks that ran before later launches showed another warm-up.

Their launches are valued again with the warm-up of the newest block: no block is thrown away, and
no value contains a warm-up that is known by now.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from assay.records import EndRule, Metric, Sample, Series, Stage, StudySpec

if TYPE_CHECKING:
    from assay.records import SteadyPart
    from assay.stats.progress.launch_curve import LaunchCurve


class RevisedBlocks:
    """Confirmation blocks whose launches assay ends, and their present values.

    Args:
        objective: metric of the values.
        metric: metric whose reports decide when a launch ends.
    """

    def __init__(self, objective: Metric, metric: Metric) -> None:
        self._objective = objective
        self._metric = metric
        self._blocks: dict[int, dict[str, Sample]] = {}
        self._newest: EndRule | None = None

    @classmethod
    def of(cls, spec: StudySpec) -> RevisedBlocks | None:
        """Return the blocks of a study; ``None`` if its programs end by themselves."""
        metric = spec.workload.steady_metric
        return (
            None if spec.until is None or metric is None else cls(spec.workload.objective, metric)
        )

    def add(self, sample: Sample) -> Mapping[tuple[int, str], float]:
        """Add a sample of any stage.

        Returns:
            The values that change with it, by block and arm: of all earlier blocks, where the
            warm-up changes.
        """
        rule = sample.launch.end
        if sample.launch.stage is not Stage.CONFIRM or rule is None or rule.warmup_steps is None:
            return {}
        self._blocks.setdefault(sample.launch.block, {})[sample.launch.arm] = sample
        before, self._newest = self._newest, rule
        if before is None or _same_warm_up(before, rule):
            return {}
        return {
            (number, arm): value
            for number, samples in self._blocks.items()
            if number != sample.launch.block
            for arm, value in self._values(samples, rule).items()
        }

    @property
    def revised(self) -> int:
        """Number of blocks whose values differ from those of their launches."""
        if self._newest is None:
            return 0
        return sum(self._factors(s, self._newest) is not None for s in self._blocks.values())

    @property
    def warmup_steps(self) -> float | None:
        """Last step of the warm-up of the newest block."""
        return None if self._newest is None else self._newest.warmup_steps

    def _values(self, samples: Mapping[str, Sample], rule: EndRule) -> dict[str, float]:
        name = self._objective.name
        factors = self._factors(samples, rule) or {}
        return {
            arm: sample.metrics[name] * factors.get(arm, 1.0)
            for arm, sample in samples.items()
            if sample.outcome.succeeded and sample.metrics.get(name, 0.0) > 0.0
        }

    def _factors(self, samples: Mapping[str, Sample], rule: EndRule) -> dict[str, float] | None:
        """Return the factor on the value of each arm of a block; ``None`` if none changes.

        All arms keep the same number of steady steps. Where a series is thinned and has periodic
        dips, the begin of a period is not known precisely enough.
        """
        from assay.stats.progress.block_parts import block_parts
        from assay.stats.progress.launch_curve import launch_curve
        from assay.stats.progress.reports import reports_of
        from assay.stats.progress.warm_up import WarmUp

        own = next(iter(samples.values())).launch.end
        assert rule.warmup_steps is not None
        if own is None or own.warmup_steps is None or _same_warm_up(own, rule):
            return None
        name = self._metric.name
        usable = [s for s in samples.values() if name in s.steady and name in s.series]
        if len(usable) < len(samples) or (rule.period_steps and _is_thinned(usable, name)):
            return None
        curves = [launch_curve(reports_of(s.series[name]), self._metric.rate_form) for s in usable]
        warm_up = WarmUp(rule.warmup_steps, rule.period_steps, settled=True)
        cumulative = any(s.steady[name].cumulative for s in usable)
        parts = block_parts(curves, warm_up, own.warmup_steps, cumulative=cumulative)
        if parts is None:
            return None
        found = {}
        for sample, curve, part in zip(usable, curves, parts, strict=True):
            known = sample.steady[name]
            old, new = (self._value(curve, one, known.times_disagree) for one in (known, part))
            if old is None or new is None:
                return None
            found[sample.launch.arm] = new / old
        return found

    def _value(self, curve: LaunchCurve, part: SteadyPart, times_disagree: bool) -> float | None:
        """Return the value of a series over a part; ``None`` without a positive one."""
        from assay.stats.progress.printed import PrintedForm
        from assay.stats.progress.value import launch_value

        printed = PrintedForm.CONTRADICTED if times_disagree else None
        try:
            found = launch_value(curve, part, self._metric.rate_form, printed)
        except ValueError:  # a thinned series may have a single report there
            return None
        value = found.value if self._objective == self._metric else found.step_s
        return value if value > 0.0 else None


def _same_warm_up(one: EndRule, other: EndRule) -> bool:
    return (one.warmup_steps, one.period_steps) == (other.warmup_steps, other.period_steps)


def _is_thinned(samples: list[Sample], name: str) -> bool:
    series: list[Series] = [sample.series[name] for sample in samples]
    return any(one.counts for one in series)
