"""Notes: what weakens the answer of a study, one sentence each."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import (
    ArmResult,
    Claim,
    Grant,
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
from assay.records.observation import CYCLES_COUNTER, DEFAULT_OBSERVATIONS, Observation
from assay.records.workload import WALL
from assay.search.claims.objections import MAX_MISSING_SHARE
from assay.search.history.disturbance_sources import disturbance_sources_of
from assay.search.history.history import History
from assay.search.history.zeros import BY_RATIO, is_without_ratio
from assay.search.races.sweep import min_blocks
from assay.units import show_count, show_quantity
from assay.wording.disturbance import disturbers_words
from assay.wording.failure import reasons_by_arm
from assay.wording.sentence import stability

MIN_BOUND_FACTOR = 1.25
"""Factor by which the upper bound of a figure must exceed it to be worth a note."""


def too_few_blocks_notes(spec: StudySpec) -> list[str]:
    """That a sweep was asked for fewer blocks than a verdict takes."""
    repeats = spec.design.repeats if spec.design else None
    least = min_blocks(spec)
    if repeats is None or repeats >= least:
        return []
    return [
        f"{show_count(repeats, 'block')} show what there is, and are too few for a verdict on "
        f"each of {show_count(len(spec.arms), 'cell')}: that takes {least} at least"
    ]


def stability_notes(found: Claim | None) -> list[str]:
    """What the mean of a winner does not tell of a single launch."""
    said = stability(found) if found is not None else ""
    return [said.strip().removesuffix(".")] if said else []


def shape_notes(metric: Metric, arms: Sequence[ArmResult], samples: Sequence[Sample]) -> list[str]:
    """Where the launches of an arm fall into two groups, and with what."""
    notes = []
    for arm in arms:
        found = arm.modes
        if found is None:
            continue
        low, high = (show_quantity(mean, metric.unit) for mean in (found.low, found.high))
        note = (
            f"{arm.name!r} falls into two groups: about {low}, and {high} in "
            f"{100 * found.high_share:.0f} % of its launches"
        )
        if found.explained_by is not None:
            unit = _unit_of(samples, found.explained_by)
            low_seen, high_seen = (
                f"{seen:.4g}" if not unit else show_quantity(seen, unit)
                for seen in (found.low_evidence or 0.0, found.high_evidence or 0.0)
            )
            along = f"{low_seen} and {high_seen} at the median"
            note += f"; what goes along is {found.explained_by.replace('_', ' ')} ({along})"
        notes.append(note)
    return notes


def _unit_of(samples: Sequence[Sample], kind: str) -> str:
    """The unit of a kind of evidence; empty where it has none."""
    pieces = (e for sample in samples for e in sample.evidence if e.kind == kind)
    return next((e.unit for e in pieces), "")


def disturbance_notes(
    spec: StudySpec, history: History, claims: Sequence[Claim | None] = ()
) -> list[str]:
    """Say how many blocks others disturbed, who did, and what that means for the figures.

    Args:
        spec: of the study.
        history: its samples.
        claims: that the study makes.
    """
    lost, blocks = history.disturbed(Stage.CONFIRM), len(history.complete(Stage.CONFIRM))
    if not history.blocks(Stage.CONFIRM):
        return _searched_notes(spec, history)
    if not lost or spec.disturbed_above is None:
        return []
    told = (
        f"{lost} of {show_count(blocks, 'block', 'blocks')} disturbed: others"
        f"{disturbers_words(disturbance_sources_of(history))} took more than "
        f"{100 * spec.disturbed_above:g} % of the CPUs meanwhile"
    )
    if history.mostly_disturbed(Stage.CONFIRM):
        told += "; that is more than a third, so the table includes them"
        if spec.kind is Kind.MEASURE:
            told += ", and no mean is called precise enough"
    else:
        told += "; the table leaves them out"
    known = [claim for claim in claims if claim is not None and not claim.withheld]
    if any(claim.disturbed_blocks for claim in known):
        told += (
            ". A verdict rests on all blocks where that tells more: the order within each is random"
        )
    return [told]


def _searched_notes(spec: StudySpec, history: History) -> list[str]:
    """Say how many blocks of a search without a confirmation others disturbed, and who did."""
    lost, blocks = history.disturbed(Stage.SEARCH), len(history.blocks(Stage.SEARCH))
    if not lost or spec.disturbed_above is None:
        return []
    return [
        f"{lost} of {show_count(blocks, 'block', 'blocks')} of the search disturbed: others"
        f"{disturbers_words(disturbance_sources_of(history, Stage.SEARCH))} took more than "
        f"{100 * spec.disturbed_above:g} % of the CPUs meanwhile, so what is expected may be off "
        "by more than its interval says"
    ]


def observing_notes(spec: StudySpec, samples: Sequence[Sample]) -> list[str]:
    """Name the usual observations that a calibration switched off, and counters without a value."""
    notes = []
    if spec.unobserved:
        names = " and ".join(spec.unobserved)
        notes.append(
            f"launches that count went without samples of {names}: a calibration shows that these "
            f"cost too much on this machine (`assay doctor` has the figures, `--observe "
            f"{','.join(DEFAULT_OBSERVATIONS)}` takes them nevertheless)"
        )
    if Observation.COUNTERS in (spec.observe or ()):
        reasons = [s.absent[CYCLES_COUNTER] for s in samples if CYCLES_COUNTER in s.absent]
        if samples and len(reasons) == len(samples):
            notes.append(f"no launch has hardware counters: {reasons[-1]}")
    return notes


def loss_notes(workload: Workload, samples: Sequence[Sample]) -> list[str]:
    """Say how many launches failed or were stopped, when any did."""
    notes = []
    failed = [s for s in samples if s.outcome in (Outcome.FAILED, Outcome.LIMIT)]
    if failed:
        warm = sum(s.launch.stage is Stage.SURVEY for s in failed)
        while_warming = f" ({warm} while warming up)" if warm else ""
        notes.append(
            f"{len(failed)} of {len(samples)} launches failed{while_warming}: "
            f"{reasons_by_arm(workload, failed)}"
        )
    late = [s for s in samples if s.outcome is Outcome.TIMED_OUT]
    if late:
        notes.append(_late_note(workload, late, len(samples)))
    return [*notes, *absence_notes(workload.metrics, samples)]


def absence_notes(metrics: Sequence[Metric], samples: Sequence[Sample]) -> list[str]:
    """Say how many launches ended well without a figure of the output, and why the newest did.

    So for an objective, the first of the metrics, that is 0 in some.
    """
    notes = []
    good = [sample for sample in samples if sample.outcome is Outcome.OK]
    zeros = [sample for sample in good if is_without_ratio(metrics[0].name, sample)]
    if zeros:
        of = show_count(len(good), "launch", "launches")
        notes.append(
            f"{metrics[0].name} is 0 or less in {len(zeros)} of {of}, {_among(zeros)}, which are "
            f"in no comparison: figures {BY_RATIO}"
        )
    for metric in metrics:
        notes += _bound_notes(metric, good)
        lacking = [s for s in good if metric.pattern is not None and metric.name in s.absent]
        if lacking:
            have = "has" if len(lacking) == 1 else "have"
            of = show_count(len(good), "launch", "launches")
            reason = lacking[-1].absent[metric.name]
            notes.append(
                f"{len(lacking)} of {of} {have} no {metric.name}, {_among(lacking)}, and are in no "
                f"figure of it; the last: {reason}"
            )
    return notes


def _bound_notes(metric: Metric, good: Sequence[Sample]) -> list[str]:
    """Say in how many launches a figure is no more than a lower bound, with the upper one."""
    bounds = {
        place: sample.at_most[metric.name]
        for place, sample in enumerate(good)
        if sample.at_most.get(metric.name, 0.0)
        > MIN_BOUND_FACTOR * sample.metrics.get(metric.name, 0.0)
    }
    if len(bounds) <= MAX_MISSING_SHARE * len(good):
        return []
    most = show_quantity(max(bounds.values()), metric.unit)
    among = _among([good[place] for place in bounds])
    return [
        f"{metric.name} is a lower bound in {len(bounds)} of "
        f"{show_count(len(good), 'launch', 'launches')}, {among}: up to "
        f"{most} may have been there between two samples; --metric-as-is {metric.name} takes it "
        "as it was seen"
    ]


def _late_note(workload: Workload, late: Sequence[Sample], launches: int) -> str:
    metric, caps = workload.objective, {sample.launch.cap_s for sample in late}
    if caps == {workload.timeout_s}:
        whose = "--timeout"
    elif workload.timeout_s is not None:
        whose = "--timeout, or sooner where a search found them slow"
    else:
        whose = "a limit that assay set (--timeout sets another)"
    if len(late) == 1:
        told = f"1 of {launches} launches was stopped at {whose}, {_among(late)}"
        counted = "it counts as at least that long, and is in no summary"
    else:
        told = f"{len(late)} of {launches} launches were stopped at {whose}, {_among(late)}"
        counted = "they count as at least that long, and are in no summary"
    if metric.name != WALL.name:
        counted = f"{'it has' if len(late) == 1 else 'they have'} no value of {metric.name}"
    return f"{told}: {counted}"


def _among(samples: Sequence[Sample]) -> str:
    """Whose launches they are; those that warmed up are in no arm's figures."""
    arms = sorted({s.launch.arm for s in samples})
    warm = sum(s.launch.stage is Stage.SURVEY for s in samples)
    where = f"all of {arms[0]!r}" if len(arms) == 1 else f"in {len(arms)} arms"
    return f"{where} ({warm} while warming up)" if warm else where


