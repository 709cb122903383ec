"""Limitations: reasons for caution with the answer.

They come from the notes of the study and from its samples.

Each function checks one limitation and yields sentences. The thresholds below decide which
limitations are mentioned.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from assay.records import (
    Claim,
    GrantStatus,
    Kind,
    Outcome,
    Sample,
    Verdict,
)
from assay.reporting.arms import ArmRow, Phase, Role
from assay.reporting.formatting import change, change_interval, duration, show_name
from assay.reporting.grants import GrantTally
from assay.reporting.inputs import ReportInput
from assay.reporting.scale import Scale
from assay.reporting.timed_launches import TimedLaunches
from assay.reporting.trials import State
from assay.stats.confidence_sequence import MIN_CLAIM_VALUES, min_values
from assay.stats.drift import drift_ratio, end_thirds
from assay.stats.quantile import quantile
from assay.units import show_count
from assay.untrusted import clean
from assay.wording.conditions import condition_notes
from assay.wording.endings import earlier_verdict_notes
from assay.wording.noise_floor import floor_notes
from assay.wording.notes import arms_of_launches, is_refusal_note

MAX_SPREAD = 0.05
"""Interquartile range over the median above which the spread is mentioned."""
OUTLIER_FACTOR = 2.0
"""Factor from the median above which a launch is mentioned as an outlier."""
MIN_DRIFT = 0.02
"""Minimum relevant change of the speed probe between thirds of a study."""
SLOW_RATIO = 1.1
"""Ratio of the speed probe to its median above which a block counts as slow."""
MAX_NEGLIGIBLE_SHARE = 0.001
"""Maximum negligible steal or throttled time, as a share of the wall time of all launches."""
MAX_NEGLIGIBLE_CPUS = 0.05
"""Maximum negligible number of CPUs used by other processes."""
MIN_WALL_S = 0.1
"""Minimum duration for the load of other processes: the kernel counts in ticks of 10 ms
(/proc/stat)."""
MIN_SAMPLE_SIZE = 12
"""Number of pairs, or of launches of ``measure``, below which the sample size is mentioned."""


def limitations(
    report: ReportInput, rows: Sequence[ArmRow], winner: Sequence[GrantTally], scale: Scale
) -> tuple[str, ...]:
    """Return limitations of the answer from the notes of the study and from its samples."""
    timed = TimedLaunches.of(report)
    notes = report.conclusion.notes if report.conclusion else tuple(_open_study(report))
    found = [
        *_later_launches(report),
        *notes,
        *_claims(report),
        *_ungranted(winner, notes),
        *_lost_launches(rows),
        *_spread(rows, scale),
        *_speed(timed, paired=report.spec.kind is not Kind.MEASURE),
        *_external_load(timed),
        *_noise_floor(report),
        *_strata(report),
        *(
            note
            for stratum in report.strata[-1:]
            for note in condition_notes(stratum, timed.with_conditions)
        ),
    ]
    return tuple(dict.fromkeys(clean(note) for note in found))


def _later_launches(report: ReportInput) -> tuple[str, ...]:
    """Return a limitation if the study was continued since its verdict."""
    if report.conclusion is None:
        return ()
    return earlier_verdict_notes(
        report.study_id, report.spec, report.conclusion, len(report.samples), report.status
    )


def _open_study(report: ReportInput) -> Iterator[str]:
    """Yield limitations of a study without notes yet."""
    yield from _outcomes(report.samples)
    lost = sum(not report.counts(sample) for sample in report.samples)
    if lost and report.spec.disturbed_above is not None:
        yield (
            f"{lost:,} of {show_count(len(report.samples), 'launch', 'launches')} left out: other "
            f"processes used more than {100 * report.spec.disturbed_above:g} % of the CPUs."
        )


def _outcomes(samples: Sequence[Sample]) -> Iterator[str]:
    """Yield a sentence on failed launches of a study without notes yet."""
    words = {
        Outcome.FAILED: "failed",
        Outcome.TIMED_OUT: "timed out",
        Outcome.LIMIT: "stopped at a limit",
    }
    counts = Counter(s.outcome for s in samples)
    parts = [f"{counts[o]:,} {word}" for o, word in words.items() if counts[o]]
    if parts and (counts[Outcome.OK] or counts[Outcome.ENOUGH]):
        arms = sorted({s.launch.arm for s in samples if not s.outcome.succeeded})
        yield (
            f"Failed launches: {', '.join(parts)}, of "
            f"{show_count(len(samples), 'launch', 'launches')}, {arms_of_launches(arms, 0)}."
        )


def _claims(report: ReportInput) -> Iterator[str]:
    """Yield limitations of the claims."""
    conclusion = report.conclusion
    if conclusion is None:
        return
    few = [
        c
        for c in conclusion.claims
        if c.verdict is not Verdict.UNCLEAR and c.blocks < MIN_SAMPLE_SIZE
    ]
    if few:
        yield _few_pairs(few, len(conclusion.claims))
    for claim in conclusion.claims:
        if claim.censored_share:
            yield (
                f"In {100 * claim.censored_share:.0f} % of the pairs of {show_name(claim.b)} a "
                "launch reached its time limit, so that only a bound of its time is known."
            )
    if report.spec.kind is Kind.MEASURE:
        summary = next((a.summary.get(report.metric.name) for a in conclusion.arms), None)
        if summary is not None and summary.n < MIN_SAMPLE_SIZE:
            yield f"The mean is based on only {show_count(summary.n, 'launch', 'launches')}."


def _few_pairs(claims: Sequence[Claim], all_claims: int) -> str:
    blocks = sorted({c.blocks for c in claims})
    pairs = show_count(blocks[0], "pair")
    if len(blocks) > 1:
        pairs = f"{blocks[0]} to {show_count(blocks[-1], 'pair')}"
    fewest = max(MIN_CLAIM_VALUES, *(min_values(c.alpha) for c in claims))
    subject = f"The claim on {show_name(claims[0].b)} is based"
    if len(claims) > 1:
        whole = len(claims) == all_claims
        subject = f"{'All' if whole else f'{len(claims)} of the {all_claims}'} claims are based"
    return (
        f"{subject} on only {pairs} of launches; the minimum is {fewest}. Events in fewer than one "
        f"launch in {_excluded_frequency(blocks[0])} may not have been observed."
    )


def _excluded_frequency(launches: int) -> int:
    """Return the largest N such that events in one launch of N are excluded with 95 % confidence.

    From (1 - p)^n = 0.05; for large n that is the rule of three (Hanley and Lippman-Hand 1983, JAMA
    249:1743).
    """
    unlikely: float = 0.05 ** (1.0 / launches)
    return max(1, math.floor(1.0 / (1.0 - unlikely)))


def _ungranted(winner: Sequence[GrantTally], notes: Sequence[str]) -> Iterator[str]:
    """Yield limitations of the winner's settings that the notes of the study do not mention."""
    reported = {
        tally.name for tally in winner if any(is_refusal_note(n, tally.name) for n in notes)
    }
    for tally in winner:
        for grant in (GrantStatus.DEGRADED, GrantStatus.REFUSED, GrantStatus.UNVERIFIED):
            if grant in (GrantStatus.REFUSED, GrantStatus.DEGRADED) and tally.name in reported:
                continue
            if tally.counts.get(grant):
                why = f": {tally.reasons[0][0]}" if tally.reasons else ""
                yield (
                    f"{tally.name} was {grant.value} in {tally.counts[grant]:,} of "
                    f"{show_count(tally.total, 'launch', 'launches')} of the winner{why}."
                )


