"""Failures: reasons of launches without a value, and the next step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from assay.records import Limits, Outcome, Sample, StudySpec, Workload
from assay.records.sample import KILLED_AFTER, STOP_FAILED
from assay.units import show_bytes, show_count, show_duration
from assay.wording.launch_notes import killed_clause, stop_failed_clause
from assay.wording.unreached import is_unreached, unreached_remedy

RUN_BY_HAND = "Run it by hand first; --check, --timeout and --limit must be satisfied as well."
"""Next step after a failure of the program."""
MIN_SHELL_STATUS = 126
"""Lowest exit status of a shell for a command that did not start, or that a signal ended."""


@dataclass(frozen=True)
class Failure:
    """Reason of a launch without a value.

    Attributes:
        reason: a clause.
        first: next step, a sentence.
        arm: name of the arm if the study has several; else empty.
        status: exit status that may mean success; 0 without one.
    """

    reason: str
    first: str = RUN_BY_HAND
    arm: str = field(default="", compare=False)
    status: int = field(default=0, compare=False)

    @property
    def remedy(self) -> str:
        """Next steps, one or two sentences."""
        return " ".join(filter(None, (self.first, self.accepting("it"))))

    def accepting(self, program: str) -> str:
        """Return the way to accept the exit status as success; empty if it cannot mean that.

        Args:
            program: name of the program in the sentence.
        """
        if not self.status:
            return ""
        return (
            f"If status {self.status} means success of {program}, accept it: --shell with "
            f"'COMMAND || test $? -eq {self.status}'."
        )

    @property
    def text(self) -> str:
        """Reason, with the name of the arm if any."""
        return f"{self.reason} (arm {self.arm!r})" if self.arm else self.reason


def failure_text(sample: Sample, workload: Workload) -> str:
    """Return the reason of a launch that did not end well, with the limit that it hit.

    Args:
        sample: sample of the launch.
        workload: workload of the launch.
    """
    if sample.outcome is Outcome.LIMIT or (sample.limit and not sample.message):
        return _limit_words(sample.limit or "unknown", workload.limits)
    if sample.message:
        return f"{sample.message}{_termination(sample)}"
    if sample.outcome is Outcome.TIMED_OUT:
        caps = (sample.launch.timeout_s, workload.timeout_s)
        cap_s = min((cap for cap in caps if cap is not None), default=None)
        text = "timed out" if cap_s is None else f"did not end within {show_duration(cap_s)}"
        return f"{text}{_termination(sample)}"
    return sample.outcome.value.replace("_", " ")


def _termination(sample: Sample) -> str:
    """Return additions on a launch that did not end as requested; empty without any."""
    failed = [e for e in sample.evidence if e.kind == STOP_FAILED]
    killed = [e for e in sample.evidence if e.kind == KILLED_AFTER]
    clauses = [stop_failed_clause(piece.note) for piece in failed]
    clauses += [killed_clause(piece.note, piece.value or 0.0) for piece in killed]
    return "".join(clauses)


def _more_time(workload: Workload) -> str:
    """Return the next step after a launch that did not end."""
    set_here = workload.timeout_s is not None
    time = "Raise --timeout" if set_here else "Set the limit with --timeout, within --budget"
    return (
        f"{time}, if the program ends by itself; a stopped launch gives no value. A server does "
        "not end: start it with --setup, use a client as the command, and end it with --cleanup."
    )


def _limit_words(kind: str, limits: Limits) -> str:
    """Return a limit with its value, and the option that sets it."""
    values = {
        "memory": ("mem", limits.memory_bytes, show_bytes),
        "processes": (
            "procs",
            limits.processes,
            lambda n: show_count(int(n), "process", "processes"),
        ),
        "CPU time": ("cpu", limits.cpu_s, show_duration),
        "output": ("output", limits.output_bytes, show_bytes),
    }
    kind = "CPU time" if kind == "cpu" else kind
    key, value, show = values.get(kind, ("", None, str))
    if value is None:
        return f"stopped at the {kind} limit"
    return f"stopped at the {kind} limit of {show(value)} (--limit {key})"


_LIMITS = {
    "memory": ("mem", "uses less memory"),
    "processes": ("procs", "starts fewer processes"),
    "CPU time": ("cpu", "takes less CPU time"),
    "cpu": ("cpu", "takes less CPU time"),
    "output": ("output", "writes less"),
}
"""Key of each kind of limit, and a predicate of programs within it."""


def _limit_remedy(sample: Sample) -> str | None:
    """Return the next step after a launch that a limit ended; ``None`` if none did."""
    if sample.outcome is not Outcome.LIMIT or sample.limit not in _LIMITS:
        return None
    key, less = _LIMITS[sample.limit]
    return f"Raise --limit {key}=..., or change the program so that it {less}."


def failure_of(sample: Sample, workload: Workload) -> Failure:
    """Return the failure of a launch that did not end well.

    Args:
        sample: sample of the launch.
        workload: workload of the launch.
    """
    reason = failure_text(sample, workload)
    status = sample.exit_status or 0
    if (
        not sample.build_failed
        and 0 < status < MIN_SHELL_STATUS
        and sample.outcome is Outcome.FAILED
    ):
        return Failure(reason, status=status)
    if sample.outcome is Outcome.TIMED_OUT:
        return Failure(reason, _more_time(workload))
    if not sample.build_failed:
        return Failure(reason, _limit_remedy(sample) or RUN_BY_HAND)
    return Failure(
        reason,
        f"Correct {sample.launch.arm} or --build: run the build by hand first, with a folder in "
        "the place of {build}.",
    )


def failure_in(spec: StudySpec, sample: Sample) -> Failure | None:
    """Return the failure of a launch; ``None`` for a success.

    A launch that ended well without a value of the objective counts as a failure.

    Args:
        spec: specification of the study.
        sample: sample of the launch.
    """
    objective = spec.workload.objective.name
    if not sample.outcome.succeeded:
        return failure_of(sample, spec.workload)
    if is_unreached(sample, spec.workload.objective):
        return Failure(sample.unavailable[objective], unreached_remedy(spec.workload.objective))
    if objective in sample.unavailable:
        return Failure(f"{objective} cannot be read: {sample.unavailable[objective]}")
    return None


def last_failure(spec: StudySpec, samples: Sequence[Sample]) -> Failure | None:
    """Return the failure of the newest launch that failed; ``None`` without one."""
    for sample in sorted(samples, key=lambda s: s.started_at, reverse=True):
        found = failure_in(spec, sample)
        if found is not None:
            several = any(other.launch.arm != sample.launch.arm for other in samples)
            return replace(found, arm=sample.launch.arm) if several else found
    return None


MAX_ARMS = 3
"""Arms whose reasons a sentence contains."""


def reasons_by_arm(workload: Workload, failed: Sequence[Sample]) -> str:
    """Return failed launches by arm, with reasons: ``2 of 'a' (exit status 1), 1 of 'b' (...)``.

    Args:
        workload: workload of the launches.
        failed: launches that did not end well, the newest last.
    """
    arms: dict[str, list[Sample]] = {}
    for sample in failed:
        arms.setdefault(sample.launch.arm, []).append(sample)
    told = []
    for name, samples in list(arms.items())[:MAX_ARMS]:
        reasons = list(dict.fromkeys(failure_text(s, workload) for s in reversed(samples)))
        more = f", and {show_count(len(reasons) - 1, 'other reason')}" if len(reasons) > 1 else ""
        told.append(f"{len(samples)} of {name!r} ({reasons[0]}{more})")
    rest = sum(len(samples) for samples in list(arms.values())[MAX_ARMS:])
    if rest:
        told.append(f"{rest} of {show_count(len(arms) - MAX_ARMS, 'other arm')}")
    return ", ".join(told)