_REFUSED = " did not take effect in "
_DEGRADED = " took effect in part in "


def tells_refusal(note: str, setting: str) -> bool:
    """Return whether a note says that a setting did not, or not wholly, take effect."""
    return note.startswith((f"{setting}{_REFUSED}", f"{setting}{_DEGRADED}"))


def refusal_notes(history: History) -> list[str]:
    """Values that left the search, since no launch took them."""
    return [
        f"{value} was refused in the run{f' ({reason})' if reason else ''}, and left the search"
        for value, reason in history.refusals.reasons.items()
    ]


def other_work_notes(history: History) -> list[str]:
    """Say which configurations did not do the work of the default, as far as outputs show."""
    note = history.other_work.note
    return [] if note is None else [note]


def cell_grant_notes(history: History) -> list[str]:
    """Settings that did not take effect in cells of a sweep: one sentence for each setting."""
    asked: dict[str, list[Sample]] = {}
    for sample in history.samples:
        for name in sample.settings if sample.launch.stage is Stage.CONFIRM else ():
            asked.setdefault(name, []).append(sample)
    notes = []
    for name, mine in asked.items():
        refused = [s for s in mine if s.settings[name].grant is GrantStatus.REFUSED]
        if refused:
            reason = refused[-1].settings[name].reason
            cells = show_count(len({s.launch.arm for s in refused}), "cell")
            notes.append(
                f"{name}{_REFUSED}{len(refused)} of "
                f"{show_count(len(mine), 'launch', 'launches')} that asked for it, in {cells}"
                f"{f': {reason}' if reason else ''}"
            )
    return notes


