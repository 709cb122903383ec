"""Notes on the limits of the answer of a study."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import (
    ArmResult,
    Claim,
    GrantStatus,
    Kind,
    Metric,
    Outcome,
    Sample,
    Stage,
    StudySpec,
    Workload,
)
from assay.records.configuration import show_value
from assay.records.observation import CYCLES_COUNTER, Observation
from assay.records.workload import WALL
from assay.search.claims.objections import MAX_MISSING_SHARE
from assay.search.history.disturbance_sources import disturbance_sources_of
from assay.search.history.history import History
from assay.search.history.packed_samples import figures_of, select, succeeded
from assay.search.races.sweep import min_blocks
from assay.units import show_quantity
from assay.wording import notes as wording
from assay.wording.failure import reasons_by_arm
from assay.wording.sentence import stability
from assay.wording.unreached import is_unreached, never_reached

MIN_BOUND_FACTOR = 1.25
"""Ratio of the upper bound to the value from which on a note is given."""


def too_few_blocks_notes(spec: StudySpec) -> list[str]:
    """Return a note on a sweep with too few blocks for verdicts."""
    repeats = spec.design.repeats if spec.design else None
    least = min_blocks(spec)
    if repeats is None or repeats >= least:
        return []
    return [wording.too_few_blocks(repeats, len(spec.arms), least)]


def stability_notes(found: Claim | None) -> list[str]:
    """Return a note on the spread of a winner, which its mean does not show."""
    text = stability(found) if found is not None else ""
    return [text.strip().removesuffix(".")] if text else []


def shape_notes(metric: Metric, arms: Sequence[ArmResult], samples: Sequence[Sample]) -> list[str]:
    """Return notes on arms whose launches fall into two groups, with correlated evidence."""
    notes = []
    for arm in arms:
        found = arm.modes
        if found is None:
            continue
        low, high = (show_quantity(mean, metric.unit) for mean in (found.low, found.high))
        note = wording.two_groups(arm.name, low, high, found.upper_mode_share)
        if found.explained_by is not None:
            note += wording.correlated_evidence(
                found.explained_by,
                found.low_evidence or 0.0,
                found.high_evidence or 0.0,
                _unit_of(samples, found.explained_by),
            )
        notes.append(note)
    return notes


def _unit_of(samples: Sequence[Sample], kind: str) -> str:
    """Return the unit of a kind of evidence; empty without one."""
    pieces = (e for sample in samples for e in sample.evidence if e.kind == kind)
    return next((e.unit for e in pieces), "")


def disturbance_notes(
    spec: StudySpec,
    history: History,
    claims: Sequence[Claim | None] = (),
    *,
    has_expected: bool = False,
) -> list[str]:
    """Return a note on blocks that other processes disturbed, and their use in the answer.

    Args:
        spec: specification of the study.
        history: samples of the study.
        claims: claims of the study.
        has_expected: whether the answer states an expected effect.
    """
    lost, blocks = history.disturbed(Stage.CONFIRM), len(history.complete(Stage.CONFIRM))
    if not history.blocks(Stage.CONFIRM):
        return _searched_notes(spec, history, has_expected)
    if not lost or spec.disturbed_above is None:
        return []
    known = [claim for claim in claims if claim is not None and not claim.verdict_withheld]
    return [
        wording.disturbed_blocks(
            lost,
            blocks,
            disturbance_sources_of(history),
            spec.disturbed_above,
            included=history.mostly_disturbed(Stage.CONFIRM),
            measurement=spec.kind is Kind.MEASURE,
            all_used=any(claim.disturbed_blocks for claim in known),
        )
    ]


def _searched_notes(spec: StudySpec, history: History, has_expected: bool) -> list[str]:
    """Return a note on disturbed blocks of a search without a confirmation."""
    lost, blocks = history.disturbed(Stage.SEARCH), len(history.blocks(Stage.SEARCH))
    if not lost or spec.disturbed_above is None:
        return []
    disturbers = disturbance_sources_of(history, Stage.SEARCH)
    return [
        wording.disturbed_search(
            lost, blocks, disturbers, spec.disturbed_above, has_expected=has_expected
        )
    ]


def observing_notes(spec: StudySpec, samples: Sequence[Sample]) -> list[str]:
    """Return notes on observations that a calibration switched off, and on missing counters."""
    notes = []
    if spec.disabled_observations:
        notes.append(wording.skipped_observations(spec.disabled_observations))
    if Observation.COUNTERS in (spec.requested_observations or ()):
        lacking = select(samples, lambda shape: CYCLES_COUNTER in shape.unavailable)
        if samples and len(lacking) == len(samples):
            notes.append(wording.no_counters(lacking[-1].unavailable[CYCLES_COUNTER]))
    return notes


def loss_notes(workload: Workload, samples: Sequence[Sample]) -> list[str]:
    """Return notes on launches that failed, timed out, or gave no value."""
    notes = []
    failed = select(samples, lambda shape: shape.outcome in (Outcome.FAILED, Outcome.LIMIT))
    if failed:
        warm = len(select(failed, lambda shape: shape.stage is Stage.SURVEY))
        reasons = reasons_by_arm(workload, failed)
        notes.append(wording.failed_launches(len(failed), len(samples), warm, reasons))
    late = select(samples, lambda shape: shape.outcome is Outcome.TIMED_OUT)
    if late:
        notes.append(_timeout_note(workload, late, len(samples)))
    return [*notes, *absence_notes(workload.metrics, samples)]


def absence_notes(metrics: Sequence[Metric], samples: Sequence[Sample]) -> list[str]:
    """Return notes on launches that ended well without a usable value.

    Args:
        metrics: metrics of the workload, the objective first.
        samples: samples of the study.
    """
    notes = []
    good = succeeded(samples)
    zeros = select(good, lambda shape: metrics[0].name in shape.without_ratio)
    if zeros:
        notes.append(wording.zero_values(metrics[0].name, len(zeros), len(good), _arms_of(zeros)))
    for metric in metrics:
        notes += _bound_notes(metric, good)
        lacking = _lacking(metric, good)
        if lacking and metric.pattern is not None:
            reason = lacking[-1].unavailable[metric.name]
            arms = _arms_of(lacking)
            notes.append(wording.missing_values(metric.name, len(lacking), len(good), arms, reason))
        notes += _unreached_notes(metric, good)
    return notes


def _lacking(metric: Metric, good: Sequence[Sample]) -> Sequence[Sample]:
    return select(good, lambda shape: metric.name in shape.unavailable)


def _unreached_notes(metric: Metric, good: Sequence[Sample]) -> list[str]:
    """Return notes on launches that never reached the level of a metric."""
    lacking = [sample for sample in _lacking(metric, good) if is_unreached(sample, metric)]
    if not lacking:
        return []
    reached = {sample.launch.arm for sample in figures_of(good) if metric.name in sample.metrics}
    never = [sample for sample in lacking if sample.launch.arm not in reached]
    sometimes = [sample for sample in lacking if sample.launch.arm in reached]
    notes = []
    if never:
        names = list(dict.fromkeys(sample.launch.arm for sample in never))
        reason = never[-1].unavailable[metric.name]
        notes.append(never_reached(metric, names, len(never), reason))
    if sometimes:
        reason, arms = sometimes[-1].unavailable[metric.name], _arms_of(sometimes)
        notes.append(wording.missing_values(metric.name, len(sometimes), len(good), arms, reason))
    return notes


def _bound_notes(metric: Metric, good: Sequence[Sample]) -> list[str]:
    """Return a note on values that are lower bounds, with the largest upper bound."""
    name = metric.name
    bounded = [
        (sample.upper_bounds[name], sample)
        for sample in select(good, lambda shape: name in shape.bounded)
        if sample.upper_bounds[name] > MIN_BOUND_FACTOR * sample.metrics.get(name, 0.0)
    ]
    if len(bounded) <= MAX_MISSING_SHARE * len(good):
        return []
    arms = _arms_of([sample for _, sample in bounded])
    return [
        wording.lower_bounds(
            metric, len(bounded), len(good), arms, max(bound for bound, _ in bounded)
        )
    ]


def _timeout_note(workload: Workload, late: Sequence[Sample], launches: int) -> str:
    metric, caps = workload.objective, {sample.launch.timeout_s for sample in late}
    limit = wording.OWN_TIMEOUT
    if caps == {workload.timeout_s}:
        limit = wording.TIMEOUT_OPTION
    elif workload.timeout_s is not None:
        limit = wording.TIMEOUT_OR_EARLIER
    missing = metric.name if metric.name != WALL.name else None
    return wording.timed_out_launches(len(late), launches, limit, _arms_of(late), missing)


def _arms_of(samples: Sequence[Sample]) -> str:
    """Return the arms of launches, and the number of warm-up launches among them."""
    arms = sorted({s.launch.arm for s in figures_of(samples)})
    warm = select(samples, lambda shape: shape.stage is Stage.SURVEY)
    return wording.arms_of_launches(arms, len(warm))


def refusal_notes(history: History) -> list[str]:
    """Return notes on values that the search excluded, since no launch applied them."""
    reasons = history.refusals.reasons
    return [wording.refused_value(value, reason) for value, reason in reasons.items()]


def other_work_notes(history: History) -> list[str]:
    """Return a note on configurations whose output shows other work than that of the default."""
    note = history.other_work.note
    return [] if note is None else [note]


def cell_grant_notes(history: History) -> list[str]:
    """Return a note on each setting that did not take effect in cells of a sweep."""
    by_setting: dict[str, list[Sample]] = {}
    confirming = select(history.samples, lambda shape: shape.stage is Stage.CONFIRM)
    for sample in select(confirming, lambda shape: bool(shape.unapplied)):
        for name in sample.settings:
            by_setting.setdefault(name, []).append(sample)
    notes = []
    for name, unapplied in by_setting.items():
        refused = [s for s in unapplied if s.settings[name].status is GrantStatus.REFUSED]
        if refused:
            reason = refused[-1].settings[name].reason or ""
            cells = len({s.launch.arm for s in refused})
            launches = len(_with_setting(name, confirming))
            notes.append(wording.refused_in_cells(name, len(refused), launches, cells, reason))
    return notes


def _with_setting(name: str, samples: Sequence[Sample]) -> Sequence[Sample]:
    return select(samples, lambda shape: name in shape.settings)


def _unapplied(name: str, samples: Sequence[Sample]) -> Sequence[Sample]:
    return select(samples, lambda shape: name in shape.unapplied)


def grant_notes(history: History, arms: Sequence[ArmResult]) -> list[str]:
    """Return notes on settings that did not take effect, or in part, in launches of arms."""
    notes = []
    for arm in arms:
        samples = history.launches_in(Stage.CONFIRM, arm.name)
        for name in arm.configuration:
            grants = [s.settings[name] for s in _unapplied(name, samples)]
            refused = [grant for grant in grants if grant.status is GrantStatus.REFUSED]
            degraded = [grant for grant in grants if grant.status is GrantStatus.DEGRADED]
            if refused:
                setting = f"{name}={show_value(refused[-1].value)}"
                never = setting if len(refused) == len(samples) else ""
                reason = refused[-1].reason or ""
                notes.append(
                    wording.refused_in_arm(
                        name, len(refused), len(samples), arm.name, reason, never
                    )
                )
            elif degraded:
                reason = degraded[-1].reason or ""
                notes.append(
                    wording.degraded_in_arm(name, len(degraded), len(samples), arm.name, reason)
                )
    return notes
