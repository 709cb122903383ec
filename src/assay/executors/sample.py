"""Conversion of launch facts into a verified sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.executors.evidence.contradictions import contradictions
from assay.executors.evidence.error_output import error_output_evidence
from assay.executors.evidence.launch import foreign_load_s, launch_evidence
from assay.executors.evidence.libraries import libraries_evidence
from assay.executors.evidence.output import kept_output
from assay.executors.evidence.thread_pools import pools_evidence
from assay.executors.metrics.extract import MetricReadings
from assay.executors.metrics.instances import (
    InstanceOutputs,
)
from assay.executors.metrics.reading import read_metrics
from assay.executors.outcome import launch_outcome, outcome_with_reports
from assay.executors.progress.derived_values import ENDED_BY_ASSAY
from assay.executors.progress.values import ReportedValues
from assay.launch.observations import ANON_PEAK
from assay.records import (
    Evidence,
    Grant,
    Launch,
    Observation,
    Outcome,
    RunFacts,
    Sample,
    Workload,
)
from assay.records.sample import (
    UNIT_PREFIX,
    UNKNOWN_UNIT_PREFIX,
)


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
    outcome, message = launch_outcome(workload, facts, outputs, instances)
    reading = reading or read_metrics(workload, facts, outputs, instances)
    if reported is not None:
        outcome, message = outcome_with_reports(
            workload,
            reported,
            outcome,
            message,
            wall_s=facts.wall_s or 0.0,
            ended_by_assay=ended_by_assay,
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
            *launch_evidence(facts, foreign_s),
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
