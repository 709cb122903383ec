"""Workload: a command, its metrics and its success criteria."""

from __future__ import annotations

import enum

from assay.records.codec import Record
from assay.records.progress import Derivation, DerivationKind, Progress, RateForm


class Goal(enum.StrEnum):
    """Direction of improvement of a metric."""

    LOWER = "lower"
    HIGHER = "higher"


class Combine(enum.StrEnum):
    """Aggregation of a metric over several instances."""

    SUM = "sum"
    MEAN = "mean"
    MAX = "max"
    MIN = "min"


class Metric(Record, frozen=True, kw_only=True):
    """Metric of a sample.

    Attributes:
        name: name in reports. The launcher measures metrics of ``BUILT_IN``; all others are read
            from the output.
        unit: ``s``, ``bytes``, or any text.
        goal: direction of improvement.
        pattern: regular expression with one group, applied to the output; the last match counts.
        combine: aggregation over several instances; see ``combined``.
        ignore_unit: true if a unit next to the value in the output is ignored.
        goal_assumed: true if no option gave the direction of improvement.
        statistic: statistic over all matches of a launch: ``mean``, ``median``, ``max``, ``min``,
            ``sum`` or a quantile such as ``p99``; absent if the last match counts.
        file: file that the pattern is applied to instead of the output, relative to the working
            directory of the launch.
        progress: source of the values, if the program reports them while it runs.
        derivation: derivation from the reported values of another metric.
        level: true if the reported values are other than a speed, such as a loss: they have no
            relation to the time of a step.
    """

    name: str
    unit: str = ""
    goal: Goal = Goal.LOWER
    pattern: str | None = None
    combine: Combine | None = None
    ignore_unit: bool = False
    goal_assumed: bool = False
    statistic: str | None = None
    file: str | None = None
    progress: Progress | None = None
    derivation: Derivation | None = None
    level: bool = False

    @property
    def is_reported(self) -> bool:
        """Return whether the value rests on values that the program reports while it runs."""
        return self.progress is not None or self.derivation is not None

    @property
    def rate_form(self) -> RateForm:
        """Return the meaning of reported values; a speed is a rate if higher is better."""
        if self.level:
            return RateForm.LEVEL
        return RateForm.RATE if self.goal is Goal.HIGHER else RateForm.DURATION

    @property
    def combined(self) -> Combine:
        """Return the aggregation: as requested, else sum if higher is better, else maximum."""
        return self.combine or (Combine.SUM if self.goal is Goal.HIGHER else Combine.MAX)


WALL = Metric(name="wall_s", unit="s")

PER_INSTANCE = "wall_s_per_instance"
"""Wall time over the number of instances."""

BUILT_IN: dict[str, Metric] = {
    "wall_s": WALL,
    PER_INSTANCE: Metric(name=PER_INSTANCE, unit="s"),
    "user_s": Metric(name="user_s", unit="s"),
    "sys_s": Metric(name="sys_s", unit="s"),
    "peak_bytes": Metric(name="peak_bytes", unit="bytes"),
    "peak_anon_bytes": Metric(name="peak_anon_bytes", unit="bytes"),
    "energy_j": Metric(name="energy_j", unit="J"),
    "task_clock_s": Metric(name="task_clock_s", unit="s"),
    "cycles": Metric(name="cycles", unit="cycles"),
    "instructions": Metric(name="instructions", unit="instructions"),
    "context_switches": Metric(name="context_switches", unit="switches"),
    "cpu_migrations": Metric(name="cpu_migrations", unit="migrations"),
    "page_faults": Metric(name="page_faults", unit="faults"),
}
"""Metrics that the launcher measures for every program. ``peak_bytes`` cannot be an objective: it
includes the page cache, which depends on earlier programs."""

PERF_METRICS = frozenset({"task_clock_s", "cycles", "instructions", "cpu_migrations"})
"""Metrics from perf events. They slow the program down and are only counted on request."""

HOST_DEPENDENT_METRICS = PERF_METRICS | {"energy_j"}
"""Metrics that some hosts cannot measure."""


