"""Weaknesses: what speaks against the answer, from the study's notes and from its samples.

Each function looks at one thing and gives sentences, or none where there is nothing to say. The
limits below decide what is worth a sentence, not what is true: the figures stand beside it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from assay.records import (
    Claim,
    GrantStatus,
    Kind,
    Outcome,
    Sample,
    Verdict,
)
from assay.records.launch import NON_COMPARING_STAGES
from assay.reporting.arms import ArmRow, Phase, Role
from assay.reporting.formatting import change, change_interval, duration, shorten
from assay.reporting.grants import GrantTally
from assay.reporting.inputs import ReportInput
from assay.reporting.scale import Scale
from assay.reporting.trials import State
from assay.stats.confidence_sequence import MIN_CLAIM_VALUES, min_values
from assay.stats.drift import drift_ratio, end_thirds
from assay.stats.quantile import quantile
from assay.units import show_count
from assay.untrusted import clean
from assay.wording.conditions import condition_notes
from assay.wording.noise_floor import floor_notes
from assay.wording.notes import is_refusal_note

WIDE = 0.05
"""Distance of the quartiles over the median, from which on launches lie far apart."""
FAR = 2.0
"""A launch this many times the median away is told of."""
DRIFT = 0.02
"""Change of the speed probe from one third of a study to another; less is its own scatter."""
SLOW = 1.1
"""Speed probe over its median in a block in which the machine was slow."""
STOLEN = 0.001
"""Share of the wall time of all launches."""
FOREIGN = 0.05
"""CPUs that others used."""
LONG_S = 0.1
"""Shorter launches tell little of others: the kernel counts in ticks of 10 ms (/proc/stat)."""
FEW = 12
"""Pairs, or launches of ``measure``, below which an answer is called thin."""

_NAME_CHARACTERS = 72


def weaknesses(
    report: ReportInput, rows: Sequence[ArmRow], winner: Sequence[GrantTally], scale: Scale
) -> tuple[str, ...]:
    """What weakens the answer: the study's own notes, and what the samples show."""
    timed = [
        s for s in report.samples if s.launch.stage not in NON_COMPARING_STAGES and report.counts(s)
    ]
    notes = report.conclusion.notes if report.conclusion else tuple(_so_far(report))
    found = [
        *notes,
        *_claims(report),
        *_ungranted(winner, notes),
        *_lost(rows),
        *_spread(rows, scale),
        *_speed(timed, paired=report.spec.kind is not Kind.MEASURE),
        *_outside(timed),
        *_noise_floor(report),
        *_strata(report),
        *(
            note
            for stratum in report.strata[-1:]
            for note in condition_notes(stratum, report.samples)
        ),
    ]
    return tuple(dict.fromkeys(clean(note) for note in found))


def _so_far(report: ReportInput) -> Iterator[str]:
    """What is to be told where the study has no notes yet."""
    yield from _outcomes(report.samples)
    lost = sum(not report.counts(sample) for sample in report.samples)
    if lost and report.spec.disturbed_above is not None:
        yield (
            f"{lost:,} of {show_count(len(report.samples), 'launch', 'launches')} left out: others "
            f"took more than {100 * report.spec.disturbed_above:g} % of the CPUs meanwhile."
        )


def _outcomes(samples: Sequence[Sample]) -> Iterator[str]:
    """Launches without a good end, where the study has no notes on them yet."""
    words = {
        Outcome.FAILED: "failed",
        Outcome.TIMED_OUT: "timed out",
        Outcome.LIMIT: "stopped at a limit",
    }
    counts = Counter(s.outcome for s in samples)
    parts = [f"{counts[o]:,} {word}" for o, word in words.items() if counts[o]]
    if parts and counts[Outcome.OK]:
        arms = {s.launch.arm for s in samples if s.outcome is not Outcome.OK}
        yield (
            f"Not every launch ended well: {', '.join(parts)}, of "
            f"{show_count(len(samples), 'launch', 'launches')}, in {show_count(len(arms), 'arm')}."
        )


def _claims(report: ReportInput) -> Iterator[str]:
    """What the claims rest on, and what they say of themselves."""
    conclusion = report.conclusion
    if conclusion is None:
        return
    thin = [c for c in conclusion.claims if c.verdict is not Verdict.UNCLEAR and c.blocks < FEW]
    if thin:
        yield _thin(thin, len(conclusion.claims))
    for claim in conclusion.claims:
        if claim.censored_share:
            yield (
                f"In {100 * claim.censored_share:.0f} % of the pairs of {_name(claim.b)} a launch "
                "was stopped at its time limit: how long it takes is known as a bound only."
            )
    if report.spec.kind is Kind.MEASURE:
        summary = next((a.summary.get(report.metric.name) for a in conclusion.arms), None)
        if summary is not None and summary.n < FEW:
            yield f"The mean rests on only {show_count(summary.n, 'launch', 'launches')}."


