"""Conversion of launch facts into a verified sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from assay.errors import InvalidInputError
from assay.executors.evidence.contradictions import contradictions
from assay.executors.evidence.error_output import error_output_evidence
from assay.executors.evidence.libraries import libraries_evidence
from assay.executors.evidence.output import kept_output
from assay.executors.evidence.thread_pools import pools_evidence
from assay.executors.metrics.direction import demand_directed
from assay.executors.metrics.extract import MetricReadings, metrics_of
from assay.executors.metrics.headers import UNIT_SEPARATOR
from assay.executors.metrics.instances import (
    InstanceOutputs,
    first_instance_without,
    metrics_of_instances,
)
from assay.executors.metrics.matching import has_match, quoted
from assay.executors.metrics.metric_files import FileState, metric_path, written_since
from assay.executors.progress.derived_values import ENDED_BY_ASSAY
from assay.executors.progress.values import NO_REPORTS, ReportedValues
from assay.launch.observations import ANON_PEAK
from assay.machine.cpulist import format_list, show_numbers
from assay.records import (
    Counter,
    Evidence,
    Grant,
    InstanceFacts,
    Launch,
    Metric,
    Observation,
    Outcome,
    ReadBack,
    RunFacts,
    Sample,
    Workload,
)
from assay.records.facts import HostActivity, Termination
from assay.records.sample import (
    KILLED_AFTER,
    OWN_AFFINITY,
    REMAINING_PROCESSES,
    STOP_FAILED,
    TERMINATION,
    UNIT_PREFIX,
    UNKNOWN_UNIT_PREFIX,
)
from assay.settings.evidence import observed_mask
from assay.units import show_signal

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


def build_sample(
    launch: Launch,
    workload: Workload,
    facts: RunFacts,
    outputs: Sequence[Path],
    grants: dict[str, Grant],
    before: Sequence[Evidence] = (),
    own_s: float = 0.0,
    instances: InstanceOutputs = (),
    observed: Sequence[Observation] = (),
    reading: MetricReadings | None = None,
    hooked_s: float = 0.0,
    reported: ReportedValues | None = None,
    *,
    ended_by_assay: bool = False,
) -> Sample:
    """Return the sample of a finished launch.

    Args:
        launch: launch as requested.
        workload: source of the metrics and the check.
        facts: record of the launcher.
        outputs: output files of the program.
        grants: verification result of each setting.
        before: evidence from before the launch.
        own_s: processor time of assay itself during the launch.
        instances: output files by instance, if there are several.
        observed: active observations.
        reading: metrics, if they have been read already.
        hooked_s: CPU time of the processes of hooks during the launch.
        reported: values that the program reported while it ran.
        ended_by_assay: true if assay ended the launch because its values sufficed.
    """
    outcome, message = _outcome(workload, facts, outputs, instances)
    reading = reading or read_metrics(workload, facts, outputs, instances)
    if reported is not None:
        outcome, message = _outcome_with_reports(
            workload, reported, outcome, message, ended_by_assay=ended_by_assay
        )
        reading = _with_reported(reading, reported)
        if outcome is Outcome.ENOUGH:
            reading = _of_ended_launch(reading, workload)
    metrics = reading.values if outcome.succeeded else {}
    mapped = libraries_evidence(launch, facts)
    lines, pools = error_output_evidence(outputs), pools_evidence(launch, facts)
    foreign_s = None if facts.host is None else foreign_load_s(facts.host, own_s, hooked_s)
    return Sample(
        launch=launch,
        outcome=outcome,
        limit=facts.limit,
        exit_status=facts.exit_status,
        signal=facts.signal,
        message=message,
        wall_s=facts.wall_s,
        user_s=facts.user_s,
        sys_s=facts.sys_s,
        peak_bytes=facts.peak_bytes,
        peak_anon_bytes=facts.peak_anon_bytes,
        metrics=metrics,
        settings=grants,
        evidence=(
            *before,
            *_launch_evidence(facts, foreign_s),
            *([Evidence(kind="hooked_load", value=hooked_s, unit="s")] if hooked_s else []),
            *([mapped] if mapped else []),
            *([lines] if lines else []),
            *([pools] if pools else []),
            *(
                Evidence(kind=f"{UNIT_PREFIX}{name}", note=unit)
                for name, unit in reading.units.items()
            ),
            *(
                Evidence(kind=f"{UNKNOWN_UNIT_PREFIX}{name}", note=word)
                for name, word in reading.words.items()
            ),
            *(() if reported is None else reported.evidence),
        ),
        unavailable={**facts.unavailable, **reading.absent},
        started_at=facts.started_at or 0.0,
        launcher_version=facts.launcher_version,
        outputs=tuple(found for path in outputs if (found := kept_output(path)) is not None),
        observations=tuple(observed),
        contradictions=contradictions(facts, foreign_s),
        upper_bounds=_upper_bounds(workload, facts) if metrics else {},
        series={} if reported is None else reported.series,
        steady=reported.steady if reported is not None and outcome.succeeded else {},
    )


def _outcome_with_reports(
    workload: Workload,
    reported: ReportedValues,
    outcome: Outcome,
    message: str | None,
    *,
    ended_by_assay: bool,
) -> tuple[Outcome, str | None]:
    """Return the outcome of a launch that assay or a time-out ended, if its values suffice.

    Its exit status and its last output say nothing: the program could not complete them.
    """
    if not ended_by_assay and outcome is not Outcome.TIMED_OUT:
        return outcome, message
    metric = workload.steady_metric
    if metric is not None and metric.name in reported.values:
        return Outcome.ENOUGH, None
    if not ended_by_assay or metric is None:
        return outcome, message
    return Outcome.FAILED, f"{metric.name}: {reported.absent.get(metric.name, NO_REPORTS)}"


def _with_reported(reading: MetricReadings, reported: ReportedValues) -> MetricReadings:
    """Return the readings of a launch with the values that its program reported."""
    return replace(
        reading,
        values={**reading.values, **reported.values},
        absent={**reading.absent, **reported.absent},
        units={**reading.units, **reported.units},
    )


def _of_ended_launch(reading: MetricReadings, workload: Workload) -> MetricReadings:
    """Return the readings of a launch that assay ended, with this reason for missing values."""
    printed = {m.name for m in workload.metrics if m.pattern is not None}
    absent = {
        name: ENDED_BY_ASSAY if name in printed else reason
        for name, reason in reading.absent.items()
    }
    return replace(reading, absent=absent)


def _upper_bounds(workload: Workload, facts: RunFacts) -> dict[str, float]:
    """Return upper bounds of metrics whose values may be too low."""
    most = facts.peak_anon_upper_bound_bytes
    is_requested = any(
        m.name == ANON_PEAK and m.pattern is None and not m.ignore_unit for m in workload.metrics
    )
    return {ANON_PEAK: float(most)} if most is not None and is_requested else {}


def read_metrics(
    workload: Workload,
    facts: RunFacts,
    outputs: Sequence[Path],
    instances: InstanceOutputs = (),
    before: Mapping[Path, FileState] = {},
) -> MetricReadings:
    """Read all metrics of a launch.

    Args:
        workload, facts, outputs, instances: see ``build_sample``.
        before: state of the metric files before the launch.
    """
    if instances:
        return metrics_of_instances(workload.metrics, facts, instances)
    written = {
        metric.name: written_since(path, before.get(path))
        for metric in workload.metrics
        if metric.file is not None
        for path in (metric_path(metric, workload),)
    }
    return metrics_of(workload.metrics, facts, outputs, written)


def demand_figures(workload: Workload, reading: MetricReadings) -> None:
    """Refuse a figure that is part of a longer number, and a rate with the goal lower.

    Args:
        workload: source of the metrics.
        reading: metrics of its first launch, which succeeded.

    Raises:
        InvalidInputError: such a figure exists; the message names the first one.
    """
    for name, number in reading.cut.items():
        raise InvalidInputError(
            f"{name}: {reading.absent[name]}.",
            f"Correct the pattern, so that it matches all of {number!r} or the text beside the "
            f"figure, or run the program with LC_ALL=C; --metric-as-is {name} accepts it "
            "unchanged.",
        )
    demand_directed(
        msgspec.structs.replace(metric, unit=unit)
        for metric in workload.metrics
        for unit in _shown_units(metric, reading)
    )


def _shown_units(metric: Metric, reading: MetricReadings) -> list[str]:
    """Return the printed unit of a figure and the word after it; else the metric's unit."""
    unit = reading.units.get(metric.name, "")
    found = ("" if UNIT_SEPARATOR in unit else unit, reading.words.get(metric.name, ""))
    return [one for one in found if one] or [metric.unit]


