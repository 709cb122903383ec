"""Outcome of a launch: success or failure, with the reason."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from assay.executors.metrics.instances import InstanceOutputs, first_instance_without
from assay.executors.metrics.matching import has_match, quoted
from assay.executors.progress.values import NO_REPORTS, ReportedValues
from assay.records import Outcome, RunFacts, Series, Workload
from assay.units import show_duration, show_signal

SILENT_INTERVALS = 10.0
"""Silence before a time-out of a program that hung, in longest intervals between two reports."""
MIN_SILENCE_S = 1.0
"""Shortest silence of a program that hung, in seconds."""
OUTCOMES = {
    "exited": Outcome.OK,
    "signaled": Outcome.FAILED,
    "timed_out": Outcome.TIMED_OUT,
    "limit": Outcome.LIMIT,
    "killed_for_memory": Outcome.FAILED,
    "exec_failed": Outcome.FAILED,
    "setup_failed": Outcome.FAILED,
    "bad_plan": Outcome.FAILED,
}


def launch_outcome(
    workload: Workload, facts: RunFacts, outputs: Sequence[Path], instances: InstanceOutputs
) -> tuple[Outcome, str | None]:
    """Return the outcome of a launch, and the reason if it failed.

    Args:
        workload: source of the check.
        facts: record of the launcher.
        outputs: output files of the program.
        instances: output files by instance, if there are several.
    """
    outcome = OUTCOMES.get(facts.outcome, Outcome.FAILED)
    prefix = _instance_prefix(facts, instances)
    if outcome.succeeded and facts.exit_status:
        return Outcome.FAILED, f"{prefix}{describe_exit(facts.exit_status, facts.signal)}"
    if outcome.succeeded and workload.check:
        reason = f"the output has no match of the check {quoted(workload.check)}"
        lacking = first_instance_without(workload.check, instances) if instances else None
        if lacking is not None:
            return Outcome.FAILED, f"{reason} of instance {lacking}"
        if not instances and not has_match(workload.check, outputs):
            return Outcome.FAILED, reason
    if facts.outcome == "signaled" and facts.signal:
        return outcome, f"{prefix}{describe_exit(facts.exit_status, facts.signal)}"
    if facts.outcome == "interrupted":
        by = show_signal(facts.interrupted_by) if facts.interrupted_by else "a signal"
        return outcome, f"{by} ended its launcher; assay had not requested that"
    return outcome, facts.message


def outcome_with_reports(
    workload: Workload,
    reported: ReportedValues,
    outcome: Outcome,
    message: str | None,
    *,
    wall_s: float,
    ended_by_assay: bool,
) -> tuple[Outcome, str | None]:
    """Return the outcome of a launch that assay or a time-out ended, if its values suffice.

    Its exit status and its last output say nothing: the program could not complete them. A program
    that was silent for long before a time-out did hang.

    Args:
        workload: metric that decides when the launch ends.
        reported: values that the program reported while it ran.
        outcome, message: as ``launch_outcome`` returned them.
        wall_s: wall time of the launch, in seconds.
        ended_by_assay: true if assay ended the launch because its values sufficed.
    """
    if not ended_by_assay and outcome is not Outcome.TIMED_OUT:
        return outcome, message
    metric = workload.steady_metric
    if metric is not None and metric.name in reported.values:
        silent_s = 0.0 if ended_by_assay else _silent_s(reported.series.get(metric.name), wall_s)
        if not silent_s:
            return Outcome.ENOUGH, None
        return outcome, f"no value of {metric.name} in the last {show_duration(silent_s)}"
    if not ended_by_assay or metric is None:
        return outcome, message
    return Outcome.FAILED, f"{metric.name}: {reported.absent.get(metric.name, NO_REPORTS)}"


def _silent_s(series: Series | None, wall_s: float) -> float:
    """Return the time of silence at the end of a launch that did hang, in seconds; 0 otherwise."""
    if series is None or len(series.times_s) < 2:
        return 0.0
    longest_s = max(b - a for a, b in itertools.pairwise(series.times_s))
    silent_s = wall_s - series.times_s[-1]
    return silent_s if silent_s > max(MIN_SILENCE_S, SILENT_INTERVALS * longest_s) else 0.0


def _instance_prefix(facts: RunFacts, instances: InstanceOutputs) -> str:
    """Return the prefix of a message that names the instance that failed first."""
    if facts.first_failed_instance is None:
        return ""
    known = facts.first_failed_instance < len(instances)
    number = instances[facts.first_failed_instance][0] if known else facts.first_failed_instance
    return f"instance {number}: "


def describe_exit(exit_status: int | None, number: int | None) -> str:
    """Return the end of a program in words: its signal or its exit status."""
    return f"ended by {show_signal(number)}" if number else f"exit status {exit_status or 0}"