def _thin(claims: Sequence[Claim], all_claims: int) -> str:
    blocks = sorted({c.blocks for c in claims})
    pairs = show_count(blocks[0], "pair")
    if len(blocks) > 1:
        pairs = f"{blocks[0]} to {show_count(blocks[-1], 'pair')}"
    fewest = max(MIN_CLAIM_VALUES, *(min_values(c.alpha) for c in claims))
    subject = f"The claim on {_name(claims[0].b)} rests"
    if len(claims) > 1:
        whole = len(claims) == all_claims
        subject = f"{'All' if whole else f'{len(claims)} of the {all_claims}'} claims rest"
    return (
        f"{subject} on only {pairs} of launches; {fewest} is the fewest that may carry one. What "
        f"fewer than one launch in {_seldom(blocks[0])} does may not have been seen at all."
    )


def _seldom(launches: int) -> int:
    """One launch in how many may do what none of so many did, with a confidence of 95 %.

    From (1 - p)^n = 0.05; for large n that is the rule of three (Hanley and Lippman-Hand 1983,
    JAMA 249:1743).
    """
    unlikely: float = 0.05 ** (1.0 / launches)
    return max(1, math.floor(1.0 / (1.0 - unlikely)))


def _ungranted(winner: Sequence[GrantTally], notes: Sequence[str]) -> Iterator[str]:
    """What the winner was not given; of what was refused, what the study's notes do not tell."""
    told = {tally.name for tally in winner if any(is_refusal_note(n, tally.name) for n in notes)}
    for tally in winner:
        for grant in (GrantStatus.DEGRADED, GrantStatus.REFUSED, GrantStatus.UNVERIFIED):
            if grant in (GrantStatus.REFUSED, GrantStatus.DEGRADED) and tally.name in told:
                continue
            if tally.counts.get(grant):
                why = f": {tally.reasons[0][0]}" if tally.reasons else ""
                yield (
                    f"{tally.name} was {grant.value} in {tally.counts[grant]:,} of "
                    f"{show_count(tally.total, 'launch', 'launches')} of the winner{why}."
                )


def _told(rows: Sequence[ArmRow]) -> list[ArmRow]:
    """The arms that the answer is about."""
    claimed = [r for r in rows if r.phase is not Phase.SEARCH]
    rest = claimed or [r for r in rows if r.role is Role.BASELINE]
    return [r for r in rest if r.role is not Role.OTHER or r.claim is not None]


def _lost(rows: Sequence[ArmRow]) -> Iterator[str]:
    for row in _told(rows):
        missing = {
            "failed": row.having(State.FAILED),
            "timed out": row.having(State.CENSORED),
            "gave no value": row.having(State.ABSENT),
        }
        for what, number in missing.items():
            if number:
                launches = show_count(len(row.trials), "launch", "launches")
                yield f"{number:,} of {launches} of {_name(row.name)} {what}."


def _spread(rows: Sequence[ArmRow], scale: Scale) -> Iterator[str]:
    """Arms whose launches lie far apart, and launches far from all others."""
    for row in _told(rows):
        middle = quantile(row.values, 0.5) if row.values else 0.0
        if len(row.values) < 4 or middle <= 0:
            continue
        parts = [*_wide(row.values, middle, scale), *_far(row.values, middle, scale)]
        if parts:
            yield f"The launches of {_name(row.name)} lie far apart: {'; '.join(parts)}."


def _wide(values: Sequence[float], middle: float, scale: Scale) -> Iterator[str]:
    low, high = quantile(values, 0.25), quantile(values, 0.75)
    if high - low > WIDE * middle:
        yield (
            f"the middle half of them from {scale.number(low)} to {scale.quantity(high)}, which is "
            f"{100 * (high - low) / middle:.0f} % of the median"
        )


def _far(values: Sequence[float], middle: float, scale: Scale) -> Iterator[str]:
    far = [v for v in values if v > FAR * middle or v < middle / FAR]
    if far:
        farthest = max(far, key=lambda v: max(v / middle, middle / v if v > 0 else FAR))
        yield (
            f"{len(far):,} of {len(values):,} by more than a factor of {FAR:g} from the median, "
            f"{scale.quantity(middle)}, the farthest at {scale.quantity(farthest)}"
        )