def _outcome(
    workload: Workload, facts: RunFacts, outputs: Sequence[Path], instances: InstanceOutputs
) -> tuple[Outcome, str | None]:
    """Return the outcome, and the reason if the launch failed."""
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


def _termination_evidence(termination: Termination) -> list[Evidence | None]:
    """Return the time that a launch took to end on request, and a failure of the stop command."""
    failed = termination.signal or termination.exit_status
    how = describe_exit(termination.exit_status, termination.signal) if failed else None
    return [
        _evidence_of(TERMINATION, termination.duration_s, "s", note=termination.method),
        _evidence_of(
            KILLED_AFTER,
            termination.duration_s if termination.killed else None,
            "s",
            note=termination.method,
        ),
        None if how is None else Evidence(kind=STOP_FAILED, note=how),
    ]


def _launch_evidence(facts: RunFacts, foreign_s: float | None) -> list[Evidence]:
    """Return the evidence of a launch; missing readings are omitted."""
    found = [
        *(_host_evidence(facts.host, foreign_s) if facts.host is not None else ()),
        _evidence_of("run_queue_wait", facts.run_queue_wait_s, "s"),
        _evidence_of("migrations", facts.migrations),
        _evidence_of("involuntary_switches", facts.involuntary_switches),
        _evidence_of("voluntary_switches", facts.voluntary_switches),
        _evidence_of("major_faults", facts.major_faults),
        _evidence_of("minor_faults", facts.minor_faults),
        _evidence_of("throttled", facts.throttled_s, "s"),
        _evidence_of("stopped", facts.stopped_s, "s", external=True),
        _evidence_of("energy", facts.energy_j, "J", note=facts.energy_scope),
        _evidence_of(
            REMAINING_PROCESSES,
            facts.containment.remaining_processes or None,
            "processes",
            note="\n".join(facts.containment.remaining_process_names) or None,
        ),
        _evidence_of(
            "surviving_processes", facts.containment.surviving_processes or None, "processes"
        ),
        *(_termination_evidence(facts.graceful_stop) if facts.graceful_stop is not None else ()),
    ]
    found += [_counter_evidence(name, counter) for name, counter in facts.counters.items()]
    found += [_evidence_of(f"pressure.{k}", v, "s") for k, v in (facts.pressure or {}).items()]
    if facts.readback is not None:
        found += _memory_evidence(facts.readback)
        found.append(_evidence_of("threads_peak", facts.readback.threads_peak))
        mask = observed_mask(facts)
        if mask and facts.host is not None and len(mask) < (facts.host.cpus or 0):
            found.append(_evidence_of(OWN_AFFINITY, len(mask), "CPUs", note=format_list(mask)))
    found += [_instance_evidence(place, one) for place, one in enumerate(facts.instances)]
    containment = f"{facts.containment.mode}, {facts.containment.guarantee}"
    known = [piece for piece in found if piece is not None]
    return [*known, Evidence(kind="containment", note=containment)]


