"""Calibration: noise and false verdicts of a machine, measured with identical arms."""

from __future__ import annotations

from assay.records.codec import Record

BUILT_IN_LOAD = ("-I", "-S", "-c", "for i in range(500000): i * i")
"""Arguments of a Python interpreter that make it a calibration load: about 50 ms of constant work.

An interpreter exists wherever assay runs. It starts as other programs do (dynamic linking, some
hundred files, page faults) and then works in one thread, without input and output. ``-I -S``
exclude variables and packages of the user.
"""


class FalseVerdicts(Record, frozen=True, kw_only=True):
    """Rate of false verdicts in simulated studies of identical arms.

    Attributes:
        share: share of the simulated studies that reported a difference.
        standard_error: standard error of ``share`` from the number of studies; all resample one
            recording.
        studies: number of simulated studies.
        blocks: blocks of each study, with an interim analysis after every block.
    """

    share: float
    standard_error: float
    studies: int
    blocks: int


class SmallestGain(Record, frozen=True, kw_only=True):
    """The smallest gain that nine out of ten studies detect within a budget.

    Attributes:
        budget_s: budget of the study, in seconds.
        blocks: blocks of two launches that fit into the budget.
        simulated_blocks: blocks of the simulated studies, if they were shorter.
        gain: share of the time that is saved; absent if not even the largest simulated gain is
            detected.
    """

    budget_s: float
    blocks: int
    simulated_blocks: int | None = None
    gain: float | None = None


class Calibration(Record, frozen=True, kw_only=True):
    """Properties of a machine from the launches of one configuration.

    Attributes:
        median: median of the launches, in the unit of the metric.
        sd_log: standard deviation of the logarithm of a launch.
        ratio_sd_log: standard deviation of the log-ratio of the two launches of a block, which is
            free of drift.
        position: ratio of the second launch of a block to the first, geometric mean.
        drift: median of the last third of the launches over that of the first; absent below nine
            launches.
        autocorrelation: lag-one autocorrelation of the logarithms; absent without variance.
        false_verdicts: false verdicts of assay on this machine; absent with too few launches.
        gains: smallest detectable gain by budget; empty with too few launches.
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
    """Noise floor of a machine from a calibration.

    Attributes:
        study: id of the calibration.
        started_at: start of the calibration, in seconds since 1970 (UTC).
        command: the command that ran, as text.
        metric: name of the metric.
        ci: interval of the ratio of two identical arms; ``None`` for an open end.
    """

    study: str
    started_at: float
    command: str
    metric: str
    ci: tuple[float | None, float | None]
