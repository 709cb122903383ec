"""Request for a workload: the program to launch, its metrics and its limits."""

from __future__ import annotations

from assay.errors import InvalidInputError
from assay.records.codec import Record
from assay.records.workload import WALL, Hooks, Limits, Metric
from assay.requests.checks import demand_positive

MAX_GRACE_S = 24 * 60 * 60.0
"""Longest grace period of the launcher, in seconds."""


class BuildRequest(Record, frozen=True, kw_only=True):
    """Build of the program, once for each value of ``build.NAME`` and not timed.

    Attributes:
        argv: words of the build command; ``{build}`` is the output directory, ``{NAME}`` the value
            of ``build.NAME``.
        inputs: source files and directories (default: those that the command names, and the sources
            in the working directory).
        timeout_s: time limit of a build, in seconds (default: ten times the longest so far, at
            least 60).
    """

    argv: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    timeout_s: float | None = None

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: the command is missing, or the time is not above zero.
        """
        if not self.argv or not self.argv[0]:
            raise InvalidInputError("build.argv is empty.", "Give the words of the build command.")
        demand_positive("build.timeout_s", self.timeout_s)


class WorkloadRequest(Record, frozen=True, kw_only=True):
    """Program to launch, with its metrics, its success criteria and its limits.

    Attributes:
        argv: words of the command; ``{NAME}`` is replaced by the value of ``arg.NAME``.
        metrics: metrics to record, objectives first (default: wall time).
        reported: names of the requested metrics, in the order of the answer, objectives included
            (default: none, which shows the objectives alone).
        check: regular expression that the output of a successful launch matches (default: none).
        timeout_s: time limit of a launch, in seconds (default: none).
        grace_s: time between the request to end and SIGKILL, in seconds; 0 kills at once (default:
            10).
        stdin: path of the file for standard input (default: ``/dev/null``).
        cwd: working directory of the program (default: that of this process).
        outputs_may_differ: acceptance of arms whose outputs differ (default: false).
        limits: resource limits of a launch, in bytes, seconds and processes (default: none).
        hooks: commands around the launches, not timed (default: none).
        build: build of the program (default: none; the program exists).
    """

    argv: tuple[str, ...]
    metrics: tuple[Metric, ...] = (WALL,)
    reported: tuple[str, ...] = ()
    check: str | None = None
    timeout_s: float | None = None
    grace_s: float | None = None
    stdin: str | None = None
    cwd: str | None = None
    outputs_may_differ: bool = False
    limits: Limits = Limits()
    hooks: Hooks = Hooks()
    build: BuildRequest | None = None

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: the command or all metrics are missing, or a time is invalid.
        """
        if not self.argv or not self.argv[0]:
            raise InvalidInputError("workload.argv is empty.", "Give the words of the command.")
        if not self.metrics:
            raise InvalidInputError("workload.metrics is empty.", "Give at least one metric.")
        demand_positive("workload.timeout_s", self.timeout_s)
        if self.grace_s is not None and not 0.0 <= self.grace_s <= MAX_GRACE_S:
            raise InvalidInputError(
                f"workload.grace_s: invalid value {self.grace_s}.",
                f"Give a time from 0 to {MAX_GRACE_S:g} seconds.",
            )
        if self.hooks.stop and self.grace_s == 0.0:
            raise InvalidInputError(
                "workload.hooks.stop would never run: workload.grace_s is 0.",
                "Give a longer grace period, or leave one of the two out.",
            )