def _answer_arms(rows: Sequence[ArmRow]) -> list[ArmRow]:
    """Return the arms of the answer."""
    claimed = [r for r in rows if r.phase is not Phase.SEARCH]
    rest = claimed or [r for r in rows if r.role is Role.BASELINE]
    return [r for r in rest if r.role is not Role.OTHER or r.claim is not None]


def _lost_launches(rows: Sequence[ArmRow]) -> Iterator[str]:
    for row in _answer_arms(rows):
        missing = {
            "failed": row.having(State.FAILED),
            "timed out": row.having(State.CENSORED),
            "had no value": row.having(State.ABSENT),
        }
        for state, number in missing.items():
            if number:
                launches = show_count(len(row.trials), "launch", "launches")
                yield f"{number:,} of {launches} of {show_name(row.name)} {state}."


def _spread(rows: Sequence[ArmRow], scale: Scale) -> Iterator[str]:
    """Yield arms with a large spread or outliers."""
    for row in _answer_arms(rows):
        values = sorted(row.values)  # quantiles sort them, at once if they are sorted already
        middle = quantile(values, 0.5) if values else 0.0
        if len(values) < 4 or middle <= 0:
            continue
        parts = [*_wide_spread(values, middle, scale), *_outliers(values, middle, scale)]
        if parts:
            yield f"The launches of {show_name(row.name)} vary widely: {'; '.join(parts)}."


def _wide_spread(values: Sequence[float], middle: float, scale: Scale) -> Iterator[str]:
    low, high = quantile(values, 0.25), quantile(values, 0.75)
    if high - low > MAX_SPREAD * middle:
        yield (
            f"interquartile range from {scale.number(low)} to {scale.quantity(high)}, "
            f"{100 * (high - low) / middle:.0f} % of the median"
        )


