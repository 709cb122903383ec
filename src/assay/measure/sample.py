"""From the launcher's facts to a judged sample."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path

from assay.measure.extract import holds, metrics_of
from assay.measure.libraries import libraries_seen
from assay.measure.output import kept
from assay.records import Evidence, Grant, Launch, Outcome, RunFacts, Sample, Workload
from assay.records.facts import Host

OUTCOMES = {
    "exited": Outcome.OK,
    "signaled": Outcome.FAILED,
    "timed_out": Outcome.TIMED_OUT,
    "limit": Outcome.LIMIT,
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
) -> Sample:
    """The sample of a launch that was carried out.

    Args:
        launch: what was intended.
        workload: says which metrics and check.
        facts: the launcher's record.
        outputs: files that the program wrote.
        grants: the judgement on each setting.
        before: evidence gathered before the launch.
    """
    outcome, message = _outcome(workload, facts, outputs)
    metrics, absent = metrics_of(workload.metrics, facts, outputs)
    if outcome is not Outcome.OK:
        metrics = {}
    mapped = libraries_seen(launch, facts)
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
        evidence=(*before, *_evidence(facts), *([mapped] if mapped else [])),
        absent={**facts.absent, **absent},
        started_at=facts.started_at or 0.0,
        engine=facts.engine,
        outputs=tuple(found for path in outputs if (found := kept(path)) is not None),
    )


def _outcome(
    workload: Workload, facts: RunFacts, outputs: Sequence[Path]
) -> tuple[Outcome, str | None]:
    """What became of it, and why in one sentence where it is not ok."""
    outcome = OUTCOMES.get(facts.outcome, Outcome.FAILED)
    if outcome is Outcome.OK and facts.exit_status:
        return Outcome.FAILED, f"exit status {facts.exit_status}"
    if outcome is Outcome.OK and workload.check and not holds(workload.check, outputs):
        return Outcome.FAILED, f"the check {workload.check!r} is not in the output"
    if facts.outcome == "signaled" and facts.signal:
        return outcome, f"ended by {_signal_name(facts.signal)}"
    return outcome, facts.message


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _evidence(facts: RunFacts) -> list[Evidence]:
    """What shows what the sample is worth; absent readings give none."""
    found = []
    if facts.host is not None:
        found += [
            _of("steal", facts.host.steal_s, "s", outside=True),
            _of("foreign_load", _foreign_s(facts.host), "s", outside=True),
        ]
    found += [
        _of("involuntary_switches", facts.involuntary_switches),
        _of("voluntary_switches", facts.voluntary_switches),
        _of("major_faults", facts.major_faults),
        _of("minor_faults", facts.minor_faults),
        _of("throttled", facts.throttled_s, "s"),
        _of("left_over", facts.containment.left_over or None, "processes"),
    ]
    found += [_of(f"pressure.{k}", v, "s") for k, v in (facts.pressure or {}).items()]
    if facts.seen is not None:
        found.append(_of("threads_peak", facts.seen.threads_peak))
        found.append(_of("anon_huge", facts.seen.anon_huge_bytes, "bytes"))
    kept = [e for e in found if e is not None]
    kept.append(
        Evidence(
            kind="containment",
            note=f"{facts.containment.mode}, {facts.containment.guarantee}",
        )
    )
    return kept


def _foreign_s(host: Host) -> float | None:
    """CPU time that others used on the CPUs of the launch: all of it less the tree's own."""
    if host.busy_s is None or host.own_s is None:
        return None
    return max(0.0, host.busy_s - host.own_s)


def _of(
    kind: str, value: float | None, unit: str = "", *, outside: bool = False
) -> Evidence | None:
    if value is None:
        return None
    return Evidence(kind=kind, value=float(value), unit=unit, outside=outside)