class Limits(Record, frozen=True, kw_only=True):
    """Limits of the process tree of a launch; ``None`` means unlimited.

    Attributes:
        memory_bytes: memory, in bytes.
        processes: number of processes and threads.
        cpu_s: CPU time, in seconds.
        output_bytes: size of the output, in bytes.
    """

    memory_bytes: int | None = None
    processes: int | None = None
    cpu_s: float | None = None
    output_bytes: int | None = None


class Hooks(Record, frozen=True, kw_only=True):
    """Untimed commands around the launches; an empty one is not run.

    Attributes:
        setup: command that runs once before the first launch of a session.
        prepare: command that runs before each launch.
        cleanup: command that runs once after the last launch of a session, even after an interrupt.
        stop: command that requests the termination of a running launch, instead of SIGTERM.
    """

    setup: tuple[str, ...] = ()
    prepare: tuple[str, ...] = ()
    cleanup: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()


class BuildRecipe(Record, frozen=True, kw_only=True):
    """Build of the program, once for each configuration and outside its launches.

    Attributes:
        argv: command; ``{build}`` is the output directory, ``{NAME}`` the value of ``build.NAME``.
        values: declared names, with their default values.
        inputs: files and directories that the build depends on; if empty, those named by the
            command and the sources in ``cwd``.
        cwd: working directory.
        timeout_s: time limit of a build, in seconds; absent: the default.
    """

    argv: tuple[str, ...]
    values: dict[str, str] = {}
    inputs: tuple[str, ...] = ()
    cwd: str | None = None
    timeout_s: float | None = None


class Workload(Record, frozen=True, kw_only=True):
    """Command with declared placeholders, metrics, a check and a time-out.

    Attributes:
        argv: command; ``{NAME}`` is replaced if ``NAME`` is in ``placeholders``.
        placeholders: declared names with their default values.
        environment: variables of every launch: the defaults of ``env.NAME`` parameters.
        metrics: metrics of the workload, objective first.
        check: regular expression that the output must match; otherwise the sample counts as failed.
        timeout_s: time-out in seconds; a launch that reaches it is right-censored.
        grace_s: time between the request to terminate and SIGKILL, in seconds; absent: the default.
        stdin: file for standard input; ``/dev/null`` if absent.
        outputs_may_differ: true if arms count as doing the same work even if their outputs differ;
            see ``compares_outputs``.
        cwd: working directory of the program.
        limits: limits of the process tree of a launch.
        hooks: commands around the launches.
        build: build of the program; ``{build}`` in ``argv`` is its output directory.
        requested_metrics: names of the requested metrics, in order, objectives included. Empty in
            older studies.
    """

    argv: tuple[str, ...]
    placeholders: dict[str, str] = {}
    environment: dict[str, str] = {}
    metrics: tuple[Metric, ...] = (WALL,)
    check: str | None = None
    timeout_s: float | None = None
    grace_s: float | None = None
    stdin: str | None = None
    outputs_may_differ: bool = False
    cwd: str | None = None
    limits: Limits = Limits()
    hooks: Hooks = Hooks()
    build: BuildRecipe | None = None
    requested_metrics: tuple[str, ...] = ()

    @property
    def compares_outputs(self) -> bool:
        """Return whether different outputs indicate different work; ``check`` overrides it."""
        return self.check is None and not self.outputs_may_differ

    @property
    def objective(self) -> Metric:
        """Return the objective."""
        return self.metrics[0]

    @property
    def steady_metric(self) -> Metric | None:
        """Return the metric whose reported values decide when a launch has run long enough.

        It is the objective, or, if that is the time of a step, the first metric that the program
        reports. Other objectives need whole launches.
        """
        objective = self.objective
        if objective.progress is not None:
            return objective
        if objective.derivation is None or objective.derivation.kind is not DerivationKind.STEP:
            return None
        return next((metric for metric in self.metrics if metric.progress is not None), None)

    @property
    def uses_progress_channel(self) -> bool:
        """Return whether a metric takes its values from the progress channel."""
        sources = (metric.progress for metric in self.metrics)
        return any(one is not None and one == Progress(key=one.key) for one in sources)

    @property
    def reports_progress(self) -> bool:
        """Return whether the program reports values of a metric while it runs."""
        return any(metric.is_reported for metric in self.metrics)
