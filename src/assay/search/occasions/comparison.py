"""Comparison of two conditions that were measured separately."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence

import msgspec

from assay.errors import InvalidInputError
from assay.records import Goal, Metric
from assay.records.comparison import (
    OccasionComparison,
    Occasions,
    OccasionVerdict,
)
from assay.records.study import DEFAULT_MARGIN
from assay.search.occasions.differences import (
    BOOT,
    OCCASION,
    condition_differences,
    sources_of_effect,
)
from assay.search.occasions.measured import metric_differences, workload_differences
from assay.search.occasions.pool import MIN_OCCASIONS, OccasionCandidate, OccasionPool, pool_of
from assay.search.occasions.side import MeasuredCondition, PublishedCondition, Side
from assay.stats.interval import Interval
from assay.stats.occasions import launch_interval, occasion_interval
from assay.wording import occasions as wording

ALPHA = 0.05
"""Accepted share of wrong intervals."""
UNNAMED_METRIC = "value"
"""Name of a published metric without a name."""
MAX_LOG = 709.0
"""Largest logarithm with a finite exponential."""
MAX_COMMAND = 60
"""Largest number of characters of a command in a sentence."""


def compare_conditions(
    a: Side,
    b: Side,
    prospects: Callable[[Collection[str]], Sequence[OccasionCandidate]],
    *,
    margin: float = DEFAULT_MARGIN,
    alpha: float = ALPHA,
    same_workload: bool = False,
) -> OccasionComparison:
    """Compare ``b`` with ``a``.

    Args:
        a, b: the two conditions.
        prospects: function that returns studies which may show the variance between occasions:
            those of some machines, by fingerprint, and calibrations of others.
        margin: ratio differences below it count as none.
        alpha: accepted share of wrong intervals.
        same_workload: whether two different commands do the same work.

    Raises:
        InvalidInputError: the same launches twice, two arms of the same blocks, or different
            workloads or metrics.
    """
    _demand_different(a, b)
    _demand_comparable(a, b, same_workload=same_workload)
    published = isinstance(a, PublishedCondition) or isinstance(b, PublishedCondition)
    left, right = a.mean(arithmetic=published), b.mean(arithmetic=published)
    launches, df_launches = launch_interval(left, right, alpha)
    differences = condition_differences(a, b)
    sources = sources_of_effect(a, b, differences)
    found = OccasionComparison(
        a=a.condition,
        b=b.condition,
        metric=_name_of(a, b),
        unit=_unit_of(a, b),
        ratio=_ratio(right.mean - left.mean),
        ci_launches=_ratios(launches),
        df_launches=df_launches,
        verdict=OccasionVerdict.UNPROVEN,
        margin=margin,
        alpha=alpha,
        published=published,
        differences=differences,
        confounded=sources,
        notes=(*a.notes, *b.notes, *_workload_notes(a, b)),
    )
    if isinstance(a, PublishedCondition) or isinstance(b, PublishedCondition):
        return msgspec.structs.replace(
            found,
            reason=wording.PUBLISHED_REASON,
            remedy=wording.PUBLISHED_REMEDY,
        )
    earlier = prospects({a.stratum.machine, b.stratum.machine})
    pools = _pools(a, b, earlier, boots=BOOT in sources)
    found = msgspec.structs.replace(found, notes=(*found.notes, *_unused(pools, earlier)))
    known = [(pool.occasions, pool.between) for pool in pools]
    (first, of_a), (last, of_b) = known[0], known[-1]
    if first is None or last is None or of_a is None or of_b is None:
        return msgspec.structs.replace(
            found, reason=_why_unknown(a, b, pools), remedy=_how_to_know(a, b, pools)
        )
    interval, df = occasion_interval(left, right, (of_a, of_b), alpha)
    verdict, beyond = _verdict(interval, margin, a.metric.goal)
    occasions = (first,) if first is last else (first, last)
    return msgspec.structs.replace(
        found,
        ci=_ratios(interval),
        df=df,
        verdict=verdict,
        beyond_margin=beyond,
        occasions=occasions,
        covered_differences=tuple(source for source in sources if source in OCCASION),
        confounded=tuple(source for source in sources if source not in OCCASION),
        reason=wording.unclear_reason(df + 1) if verdict is OccasionVerdict.UNCLEAR else "",
        notes=(*found.notes, *_span_notes(a, b, occasions)),
    )


def _demand_different(a: Side, b: Side) -> None:
    if isinstance(a, PublishedCondition) or isinstance(b, PublishedCondition):
        if a.condition.name == b.condition.name:
            raise InvalidInputError(
                f"{a.condition.name} is named twice.", "Name the other condition as well."
            )
        return
    one, other = a.condition, b.condition
    if (one.study, one.stratum) != (other.study, other.stratum):
        return
    if one.arm == other.arm:
        raise InvalidInputError(
            f"{a.condition.name} and {b.condition.name} are the same launches: study {one.study}, "
            f"stratum {one.stratum}, arm {one.arm!r}.",
            "Name another study; `assay study list` shows them.",
        )
    raise InvalidInputError(
        f"{one.arm!r} and {other.arm!r} ran in the same blocks of study {one.study}: they were not "
        "measured apart.",
        f"`assay study show {one.study}` compares them in pairs of launches.",
    )


def _demand_comparable(a: Side, b: Side, *, same_workload: bool) -> None:
    if isinstance(a, MeasuredCondition) and isinstance(b, MeasuredCondition):
        other = metric_differences(a.metric, b.metric)
        if other:
            raise InvalidInputError(
                f"The two studies are about different metrics ({'; '.join(other)}).",
                "Name one that both have: --metric wall_s",
            )
        other = workload_differences(a.workload, b.workload)
        if other and not same_workload:
            raise InvalidInputError(
                f"The two studies run different workloads ({'; '.join(other)}).",
                "If both nevertheless do the same work, add --same-workload.",
            )
        return
    units = [_stated_unit(side) for side in (a, b)]
    if all(units) and units[0] != units[1]:
        raise InvalidInputError(
            f"{a.condition.name} is in {units[0]}, {b.condition.name} in {units[1]}.",
            "Convert one of them: n=30,mean=299.4,sd=3.38,unit=s",
        )
    if isinstance(a, PublishedCondition) and isinstance(b, PublishedCondition):
        named = [side.workload for side in (a, b)]
        if all(named) and named[0] != named[1] and not same_workload:
            raise InvalidInputError(
                f"The two rows are about different workloads: {named[0]} and {named[1]}.",
                "If both nevertheless do the same work, add --same-workload.",
            )


def _stated_unit(side: Side) -> str:
    return side.metric.unit if isinstance(side, MeasuredCondition) else side.unit


def _name_of(a: Side, b: Side) -> str:
    of_study: Metric | None = next(
        (s.metric for s in (a, b) if isinstance(s, MeasuredCondition)), None
    )
    if of_study is not None:
        return of_study.name
    return next(
        (s.workload for s in (a, b) if isinstance(s, PublishedCondition) and s.workload),
        UNNAMED_METRIC,
    )


def _unit_of(a: Side, b: Side) -> str:
    return _stated_unit(a) or _stated_unit(b)


def _ratios(interval: Interval) -> tuple[float, float]:
    return _ratio(interval.lo), _ratio(interval.hi)


def _ratio(log_ratio: float) -> float:
    """Return the exponential, limited to the range of floats."""
    return math.exp(max(-MAX_LOG, min(MAX_LOG, log_ratio)))


def _verdict(interval: Interval, margin: float, goal: Goal) -> tuple[OccasionVerdict, bool]:
    """Return the verdict, and whether the near end lies beyond the margin."""
    low, high = _ratios(interval)
    if low >= 1.0 - margin and high <= 1.0 + margin:
        return OccasionVerdict.SAME, False
    if low <= 1.0 <= high:
        return OccasionVerdict.UNCLEAR, False
    less = high < 1.0
    better = less is (goal is Goal.LOWER)
    beyond = high < 1.0 - margin if less else low > 1.0 + margin
    return (OccasionVerdict.FASTER if better else OccasionVerdict.SLOWER), beyond


def _pools(
    a: MeasuredCondition,
    b: MeasuredCondition,
    prospects: Sequence[OccasionCandidate],
    *,
    boots: bool,
) -> tuple[OccasionPool, ...]:
    """Return the variance between occasions of each side; a single one if it serves both."""
    excluded = [(side.condition.study, side.condition.stratum) for side in (a, b)]
    first = pool_of(a, excluded, prospects, boots=boots)
    if _serves_both(a, b):
        return (first,)
    return (first, pool_of(b, excluded, prospects, boots=boots))


def _serves_both(a: MeasuredCondition, b: MeasuredCondition) -> bool:
    return (a.condition.machine, a.condition.settings) == (
        b.condition.machine,
        b.condition.settings,
    ) and not workload_differences(a.workload, b.workload)


def _why_unknown(a: MeasuredCondition, b: MeasuredCondition, pools: Sequence[OccasionPool]) -> str:
    parts = []
    for side, pool in zip((a, b), pools, strict=False):
        if pool.occasions is not None:
            continue
        name = "" if len(pools) == 1 else side.condition.name
        text = wording.too_few_boots if pool.one_boot else wording.too_few_occasions
        parts.append(text(name, pool.found, MIN_OCCASIONS))
    return "; ".join(parts)


def _how_to_know(a: MeasuredCondition, b: MeasuredCondition, pools: Sequence[OccasionPool]) -> str:
    boots = any(pool.one_boot for pool in pools) or a.boot != b.boot
    lacking = next(s for s, pool in zip((a, b), pools, strict=False) if pool.occasions is None)
    return wording.more_occasions_remedy(MIN_OCCASIONS, _occasion_command(lacking), boots=boots)


def _occasion_command(side: MeasuredCondition) -> str:
    """Return the command that measures one side on another occasion."""
    command = shlex.join(side.workload.argv)
    command = command if len(command) <= MAX_COMMAND else "COMMAND"
    settings = side.condition.settings
    return wording.occasion_command(command, shlex.quote(str(settings)) if settings else "")


def _unused(pools: Sequence[OccasionPool], prospects: Sequence[OccasionCandidate]) -> Iterator[str]:
    """Yield notes on studies without use."""
    named = {prospect.study for prospect in prospects if prospect.named}
    idle = sorted(named.difference(*(pool.used for pool in pools)))
    if idle:
        yield wording.unused_occasions(idle)
    if all(pool.occasions is not None for pool in pools):
        return
    machines = set.intersection(*(set(pool.of_other_machines) for pool in pools))
    commands = set.union(*(set(pool.of_other_commands) for pool in pools))
    if machines:
        yield wording.other_machine_note(sorted(machines))
    if commands:
        yield wording.other_command_note(sorted(commands))


def _span_notes(
    a: MeasuredCondition, b: MeasuredCondition, occasions: Sequence[Occasions]
) -> Iterator[str]:
    """Yield a note if the two lie further apart than the known occasions."""
    times = [side.condition.started_at for side in (a, b)]
    if times[0] is None or times[1] is None:
        yield wording.UNKNOWN_TIME
        return
    gap_s, span_s = abs(times[1] - times[0]), min(occasion.span_s for occasion in occasions)
    if gap_s > span_s:
        yield wording.span_note(gap_s, span_s)


def _workload_notes(a: Side, b: Side) -> Iterator[str]:
    if isinstance(a, MeasuredCondition) and isinstance(b, MeasuredCondition):
        for line in workload_differences(a.workload, b.workload):
            yield wording.same_workload_note(line)
    elif isinstance(a, MeasuredCondition) or isinstance(b, MeasuredCondition):
        yield wording.PUBLISHED_WORKLOAD
