"""Sample: one launch carried out."""

from __future__ import annotations

import enum

from assay.records.codec import Record
from assay.records.configuration import Value
from assay.records.launch import Launch
from assay.records.observation import Observation
from assay.records.output import Output
from assay.records.plan import Level


class Outcome(enum.StrEnum):
    """What became of a launch."""

    OK = "ok"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    LIMIT = "limit"


class GrantStatus(enum.StrEnum):
    """Whether a setting took effect, judged from what was read back."""

    GRANTED = "granted"
    DEGRADED = "degraded"
    REFUSED = "refused"
    UNVERIFIED = "unverified"


class Grant(Record, frozen=True, kw_only=True):
    """The judgement on one setting of one sample."""

    value: Value
    grant: GrantStatus
    level: Level = Level.SET
    reason: str | None = None
    observed: str | None = None


REVISION = "revision"
"""Kind of the evidence that names a commit that a program was built from."""
TERMINATION = "ending"
"""Kind of the evidence on a launch that was asked to end before its time: how long that took, which
is no part of its wall time; the note says how it was asked."""
KILLED_AFTER = "killed_after"
"""Kind of the evidence that a launch did not end when it was asked to: after which time it was
killed; the note says how it was asked."""
STOP_FAILED = "stop_failed"
"""Kind of the evidence that the command failed which was to end a launch; the note says how."""
REMAINING_PROCESSES = "left_over"
"""Kind of the evidence that counts processes that outlived the program and were ended; their names
are the lines of its note."""
BUILD = "build"
"""Kind of the evidence that says what was built for a launch, and how many seconds it took; without
a value it could not be built."""


OWN_AFFINITY = "kept_on"
"""Kind of the evidence on a mask within that of the launch: the program chose fewer CPUs itself."""
QUOTA_PERIODS, QUOTA_THROTTLED = "quota_periods", "quota_throttled"
"""Kinds of the evidence on a quota of CPU time: periods that passed while the launch ran, and those
of them in which the quota ran out."""

STDERR_LINES = "stderr"
"""Kind of the evidence on the error output: the number of its distinct lines, and the lines in its
note; without a note there are more than are kept with a sample."""

UNIT_PREFIX = "unit."
"""Begins the kind of the evidence on the unit in which the output names a metric."""
UNKNOWN_UNIT_PREFIX = "word."
"""Begins the kind of the evidence on the word behind a metric's figure that is no known unit."""
OUTPUT = "output"
"""Kind of the evidence on what a launch wrote, in a form in which launches that do the same work
agree (``assay.executors.evidence.same_work``)."""
ERRORS = "errors"
"""Kind of the evidence on lines in which a launch that ended well reports an error: how many, and
the first of them in its note (``assay.executors.evidence.reported_errors``)."""
UNIT_MULTIPLES = frozenset(("k", "M", "G", "T", "ki", "Ki", "Mi", "Gi", "Ti"))
"""Units that only multiply a figure: beside them one without a unit is a thousandth or less."""


class Evidence(Record, frozen=True, kw_only=True):
    """One thing that shows what a sample is worth.

    ``value`` carries the unit that ``unit`` names; ``outside`` tells whether the cause lies
    outside the configuration (only such may ever exclude a block: docs/explanation/statistics.md).
    """

    kind: str
    value: float | None = None
    unit: str = ""
    outside: bool = False
    note: str | None = None


class Sample(Record, frozen=True, kw_only=True, tag_field="schema", tag=1):
    """One launch carried out: metrics, resources, evidence, outcome, a grant for each setting.

    ``metrics`` holds every metric of the workload that could be measured, by name. An absent key
    has no value; ``absent`` says why. ``outputs`` are there when the launch has just ended: a store
    keeps them beside the sample, not in it. ``observed`` names the observations that were on.
    ``suspect`` holds the reasons why the accounts of the launch contradict each other; a sample
    with one is reported wherever it is used. ``at_most`` holds an upper bound of each metric whose
    value is a lower one.
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
    absent: dict[str, str] = {}
    started_at: float = 0.0
    node: str = "local"
    engine: str = ""
    outputs: tuple[Output, ...] = ()
    observed: tuple[Observation, ...] = ()
    suspect: tuple[str, ...] = ()
    at_most: dict[str, float] = {}

    @property
    def took_s(self) -> float:
        """Wall time, and the time to end where the launch was asked to before its time."""
        ending_s = sum(piece.value or 0.0 for piece in self.evidence if piece.kind == TERMINATION)
        return (self.wall_s or 0.0) + ending_s

    @property
    def unbuilt(self) -> bool:
        """Whether there was no program to launch, since it could not be built."""
        return any(piece.kind == BUILD and piece.value is None for piece in self.evidence)
