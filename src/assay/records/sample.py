"""Sample: the result of one launch."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from assay.records.codec import SCHEMA, Record
from assay.records.configuration import Value
from assay.records.launch import Launch
from assay.records.observation import Observation
from assay.records.output import Output
from assay.records.plan import Level
from assay.records.progress import Series, SteadyPart


class Outcome(enum.StrEnum):
    """Outcome of a launch."""

    OK = "ok"
    ENOUGH = "enough"
    """assay ended the launch because its values sufficed."""
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    LIMIT = "limit"

    succeeded: bool
    """True if the launch gave valid results."""

    def __init__(self, text: str) -> None:
        self.succeeded = text in ("ok", "enough")


class GrantStatus(enum.StrEnum):
    """Result of the verification of a setting."""

    GRANTED = "granted"
    DEGRADED = "degraded"
    REFUSED = "refused"
    UNVERIFIED = "unverified"


class Grant(Record, frozen=True, kw_only=True):
    """Verification of one setting in one sample.

    Attributes:
        value: requested value.
        status: result of the verification.
        level: strength of the evidence.
        reason: reason of a result other than *granted*.
        observed: value that assay read back.
    """

    value: Value
    status: GrantStatus
    level: Level = Level.SET
    reason: str | None = None
    observed: str | None = None


REVISION = "revision"
"""Kind of evidence: commit that the program was built from."""
TERMINATION = "termination"
"""Kind of evidence: duration of a requested termination, which is not part of the wall time; the
note names the method."""
KILLED_AFTER = "killed_after"
"""Kind of evidence: time after which a launch was killed because it did not terminate on request;
the note names the method."""
STOP_FAILED = "stop_failed"
"""Kind of evidence: failure of the stop command; the note describes it."""
REMAINING_PROCESSES = "remaining_processes"
"""Kind of evidence: number of processes that outlived the program and were terminated; the note
lists their names."""
BUILD = "build"
"""Kind of evidence: build of a launch and its duration in seconds; without a value the build
failed."""


PROCESS = "process"
"""Kind of evidence: identity of the user's process that ran a trial, in the note."""
OWN_AFFINITY = "own_affinity"
"""Kind of evidence: the program restricted its own affinity to a part of the mask of the launch."""
QUOTA_PERIODS, QUOTA_THROTTLED = "quota_periods", "quota_throttled"
"""Kinds of evidence: enforcement periods of a CPU quota during the launch, and periods in which the
quota was exhausted."""

STDERR_LINES = "stderr"
"""Kind of evidence: number of distinct lines of standard error, with the lines in the note; without
a note they exceed the limit of a sample."""

UNIT_PREFIX = "unit."
"""Prefix of a kind of evidence: unit of a metric in the output."""
UNKNOWN_UNIT_PREFIX = "unknown_unit."
"""Prefix of a kind of evidence: word after the value of a metric that is not a known unit."""
OUTPUT = "output"
"""Kind of evidence: normalised output, equal for launches that do the same work
(``assay.executors.evidence.same_work``)."""
ERRORS = "errors"
"""Kind of evidence: number of lines that report an error although the launch succeeded, with the
first lines in the note (``assay.executors.evidence.reported_errors``)."""
NOT_FINITE = "is NaN, infinite or above 1e100"
"""End of the reason for the absence of ``final(NAME)`` (``not_finite_end``)."""
PROGRESS_PREFIX = "progress_"
"""Prefix of a kind of evidence: finding about the values that a launch reported, in words. The name
of the metric may follow after a point."""
PROGRESS_QUOTES = ("the last lines are", "the last of these lines is")
"""Words in the note of such evidence after which lines of the output follow."""
UNIT_MULTIPLES = frozenset(("k", "M", "G", "T", "ki", "Ki", "Mi", "Gi", "Ti"))
"""Units that are only multiples: next to them a value without a unit is a thousandth or less."""


def not_finite_end(name: str) -> str:
    """Return the reason for the absence of the final value of a metric."""
    return f"the last value of {name} is NaN, infinite or above 1e100"


class Evidence(Record, frozen=True, kw_only=True, gc=False):  # holds no containers
    """Observation on the quality of a sample.

    Attributes:
        kind: name of the observation.
        value: observed value.
        unit: unit of ``value``.
        external: true if the cause lies outside the configuration; only such evidence may exclude a
            block (docs/explanation/statistics.md).
        note: details in words.
    """

    kind: str
    value: float | None = None
    unit: str = ""
    external: bool = False
    note: str | None = None


class Sample(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Result of one launch: metrics, resources, evidence, outcome, and a grant for each setting.

    Attributes:
        launch: the intended sample: configuration, arm, block and position.
        outcome: outcome of the launch.
        limit: limit that ended the launch.
        exit_status: exit status of the program, if it ended by itself.
        signal: number of the signal that ended the program.
        message: reason of a failure, in words.
        wall_s: wall time, in seconds.
        user_s: CPU time in user mode of the process tree, in seconds.
        sys_s: CPU time in the kernel of the process tree, in seconds.
        peak_bytes: highest charge of the control group, page cache included, in bytes.
        peak_anon_bytes: highest sampled anonymous and shared memory, in bytes.
        metrics: measured metrics of the workload, by name.
        settings: verification of each setting, by name.
        evidence: further observations of the launch.
        started_at: start of the launch, in seconds since 1970 (UTC).
        node: name of the host within the study; ``local`` is this one.
        launcher_version: version of the native launcher.
        unavailable: reason of each missing metric, by name.
        outputs: outputs of a launch that has just ended; a store keeps them separately.
        observations: enabled observations.
        contradictions: contradictions between the accounts of the launch; reports mention such a
            sample wherever it is used.
        upper_bounds: upper bound of each metric whose value is a lower bound.
        series: reported values of each progress metric, by name.
        steady: steady part of the launch for each of these metrics, by name.
    """

    launch: Launch
    outcome: Outcome
    limit: str | None = None
    exit_status: int | None = None
    signal: int | None = None
    message: str | None = None
    wall_s: float | None = None
    user_s: float | None = None
    sys_s: float | None = None
    peak_bytes: int | None = None
    peak_anon_bytes: int | None = None
    metrics: dict[str, float] = {}
    settings: dict[str, Grant] = {}
    evidence: tuple[Evidence, ...] = ()
    unavailable: dict[str, str] = {}
    started_at: float = 0.0
    node: str = "local"
    launcher_version: str = ""
    outputs: tuple[Output, ...] = ()
    observations: tuple[Observation, ...] = ()
    contradictions: tuple[str, ...] = ()
    upper_bounds: dict[str, float] = {}
    series: dict[str, Series] = {}
    steady: dict[str, SteadyPart] = {}

    @property
    def total_wall_s(self) -> float:
        """Return the wall time plus the duration of a requested termination, in seconds."""
        total_s = self.wall_s or 0.0
        for piece in self.evidence:
            if piece.kind == TERMINATION:
                total_s += piece.value or 0.0
        return total_s

    def total_wall_s_with(self, evidence: Mapping[str, Evidence]) -> float:
        """Return ``total_wall_s`` without a scan of the evidence.

        Args:
            evidence: result of ``evidence_by_kind``.
        """
        return self.total_wall_s if TERMINATION in evidence else self.wall_s or 0.0

    def evidence_by_kind(self) -> dict[str, Evidence]:
        """Return the evidence by kind; of several pieces of a kind the last one."""
        return {piece.kind: piece for piece in self.evidence}

    @property
    def build_failed(self) -> bool:
        """Return whether the build failed, so that nothing was launched."""
        return any(piece.kind == BUILD and piece.value is None for piece in self.evidence)