def grant_notes(history: History, arms: Sequence[ArmResult]) -> list[str]:
    """Settings that did not, or not wholly, take effect in launches of arms of claims."""
    notes = []
    for arm in arms:
        mine = [s for s in history.launches_of(arm.name) if s.launch.stage is Stage.CONFIRM]
        for name in arm.configuration:
            grants = [s.settings[name] for s in mine if name in s.settings]
            refused = [grant for grant in grants if grant.grant is GrantStatus.REFUSED]
            degraded = [grant for grant in grants if grant.grant is GrantStatus.DEGRADED]
            if refused:
                setting = f"{name}={show_value(refused[-1].value)}"
                never = f", which never had {setting}" if len(refused) == len(mine) else ""
                notes.append(_of_launches(name, _REFUSED, refused, mine, never))
            elif degraded:
                notes.append(_of_launches(name, _DEGRADED, degraded, mine))
    return notes


def _of_launches(
    name: str, how: str, grants: Sequence[Grant], mine: Sequence[Sample], more: str = ""
) -> str:
    launches = show_count(len(mine), "launch", "launches")
    why = f": {grants[-1].reason}" if grants[-1].reason else ""
    return f"{name}{how}{len(grants)} of {launches} of {mine[0].launch.arm!r}{more}{why}"
