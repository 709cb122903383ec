"""Ladder: the gain of each step from one variant of a kernel to the next."""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.records import Arm, Claim, Conclusion, Configuration, Metric, Sample, Stage
from assay.workloads.kernels import REPETITION, Kernel, Variant
from assay.workloads.roofs import Roofs


@dataclass(frozen=True)
class Step:
    """A measured variant of a kernel.

    Attributes:
        variant: the variant.
        against: name of the variant that it is compared with: its parent, or the nearest ancestor
            that was run; ``None`` for the first.
        median_s: median time of one repetition over all launches; ``None`` without a launch.
        claim: verdict of that comparison.
        figures: qualities of its results beside their time, by name.
    """

    variant: Variant
    against: str | None
    median_s: float | None
    claim: Claim | None
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def gflop_per_s(self) -> float:
        """Rate of additions and multiplications; 0 without a time."""
        return 1e-9 * self.variant.flops / self.median_s if self.median_s else 0.0

    @property
    def gb_per_s(self) -> float:
        """Rate of the bytes that have to move; 0 without a time."""
        return 1e-9 * self.variant.moved_bytes / self.median_s if self.median_s else 0.0

    def share_of_roof(self, roofs: Roofs) -> float:
        """Return the time that the roof allows over the measured one; 0 without a time."""
        return roofs.bound_s(self.variant) / self.median_s if self.median_s else 0.0


def arms_of(
    program: Path, kernel: Kernel, variants: Sequence[Variant], words: Sequence[str], seconds: float
) -> tuple[Arm, ...]:
    """Return an arm for each variant, under its name: the command that runs it.

    Args:
        program: program of the kernel.
        kernel: its description.
        variants: variants to run, parents first.
        words: arguments for data and threads.
        seconds: length of a launch after its warm-up.
    """
    above = _parents(kernel, variants)
    return tuple(
        Arm(
            name=variant.variant,
            parent=above[variant.variant],
            configuration=Configuration(
                {
                    "command": shlex.join(
                        (
                            str(program),
                            "--variant",
                            variant.variant,
                            "--seconds",
                            f"{seconds:g}",
                            *words,
                        )
                    )
                }
            ),
        )
        for variant in variants
    )


def ladder(
    kernel: Kernel, variants: Sequence[Variant], conclusion: Conclusion, samples: Sequence[Sample]
) -> tuple[Step, ...]:
    """Return the steps between a kernel's variants, with the claims of a study."""
    above = _parents(kernel, variants)
    claims = {(claim.a, claim.b): claim for claim in (*conclusion.claims, *conclusion.steps)}
    return tuple(
        Step(
            variant,
            above[variant.variant],
            _median(samples, variant.variant, REPETITION),
            claims.get((above[variant.variant] or "", variant.variant)),
            _figures(kernel, samples, variant.variant),
        )
        for variant in variants
    )


def _parents(kernel: Kernel, variants: Sequence[Variant]) -> dict[str, str | None]:
    """Return for each variant its parent, or the nearest ancestor that is run."""
    run = {variant.variant for variant in variants}
    parents = {variant.variant: variant.parent for variant in kernel.variants}
    found: dict[str, str | None] = {}
    for name in run:
        above = parents[name]
        while above and above not in run:
            above = parents[above]
        found[name] = above or None
    return found


def _figures(kernel: Kernel, samples: Sequence[Sample], name: str) -> dict[str, float]:
    medians = {one.name: _median(samples, name, one.metric) for one in kernel.figures}
    return {figure: value for figure, value in medians.items() if value is not None}


def _median(samples: Sequence[Sample], name: str, metric: Metric) -> float | None:
    values = [
        sample.metrics[metric.name]
        for sample in samples
        if sample.launch.arm == name
        and sample.launch.stage is Stage.CONFIRM
        and metric.name in sample.metrics
    ]
    return statistics.median(values) if values else None