def _speed(samples: Sequence[Sample], *, paired: bool) -> Iterator[str]:
    """How the machine's own speed went, by the probe that runs before each block."""
    ordered = sorted(samples, key=lambda s: s.started_at)
    readings = [v for s in ordered for v in _values(s, "speed")]
    thirds = end_thirds(readings)
    moved = drift_ratio(readings)
    if thirds is None or moved is None:
        return
    typical = quantile(readings, 0.5)
    first, last = thirds
    apart = quantile(last, 0.25) > quantile(first, 0.75)
    apart = apart or quantile(last, 0.75) < quantile(first, 0.25)
    if apart and abs(moved - 1) > DRIFT:
        cancels = "; within a pair of launches most of it cancels" if paired else ""
        yield (
            f"The machine itself became {100 * abs(moved - 1):.1f} % "
            f"{'slower' if moved > 1 else 'quicker'} from the first third of the study to the "
            f"last (speed probe, {len(readings):,} readings){cancels}."
        )
    slow = [v for v in readings if v > SLOW * typical]
    if slow:
        yield (
            f"In {len(slow):,} of {show_count(len(readings), 'block')} the speed probe ran more "
            f"than {100 * (SLOW - 1):.0f} % slower than usual, at worst by "
            f"{100 * (max(slow) / typical - 1):.0f} %."
        )


def _outside(samples: Sequence[Sample]) -> Iterator[str]:
    """What others took while the launches ran."""
    wall_s = sum(s.wall_s or 0.0 for s in samples)
    if wall_s <= 0:
        return
    stolen = _seconds(samples, "steal")
    if sum(stolen.values()) > STOLEN * wall_s:
        worst = max(stolen, key=stolen.__getitem__)
        yield (
            f"The hypervisor took CPU time away (steal) during "
            f"{_of_launches(stolen, samples)}: {duration(sum(stolen.values()))} in all, "
            f"at most {duration(stolen[worst])} in a launch of "
            f"{duration(samples[worst].wall_s or 0.0)}."
        )
    long = [s for s in samples if (s.wall_s or 0.0) >= LONG_S]
    # Of a short launch it may come out below zero: the sum over all is right, that of the rest not.
    foreign_s = math.fsum(v for s in long for v in _values(s, "foreign_load", "s"))
    foreign_cpus = foreign_s / sum(s.wall_s or 0.0 for s in long) if long else 0.0
    if foreign_cpus > FOREIGN:
        yield (
            f"Other programs were busy on the CPUs of the launches: {foreign_cpus:.2f} CPUs on "
            "average while one ran."
        )
    held = _seconds(samples, "throttled")
    if sum(held.values()) > STOLEN * wall_s:
        yield (
            f"A CPU limit of the control group held the program back during "
            f"{_of_launches(held, samples)}: {duration(sum(held.values()))} in all."
        )
    left = [s for s in samples if any(_values(s, "left_over"))]
    if left:
        yield (
            f"{len(left):,} of {show_count(len(samples), 'launch', 'launches')} left processes "
            "behind, which were ended."
        )


def _of_launches(some: dict[int, float], samples: Sequence[Sample]) -> str:
    return f"{len(some):,} of {show_count(len(samples), 'launch', 'launches')}"


def _seconds(samples: Sequence[Sample], kind: str) -> dict[int, float]:
    """Seconds of one kind of evidence, by the place of the sample; nothing where there are none."""
    sums = {i: sum(_values(sample, kind, "s")) for i, sample in enumerate(samples)}
    return {i: seconds for i, seconds in sums.items() if seconds > 0}


def _values(sample: Sample, kind: str, unit: str | None = None) -> Iterable[float]:
    return (
        e.value
        for e in sample.evidence
        if e.kind == kind and e.value is not None and unit in (None, e.unit)
    )


def _noise_floor(report: ReportInput) -> Iterator[str]:
    if report.conclusion is None or not report.conclusion.claims:
        return
    floor = report.conclusion.noise_floor
    if report.floor is not None:
        yield from floor_notes(report.floor, report.conclusion)
    elif floor is None:
        yield "The noise floor of this machine was not measured in this study."
    elif floor.verdict in (Verdict.FASTER, Verdict.SLOWER):
        yield (
            f"Two identical arms came out {change(floor.ratio)} apart "
            f"({change_interval(floor.ci)}): something besides the configuration makes a "
            "difference here."
        )


def _strata(report: ReportInput) -> Iterator[str]:
    if len(report.strata) > 1:
        yield (
            f"The study has {len(report.strata)} sittings under different conditions; the samples "
            "shown come from one of them and are not pooled with the others."
        )


def _name(name: str) -> str:
    return shorten(clean(name), _NAME_CHARACTERS)
