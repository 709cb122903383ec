"""Ladder: what each step from one variant of a kernel to the next brings."""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.records import Arm, Claim, Configuration, Sample, Stage, StudySpec
from assay.search.claims import claim_between
from assay.search.history import History
from assay.workloads.kernels import REPETITION, Kernel, Variant
from assay.workloads.roofs import Roofs


@dataclass(frozen=True)
class Step:
    """One variant of a kernel, as it was measured.

    Attributes:
        variant: of the kernel.
        against: name of the variant that it is held against: its parent, or the nearest one above
            that was run; ``None`` for the first.
        median_s: of one repetition, over all launches; ``None`` where there is none.
        claim: on it against that one.
    """

    variant: Variant
    against: str | None
    median_s: float | None
    claim: Claim | None

    @property
    def gflop_per_s(self) -> float:
        """Additions and multiplications; 0 where there is no time."""
        return 1e-9 * self.variant.flops / self.median_s if self.median_s else 0.0

    @property
    def gb_per_s(self) -> float:
        """Bytes that have to move; 0 where there is no time."""
        return 1e-9 * self.variant.moved_bytes / self.median_s if self.median_s else 0.0

    def of_roof(self, roofs: Roofs) -> float:
        """How much of what the machine can do at most; 0 where there is no time."""
        return roofs.bound_s(self.variant) / self.median_s if self.median_s else 0.0


def arms_of(
    program: Path, variants: Sequence[Variant], words: Sequence[str], seconds: float
) -> tuple[Arm, ...]:
    """An arm for each variant, under its name: the command that runs it.

    Args:
        program: of the kernel.
        variants: that are to run.
        words: which data, and how many threads.
        seconds: that a launch goes on, beside its first repetition.
    """
    return tuple(
        Arm(
            name=one.variant,
            configuration=Configuration(
                {
                    "command": shlex.join(
                        (
                            str(program),
                            "--variant",
                            one.variant,
                            "--seconds",
                            f"{seconds:g}",
                            *words,
                        )
                    )
                }
            ),
        )
        for one in variants
    )


def ladder(
    kernel: Kernel, variants: Sequence[Variant], spec: StudySpec, samples: Sequence[Sample]
) -> tuple[Step, ...]:
    """What a study of a kernel's variants says of each step.

    All intervals hold together, as ``alpha`` of the study says.
    """
    history = History.of(spec, samples)
    run = {one.variant for one in variants}
    above = {one.variant: one.parent for one in kernel.variants}
    alpha = spec.alpha / max(len(variants) - 1, 1)
    steps = []
    for one in variants:
        against = above[one.variant]
        while against and against not in run:
            against = above[against]
        claim = claim_between(spec, history, (against, one.variant), alpha) if against else None
        steps.append(Step(one, against or None, _median(samples, one.variant), claim))
    return tuple(steps)


def _median(samples: Sequence[Sample], name: str) -> float | None:
    values = [
        sample.metrics[REPETITION.name]
        for sample in samples
        if sample.launch.arm == name
        and sample.launch.stage is Stage.CONFIRM
        and REPETITION.name in sample.metrics
    ]
    return statistics.median(values) if values else None