def _instance_evidence(place: int, instance: InstanceFacts) -> Evidence:
    """Return the wall time of one of several instances, with its CPUs."""
    on = f"on {show_numbers('CPU', instance.cpus)}" if instance.cpus else None
    return Evidence(kind=f"instance.{place}", value=instance.wall_s, unit="s", note=on)


def _host_evidence(host: HostActivity, foreign_s: float | None) -> list[Evidence | None]:
    """Return the conditions on the host; only the first two certainly have external causes."""
    return [
        _evidence_of("steal", host.steal_s, "s", external=True),
        _evidence_of("foreign_load", foreign_s, "s", external=True),
        _evidence_of("host_cpus", host.cpus),
        _evidence_of("swap_in", host.swap_in_pages, "pages"),
        _evidence_of("swap_out", host.swap_out_pages, "pages"),
        _evidence_of("throttle_events", host.throttle_events, "events"),
        _evidence_of("frequency_ratio", host.frequency_ratio),
        Evidence(kind="clock_source", note=host.clock_source) if host.clock_source else None,
    ]


def foreign_load_s(host: HostActivity, own_s: float, hooked_s: float = 0.0) -> float | None:
    """Return the CPU time that other processes used on the CPUs of the launch.

    Processes of hooks are excluded as far as possible, since part of their work may have run on
    other CPUs.

    Launcher and assay may have run on other CPUs of the host, so that the result may be slightly
    too low. Parallel launches and their launchers run on other CPUs and are not included. The
    kernel counts busy time in ticks, so that the value of a short launch may be negative. It is
    kept, so that the sum over many launches is correct.
    """
    if host.busy_s is None or host.process_tree_cpu_s is None:
        return None
    found_s = host.busy_s - host.process_tree_cpu_s - (host.launcher_cpu_s or 0.0) - own_s
    return max(min(found_s, 0.0), found_s - hooked_s)


def _counter_evidence(name: str, counter: Counter) -> Evidence:
    notes = ["user mode only"] if counter.scope == "user" else []
    if counter.scaled:
        # With several core types, part of the remaining time was on another type.
        whole = "." not in name and counter.enabled_s > 0.0
        share = f" from {counter.running_s / counter.enabled_s:.0%} of the time" if whole else ""
        notes.append(f"scaled{share}")
    unit = "s" if name.endswith("_s") else ""
    note = ", ".join(notes) or None
    return Evidence(kind=f"counter.{name}", value=counter.value, unit=unit, note=note)


def _memory_evidence(seen: ReadBack) -> list[Evidence | None]:
    """Return the placement of memory, and its page sizes."""
    return [
        _evidence_of("anon_huge", seen.anon_huge_bytes, "bytes"),
        *(_evidence_of(f"page_size.{k}", v, "bytes") for k, v in (seen.page_bytes or {}).items()),
        *(_evidence_of(f"node.{k}", v, "pages") for k, v in (seen.numa_pages or {}).items()),
    ]


def _evidence_of(
    kind: str,
    value: float | None,
    unit: str = "",
    *,
    external: bool = False,
    note: str | None = None,
) -> Evidence | None:
    """Return evidence with a value; ``None`` without a value."""
    if value is None:
        return None
    return Evidence(kind=kind, value=float(value), unit=unit, external=external, note=note)
