"""Workload: what to run, what to read from it, and when it counts as right."""

from __future__ import annotations

import enum

from assay.records.codec import Record


class Goal(enum.StrEnum):
    """Which way a metric gets better."""

    LOWER = "lower"
    HIGHER = "higher"


class Combine(enum.StrEnum):
    """How the figures of several instances become one."""

    SUM = "sum"
    MEAN = "mean"
    MAX = "max"
    MIN = "min"


class Metric(Record, frozen=True, kw_only=True):
    """One figure of a sample.

    Attributes:
        name: as reports show it; those of ``BUILT_IN`` come from the launcher, all others from the
            output.
        unit: ``s``, ``bytes``, or any text.
        goal: direction of improvement.
        pattern: regular expression with one group, searched in the output; the last match counts.
        take: what is made of all matches of a launch: ``mean``, ``median``, ``max``, ``min``,
            ``sum`` or a quantile such as ``p99``; absent where the last match counts.
        file: that the pattern is searched in, named from the working folder of the launch, in the
            place of the output.
        combine: what is made of the figures of several instances; see ``combined``.
        as_is: the figure counts whatever stands beside it in the output.
        assumed: no option gave the direction of improvement.
    """

    name: str
    unit: str = ""
    goal: Goal = Goal.LOWER
    pattern: str | None = None
    combine: Combine | None = None
    as_is: bool = False
    assumed: bool = False
    take: str | None = None
    file: str | None = None

    @property
    def combined(self) -> Combine:
        """As asked; else what is to be high adds up, and of what is to be low the worst counts."""
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
"""Metrics that the launcher gives for every program; ``peak_bytes`` cannot be an objective, since
the page cache that it counts depends on what ran before."""

PERF_METRICS = frozenset({"task_clock_s", "cycles", "instructions", "cpu_migrations"})
"""Those that perf events count. They take the program time, so they are counted where asked for."""

HOST_DEPENDENT_METRICS = PERF_METRICS | {"energy_j"}
"""Those that a host may be unable to give."""


class Limits(Record, frozen=True, kw_only=True):
    """Limits on the whole tree of a launch; absent means none."""

    memory_bytes: int | None = None
    processes: int | None = None
    cpu_s: float | None = None
    output_bytes: int | None = None


class Hooks(Record, frozen=True, kw_only=True):
    """Commands around the launches, none of them timed; an empty one is none.

    Attributes:
        setup: once, before the first launch of a sitting.
        prepare: before each launch.
        cleanup: once, after the last launch of a sitting, also where it was interrupted.
        stop: while a launch runs that is to end before its time, in place of SIGTERM.
    """

    setup: tuple[str, ...] = ()
    prepare: tuple[str, ...] = ()
    cleanup: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()


class BuildRecipe(Record, frozen=True, kw_only=True):
    """How the program is built, once for each configuration and outside its launches.

    Attributes:
        argv: words; ``{build}`` is the folder for what is built, ``{NAME}`` the value of
            ``build.NAME``.
        values: declared names, with the words that stand for them where a configuration has none.
        inputs: files and folders that it is built from; where there are none, those that the
            command names and the sources in ``cwd``.
        cwd: folder that it runs in.
        limit_s: what a build may take; ``None``: what is usual.
    """

    argv: tuple[str, ...]
    values: dict[str, str] = {}
    inputs: tuple[str, ...] = ()
    cwd: str | None = None
    limit_s: float | None = None


class Workload(Record, frozen=True, kw_only=True):
    """A command with declared placeholders, its metrics, its check and its time-out.

    Attributes:
        argv: words; ``{NAME}`` is replaced where ``NAME`` is in ``placeholders``.
        placeholders: declared names with their default values.
        environment: set in every launch: the defaults of ``env.NAME`` parameters.
        metrics: the first is the objective.
        check: regular expression that must be found in the output, or the sample counts as failed.
        timeout_s: after it the launch is ended and counts as right-censored.
        grace_s: what a launch has between being asked to end and being killed; ``None``: what is
            usual.
        stdin: file the program reads; ``/dev/null`` when absent.
        cwd: folder the program starts in.
        outputs_may_differ: arms count as doing the same work whatever they write; see
            ``compares_outputs``.
        hooks: what runs around its launches.
        build: what makes the program; ``{build}`` in ``argv`` is then the folder that it lies in.
        beside: names of the metrics that were asked for, in order; those that decide are among
            them. Empty in studies from before it was kept.
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
    beside: tuple[str, ...] = ()

    @property
    def compares_outputs(self) -> bool:
        """Whether arms with different output may do different work; ``check`` says it otherwise."""
        return self.check is None and not self.outputs_may_differ

    @property
    def objective(self) -> Metric:
        """The metric that the race decides by."""
        return self.metrics[0]
