"""Progress: values that a program reports while it runs, and the rule that ends a launch early."""

from __future__ import annotations

import enum

from assay.records.codec import Record


class Progress(Record, frozen=True, kw_only=True):
    """Source of the reported values of a metric.

    Without pattern and file the values come from the records that the program writes to the
    progress channel (``ASSAY_PROGRESS_FD``, ``ASSAY_PROGRESS_PATH``).

    Attributes:
        pattern: regular expression for each line of the output, as it is printed. Its first group,
            or the group ``value``, is the value; the groups ``step`` and ``unit`` are optional.
        file: path of a file that the program appends to, relative to the working directory of the
            launch: CSV with a header, JSON lines, or a TensorBoard event file or its folder.
        key: column, key or tag of the value; the name of the metric if empty.
        preset: name of the known format of output that the value comes from, such as ``tqdm``.
    """

    pattern: str | None = None
    file: str | None = None
    key: str = ""
    preset: str | None = None


class Series(Record, frozen=True, kw_only=True):
    """Reported values of a metric over one launch, thinned to a bounded number of intervals.

    All tuples have one entry for each interval, in the order of time. Thinning merges intervals
    and keeps the minimum, the maximum and the mean of their values.

    Attributes:
        times_s: time of the last report of the interval since the start of the launch, in seconds.
        steps: step of that report.
        values: mean of the values, in the unit of the metric.
        minima: smallest value; empty if every interval has a single report.
        maxima: largest value; empty if every interval has a single report.
        counts: number of reports; empty if every interval has a single report.
        rank: rank of the process that reported the values; absent if only one process reported.
    """

    times_s: tuple[float, ...]
    steps: tuple[float, ...]
    values: tuple[float, ...]
    minima: tuple[float, ...] = ()
    maxima: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()
    rank: int | None = None


class RateForm(enum.StrEnum):
    """Meaning of the values of a progress metric."""

    RATE = "rate"
    """Work per second, such as samples/s."""
    DURATION = "duration"
    """Seconds per step."""
    LEVEL = "level"
    """Quantity that is not a speed, such as a loss."""


class SteadyPart(Record, frozen=True, kw_only=True):
    """Steady part of a launch: the reports after its warm-up, on which its value rests.

    Attributes:
        begin_step: last step of the warm-up.
        begin_s: time of that step since the start of the launch, in seconds.
        end_step: last step of the steady part.
        end_s: time of that step since the start of the launch, in seconds.
        first_report_s: time of the first report since the start of the launch, in seconds.
        period_steps: distance of periodic dips, such as checkpoints, in steps; absent without such
            dips.
        periods: number of whole periods in the steady part; the number of batches without dips.
        batch_sd: standard deviation of the mean of one batch relative to the mean, corrected for
            autocorrelation; absent below four batches. A batch is a period if there are sixteen.
        batch_steps: length of such a batch, in steps. ``batch_sd**2 * batch_steps`` is the
            long-run variance of a step.
        settled: true if the values became steady; otherwise the second half of the launch counts.
        whole_periods: false if there are periodic dips and the steady part is shorter than one
            period. One whole period suffices. A fiftieth of it may be missing, since reports rarely
            fall on its end.
        cumulative: true if the program prints running means, so that differences of step and time
            were used.
        times_disagree: true if the times of the reports disagree with the printed speeds, so that
            the mean of the printed values was used.
        ended_early: true if assay ended the launch because its value was worse than that of the
            incumbent by more than the chance of an error allows.
        bound: true if it did so during the warm-up: the value of the launch is only a bound, since
            a steady value would be at most as good.
    """

    begin_step: float
    begin_s: float
    end_step: float
    end_s: float
    first_report_s: float
    period_steps: float | None = None
    periods: int = 0
    batch_sd: float | None = None
    batch_steps: float = 1.0
    settled: bool = True
    whole_periods: bool = True
    cumulative: bool = False
    times_disagree: bool = False
    ended_early: bool = False
    bound: bool = False


class Incumbent(Record, frozen=True, kw_only=True):
    """Value that a launch of the search is compared with while it runs.

    Attributes:
        value: mean over launches of the incumbent, in the unit of the metric.
        launches: number of these launches.
        periods: number of periods of each of them.
        launch_sd: standard deviation between launches, as a share of the mean.
        unit_steps: length of a period in steps, or of a batch of a program without periodic dips.
        batch_sd: standard deviation of the mean of one period, as a share of the mean.
        curve_steps: steps of its mean curve from the first report to the end of the warm-up; empty
            if launches are not compared during their warm-up.
        curve_s: times of these steps since the first one, in seconds.
    """

    value: float
    launches: int
    periods: float
    launch_sd: float
    unit_steps: float
    batch_sd: float
    curve_steps: tuple[float, ...] = ()
    curve_s: tuple[float, ...] = ()


class EndRule(Record, frozen=True, kw_only=True):
    """Rule that ends a launch as soon as its values suffice, and its known warm-up.

    Attributes:
        warmup_steps: last step of the warm-up, known from earlier launches; absent: found in the
            launch itself.
        period_steps: distance of periodic dips in steps, known from earlier launches.
        steady_steps: number of steady steps after which the launch ends; absent: the program ends
            by itself.
        first_look: true if the launch ends as soon as its warm-up and its periods are known.
        max_s: time after which the launch ends in any case, in seconds.
        incumbent: value that ends a clearly worse launch early; absent in a confirmation.
        lengthened: true if the launch is longer than its variance requires, since the values of
            earlier launches still changed at their end.
    """

    warmup_steps: float | None = None
    period_steps: float | None = None
    steady_steps: float | None = None
    first_look: bool = False
    max_s: float | None = None
    incumbent: Incumbent | None = None
    lengthened: bool = False


class Until(Record, frozen=True, kw_only=True):
    """Request to end launches as soon as their values suffice.

    Attributes:
        steady_steps: number of steady steps of every launch; absent: assay chooses the number that
            minimises the time of the study.
    """

    steady_steps: float | None = None

    @property
    def is_auto(self) -> bool:
        """True if assay chooses the length of launches."""
        return self.steady_steps is None


class DerivationKind(enum.StrEnum):
    """Quantity that is derived from the reported values of another metric."""

    TIME_TO = "time_to"
    """Time until the values reach a level, in seconds."""
    AT = "at"
    """Value at a step."""
    FINAL = "final"
    """Last value of a launch that the program ended."""
    STEP = "step"
    """Mean time of a step without periodic dips, in seconds."""


class Derivation(Record, frozen=True, kw_only=True):
    """Derivation of a metric from the reported values of another one.

    Attributes:
        kind: derived quantity.
        metric: name of the metric with the values; empty for the steps themselves.
        level: for ``TIME_TO``: level to reach.
        falling: for ``TIME_TO``: true if the values reach the level from above.
        step: for ``AT``: step of the value.
    """

    kind: DerivationKind
    metric: str = ""
    level: float | None = None
    falling: bool = True
    step: float | None = None

    @property
    def condition(self) -> str:
        """Return the condition that ``TIME_TO`` waits for, such as ``loss<=0.3``."""
        sign = "<=" if self.falling else ">="
        return f"{self.metric}{sign}{self.level or 0.0:g}"


class StoredSpread(Record, frozen=True, kw_only=True):
    """Standard deviation between launches that a calibration of this machine has measured.

    Attributes:
        sd: standard deviation of the logarithm of a launch, without drift.
        study: id of the calibration.
        started_at: start of the calibration, in seconds since 1970 (UTC).
    """

    sd: float
    study: str
    started_at: float
