"""Calibration: what a machine shows where nothing differs."""

from __future__ import annotations

from assay.records.codec import Record


class FalseVerdicts(Record, frozen=True, kw_only=True):
    """How often studies of identical arms, made out of a recording, said that they differ.

    Attributes:
        share: of the studies.
        error: standard error of ``share``, from their number alone: the recording is one.
        studies: how many were made.
        blocks: of each, looked at after every one.
    """

    share: float
    error: float
    studies: int
    blocks: int


class SmallestGain(Record, frozen=True, kw_only=True):
    """The smallest gain that nine studies of ten show within a budget.

    Attributes:
        budget_s: of the study.
        blocks: that fit into it, two launches each.
        simulated_blocks: after how many the studies that were made ended, where that is less.
        gain: share of the time that is saved; absent where not even the largest tried is shown.
    """

    budget_s: float
    blocks: int
    simulated_blocks: int | None = None
    gain: float | None = None


class Calibration(Record, frozen=True, kw_only=True):
    """What the launches of one configuration tell of a machine.

    Attributes:
        median: of a launch, in the unit of the metric.
        sd_log: standard deviation of the logarithm of a launch.
        ratio_sd_log: that of the log-ratio of the two launches of a block: drift falls out.
        position: the second launch of a block over the first, geometric mean.
        drift: median of the last third of the launches over that of the first; absent below nine.
        autocorrelation: of the logarithms, from one launch to the next; absent where none vary.
        false_verdicts: of assay itself, on this machine; absent where too little was recorded.
        gains: by budget; none where too little was recorded.
    """

    median: float
    sd_log: float
    ratio_sd_log: float
    position: float
    drift: float | None = None
    autocorrelation: float | None = None
    false_verdicts: FalseVerdicts | None = None
    gains: tuple[SmallestGain, ...] = ()


class MachineFloor(Record, frozen=True, kw_only=True):
    """The noise floor of a machine, as a calibration found it.

    Attributes:
        study: that calibrated.
        at_s: when it began, in seconds since 1970 (UTC).
        command: that it ran, in words.
        metric: that it is about.
        ci: interval of the ratio of two identical arms; ``None`` for an open end.
    """

    study: str
    at_s: float
    command: str
    metric: str
    ci: tuple[float | None, float | None]
