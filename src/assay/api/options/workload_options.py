"""Texts of the options that describe a workload."""

from __future__ import annotations

from assay.records.codec import Record


class WorkloadOptions(Record, frozen=True, kw_only=True):
    """Texts of the options of a workload; both the command line and a sweep file provide them.

    Each field has the name of its option, and its value as it is written.

    Attributes:
        metric, unit, goal, combine, metric_file, metric_as_is: definitions of metrics.
        progress: metrics that the program reports while it runs.
        progress_file: path of a file that the program appends their values to.
        until: condition that ends a launch.
        objective: metrics to decide by, each with an optional statistic.
        require: requirements on the result.
        outputs_may_differ: acceptance of arms whose outputs differ.
        check: regular expression that the output matches.
        timeout, grace: times with their units.
        limit: resource limits, separated by commas.
        input: path of the file for standard input.
        build, build_input, build_timeout: build of the program.
        setup, prepare, cleanup, stop: commands around the launches.
        shell: commands are texts for a shell; ``None`` if the verb has no such option.
        parallel: number of slots of concurrent launches.
        compares: the study compares arms, so that the direction of a metric matters.
    """

    metric: tuple[str, ...] = ()
    unit: tuple[str, ...] = ()
    goal: tuple[str, ...] = ()
    combine: tuple[str, ...] = ()
    metric_file: tuple[str, ...] = ()
    metric_as_is: tuple[str, ...] = ()
    progress: tuple[str, ...] = ()
    progress_file: str | None = None
    until: str | None = None
    objective: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    outputs_may_differ: bool = False
    check: str | None = None
    timeout: str | None = None
    grace: str | None = None
    limit: str | None = None
    input: str | None = None
    build: str | None = None
    build_input: tuple[str, ...] = ()
    build_timeout: str | None = None
    setup: str | None = None
    prepare: str | None = None
    cleanup: str | None = None
    stop: str | None = None
    shell: bool | None = False
    parallel: str | None = None
    compares: bool = True