def _outliers(values: Sequence[float], middle: float, scale: Scale) -> Iterator[str]:
    far = [v for v in values if v > OUTLIER_FACTOR * middle or v < middle / OUTLIER_FACTOR]
    if far:
        farthest = max(far, key=lambda v: max(v / middle, middle / v if v > 0 else OUTLIER_FACTOR))
        yield (
            f"{len(far):,} of {len(values):,} differ by more than a factor of {OUTLIER_FACTOR:g} "
            f"from the median, {scale.quantity(middle)}, up to {scale.quantity(farthest)}"
        )


def _speed(launches: TimedLaunches, *, paired: bool) -> Iterator[str]:
    """Yield changes of the speed of the machine, by the probe before each block."""
    samples = launches.samples
    found = sorted(launches.readings("speed"), key=lambda read: samples[read[0]].started_at)
    readings = [value for _, value in found]
    thirds = end_thirds(readings)
    moved = drift_ratio(readings)
    if thirds is None or moved is None:
        return
    typical = quantile(readings, 0.5)
    first, last = thirds
    separate = quantile(last, 0.25) > quantile(first, 0.75)
    separate = separate or quantile(last, 0.75) < quantile(first, 0.25)
    if separate and abs(moved - 1) > MIN_DRIFT:
        cancels = "; most of it cancels within pairs of launches" if paired else ""
        yield (
            f"The machine became {100 * abs(moved - 1):.1f} % "
            f"{'slower' if moved > 1 else 'faster'} from the first third of the study to the "
            f"last (speed probe, {len(readings):,} readings){cancels}."
        )
    slow = [v for v in readings if v > SLOW_RATIO * typical]
    if slow:
        yield (
            f"In {len(slow):,} of {show_count(len(readings), 'block')} the speed probe was more "
            f"than {100 * (SLOW_RATIO - 1):.0f} % slower than the median, by up to "
            f"{100 * (max(slow) / typical - 1):.0f} %."
        )


def _external_load(launches: TimedLaunches) -> Iterator[str]:
    """Yield disturbances of the launches by the hypervisor and other processes."""
    times_s = launches.wall_s
    wall_s = sum(times_s)
    if wall_s <= 0:
        return
    stolen = launches.seconds("steal")
    if sum(stolen.values()) > MAX_NEGLIGIBLE_SHARE * wall_s:
        worst = max(stolen, key=stolen.__getitem__)
        yield (
            f"Steal time of the hypervisor in "
            f"{launches.share(len(stolen))}: {duration(sum(stolen.values()))} in total, "
            f"at most {duration(stolen[worst])} in a launch of "
            f"{duration(launches.samples[worst].wall_s or 0.0)}."
        )
    long_s = sum(s for s in times_s if s >= MIN_WALL_S)
    # The value of a short launch may be negative: only the sum over all is unbiased.
    foreign_s = math.fsum(
        seconds
        for place, seconds in launches.readings("foreign_load", "s")
        if (launches.samples[place].wall_s or 0.0) >= MIN_WALL_S
    )
    foreign_cpus = foreign_s / long_s if long_s else 0.0
    if foreign_cpus > MAX_NEGLIGIBLE_CPUS:
        yield (f"Other processes used {foreign_cpus:.2f} of the CPUs of the launches on average.")
    held = launches.seconds("throttled")
    if sum(held.values()) > MAX_NEGLIGIBLE_SHARE * wall_s:
        yield (
            f"The CPU limit of the control group throttled the program in "
            f"{launches.share(len(held))}: {duration(sum(held.values()))} in total."
        )
    left = {place for place, number in launches.readings("remaining_processes") if number}
    if left:
        yield f"{launches.share(len(left))} left processes behind, which were terminated."


def _noise_floor(report: ReportInput) -> Iterator[str]:
    if report.conclusion is None or not report.conclusion.claims:
        return
    floor = report.conclusion.noise_floor
    if report.floor is not None:
        yield from floor_notes(report.floor, report.conclusion)
    elif floor is None:
        yield "This study did not measure the noise floor of the machine."
    elif floor.verdict in (Verdict.FASTER, Verdict.SLOWER):
        yield (
            f"Two identical arms differed by {change(floor.ratio)} "
            f"({change_interval(floor.ci)}): an unknown factor besides the configuration affects "
            "the results."
        )


def _strata(report: ReportInput) -> Iterator[str]:
    if len(report.strata) > 1:
        yield (
            f"The study has {len(report.strata)} strata with different conditions; the report "
            "shows the samples of one of them."
        )
