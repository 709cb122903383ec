"""Requirements: parsing, and the results of the launches of an arm.

A requirement bounds a quantile of a figure, the median by default. The number of launches that meet
each bound decides it alone: no assumption on the distribution is needed, and failed
launches count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.errors import InvalidInputError
from assay.records import (
    Arm,
    Bound,
    Kind,
    Metric,
    Outcome,
    Requirement,
    RequirementResult,
    RequirementVerdict,
    Sample,
    Stage,
    StudySpec,
)
from assay.records.requirement import MEDIAN
from assay.records.workload import BUILT_IN, WALL
from assay.search.claims.claims import MIN_BLOCKS
from assay.search.history.history import History, launches_per_block
from assay.stats.quantile import quantile
from assay.stats.share import (
    launches_to_show,
    share_interval,
    shows_above,
    shows_below,
)
from assay.stats.smallest_count import smallest_count
from assay.stats.undisturbed import ALPHA_SHARE
from assay.units import parse_bytes, parse_duration_s
from assay.wording.requirement import requirement_text
from assay.wording.unknown_metric import unknown_metric_remedy
from assay.wording.unreached import lacks_finite_end

_NAME = r"(?:time_to|at|final)\([^()]*\)(?:\.\w+)?|\w+(?:@\w[\w.]*)?"
"""Name of a metric, including those derived from reported values."""
_TEXT = re.compile(rf"\s*({_NAME})\s*(?::\s*(\w[\w.]*))?\s*(<=|>=)\s*(.*?)\s*")
_NUMBER_AND_UNIT = re.compile(
    r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*(.*)", re.ASCII
)


# --- text -------------------------------------------------------------------------------------


def parse_requirements(
    texts: Sequence[str], metrics: Mapping[str, Metric]
) -> tuple[Requirement, ...]:
    """Return requirements in the form ``METRIC<=X`` or ``METRIC:p90>=X``.

    Args:
        texts: one requirement each.
        metrics: metrics by name: those of the workload, and built-in ones.

    Raises:
        InvalidInputError: invalid text, a requirement that no launch or every launch meets, or two
            contradicting ones.
    """
    found: list[Requirement] = []
    for text in texts:
        one = parse_requirement(text, metrics)
        for other in found:
            _demand_consistent(other, one)
        found.append(one)
    return tuple(found)


def parse_requirement(text: str, metrics: Mapping[str, Metric]) -> Requirement:
    """Return one requirement (see ``parse_requirements``).

    Raises:
        InvalidInputError: invalid text, or a requirement that no launch or every launch meets.
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        raise InvalidInputError(
            f"--require: invalid bound: {text!r}.",
            "Write METRIC<=X or METRIC>=X, as in 'peak_anon_bytes<=200MiB'; without the quotes the "
            "shell takes < and > for files.",
        )
    name, which, sign, limit = match.groups()
    metric = metrics.get(name)
    if metric is None:
        raise InvalidInputError(
            f"--require: unknown metric: {name!r}.", unknown_metric_remedy(name, metrics)
        )
    if name == "peak_bytes":
        raise InvalidInputError(
            "peak_bytes cannot be required: it counts page cache, which depends on what ran "
            "before.",
            "Bound peak_anon_bytes.",
        )
    one = Requirement(
        metric=name,
        bound=Bound(sign),
        limit=_limit(limit, metric),
        quantile=_quantile(which),
    )
    if name in BUILT_IN and one.limit <= 0.0:
        raise InvalidInputError(
            f"--require {text!r} has no effect: "
            f"{'no' if one.bound is Bound.AT_MOST else 'every'} launch meets it.",
            "Give a limit above zero.",
        )
    return one


def required_names(texts: Sequence[str]) -> list[str]:
    """Return the metrics of requirements; invalid texts are ignored."""
    matches = (_TEXT.fullmatch(text) for text in texts)
    return [match[1] for match in matches if match is not None]


def _limit(text: str, metric: Metric) -> float:
    """Return a limit in the unit of a metric."""
    try:
        if metric.unit == "s" and not _is_zero(text):
            return parse_duration_s(text)
        if metric.unit == "bytes":
            return float(parse_bytes(text))
    except InvalidInputError as error:
        raise InvalidInputError(f"--require {metric.name}: {error.cause}", error.remedy) from error
    match = _NUMBER_AND_UNIT.fullmatch(text)
    limit = float(match[1]) if match else math.nan
    if match is None or match[2] not in ("", metric.unit) or not math.isfinite(limit):
        unit = f" in {metric.unit}" if metric.unit else " without a unit"
        raise InvalidInputError(
            f"--require {metric.name}: {text!r} is not a number{unit}.",
            f"Write for example '{metric.name}<=100'.",
        )
    return limit


def _is_zero(text: str) -> bool:
    """Return whether a text is a duration of zero, which a later check refuses with its reason."""
    match = _NUMBER_AND_UNIT.fullmatch(text)
    return match is not None and match[2] in ("", "s") and float(match[1]) == 0.0


def _quantile(text: str | None) -> float:
    """Return the quantile of ``p90`` or ``median``."""
    if text in (None, "median"):
        return MEDIAN
    assert text is not None
    found = _NUMBER_AND_UNIT.fullmatch(text[1:]) if text.startswith("p") else None
    if found is None or found[2] or not 0.0 < float(found[1]) < 100.0:
        raise InvalidInputError(
            f"--require: invalid quantile: {text!r}.",
            "Write :p90 for a bound that nine of ten launches keep (:p1 to :p99), or nothing for "
            "the median. No number of launches can prove a bound for every launch.",
        )
    return float(found[1]) / 100.0


def _demand_consistent(requirement: Requirement, other: Requirement) -> None:
    """Raise an error if one of two bounds is redundant, or if they contradict each other."""
    if requirement.metric != other.metric:
        return
    if requirement.bound is other.bound and requirement.quantile == other.quantile:
        raise InvalidInputError(
            f"--require: {requirement.metric} is bounded twice on the same side.",
            "Keep the tighter one.",
        )
    most, least = (
        (requirement, other) if requirement.bound is Bound.AT_MOST else (other, requirement)
    )
    if (
        requirement.bound is not other.bound
        and most.limit < least.limit
        and (most.share + least.share >= 1.0)
    ):
        raise InvalidInputError(
            f"--require: {requirement_text(most)} and {requirement_text(least)} contradict each "
            "other.",
            "Leave one of them out.",
        )


# --- error rates ------------------------------------------------------------------------------


def claims_alpha(spec: StudySpec) -> float:
    """Return the error rate that all claims of a study share: half of it with requirements.

    Claims and requirements then hold simultaneously at ``spec.alpha``.
    """
    return spec.alpha / 2.0 if spec.requirements else spec.alpha


def requirement_alpha(spec: StudySpec) -> float:
    """Return the error rate of each requirement in each arm: the other half in equal shares.

    A measurement has no claims, so that its requirements share the whole error rate.
    """
    arms = 2 if spec.kind is Kind.TUNE else len(spec.arms)
    whole = spec.alpha if spec.kind is Kind.MEASURE else spec.alpha / 2.0
    return whole / max(1, arms * len(spec.requirements))


def min_requirement_blocks(spec: StudySpec) -> int:
    """Return the smallest number of blocks that can prove a requirement; 0 without any."""
    alpha = requirement_alpha(spec)
    each = 1 if spec.switch_costs_s else launches_per_block(spec.statistic, Stage.CONFIRM)
    shown = (
        math.ceil(launches_to_show(requirement.share, alpha) / each)
        for requirement in spec.requirements
    )
    return max((max(MIN_BLOCKS, blocks) for blocks in shown), default=0)


# --- verdicts ---------------------------------------------------------------------------------


def requirement_results(
    spec: StudySpec, history: History, arms: Sequence[Arm]
) -> tuple[RequirementResult, ...]:
    """Return the results of all requirements in some arms."""
    return tuple(
        requirement_result(spec, history, requirement, arm)
        for requirement in spec.requirements
        for arm in arms
    )


def requirement_result(
    spec: StudySpec, history: History, requirement: Requirement, arm: Arm
) -> RequirementResult:
    """Return the result of one requirement in one arm."""
    seen = _counted_launches(history, requirement, arm)
    values, kept, most_kept, launches = seen.values, seen.kept, seen.most_kept, seen.launches
    alpha = _shared_alpha(spec, history)
    verdict = decide_requirement(kept, most_kept, launches, requirement.share, alpha)
    withheld = _is_withheld(history, verdict)
    ends = share_interval(kept, most_kept, launches, alpha)
    most = requirement.bound is Bound.AT_MOST
    return RequirementResult(
        arm=arm.name,
        metric=requirement.metric,
        bound=requirement.bound,
        limit=requirement.limit,
        quantile=requirement.quantile,
        verdict=RequirementVerdict.UNCLEAR if withheld else verdict,
        launches=launches,
        satisfied_launches=kept,
        unknown_launches=most_kept - kept,
        bounded_launches=seen.bounded,
        share_ci=(ends.lo, ends.hi),
        alpha=alpha,
        value=quantile(values, requirement.quantile) if values else None,
        worst_value=(max(values) if most else min(values)) if values else None,
        launches_needed=None
        if withheld or seen.bounded or verdict is not RequirementVerdict.UNCLEAR
        else launches_needed(kept, launches, requirement.share, alpha),
        verdict_withheld=withheld,
    )


def is_undecided(spec: StudySpec, history: History, arms: Sequence[Arm]) -> bool:
    """Return whether a requirement is undecided in any of these arms."""
    alpha = _shared_alpha(spec, history)
    for requirement in spec.requirements:
        for arm in arms:
            seen = _counted_launches(history, requirement, arm)
            verdict = decide_requirement(
                seen.kept, seen.most_kept, seen.launches, requirement.share, alpha
            )
            if verdict is RequirementVerdict.UNCLEAR or _is_withheld(history, verdict):
                return True
    return False


def _shared_alpha(spec: StudySpec, history: History) -> float:
    """Return the error rate of each requirement, shared by undisturbed blocks and all blocks.

    Which of the two counts depends on the number of disturbed blocks, and may change.
    """
    alpha = requirement_alpha(spec)
    return ALPHA_SHARE * alpha if history.disturbed(Stage.CONFIRM) else alpha


def _is_withheld(history: History, verdict: RequirementVerdict) -> bool:
    """Return whether other processes may have caused a verdict: a load makes launches worse.

    A bound that holds under a load holds without it.
    """
    return verdict is RequirementVerdict.BROKEN and history.mostly_disturbed(Stage.CONFIRM)


def decide_requirement(
    min_satisfied: int, max_satisfied: int, launches: int, share: float, alpha: float
) -> RequirementVerdict:
    """Return whether a share of all launches meets a bound.

    Args:
        min_satisfied, max_satisfied: launches that certainly meet it, and that may.
        launches: number of launches.
        share: required share.
        alpha: error rate of the verdict over all interim analyses.
    """
    if launches >= MIN_BLOCKS and shows_above(min_satisfied, launches, share, alpha):
        return RequirementVerdict.HOLDS
    if launches >= MIN_BLOCKS and shows_below(max_satisfied, launches, share, alpha):
        return RequirementVerdict.BROKEN
    return RequirementVerdict.UNCLEAR


def launches_needed(satisfied: int, launches: int, share: float, alpha: float) -> int | None:
    """Return the estimated number of launches that would decide, if the share stays the same.

    It is ``None`` if unknown.
    """
    if launches == 0:
        return None

    def decided(count: int) -> bool:
        done = round(satisfied * count / launches)
        return decide_requirement(done, done, count, share, alpha) is not RequirementVerdict.UNCLEAR

    return smallest_count(decided, max(launches, MIN_BLOCKS))


@dataclass(frozen=True)
class _CountedLaunches:
    """Launches of an arm that count.

    Attributes:
        values: values of those that have one.
        kept, most_kept: launches that certainly meet the bound, and that may.
        launches: number of launches.
        bounded: launches whose value is only a bound, so that they may meet it or not.
    """

    values: list[float]
    kept: int
    most_kept: int
    launches: int
    bounded: int


def _counted_launches(history: History, requirement: Requirement, arm: Arm) -> _CountedLaunches:
    samples = _counting(history, arm)
    found = [_value(requirement, sample) for sample in samples]
    values = [value for value in found if value is not None]
    pairs = list(zip(samples, found, strict=True))
    bounded = sum(v is not None and _is_bounded(requirement, s, v) for s, v in pairs)
    kept = sum(
        v is not None and requirement.is_met_by(v) and not _is_bounded(requirement, s, v)
        for s, v in pairs
    )
    late = sum(_is_beyond(requirement, s) for s, v in pairs if v is None)
    most_kept = kept + bounded + len(found) - len(values) - late
    return _CountedLaunches(values, kept, most_kept, len(found), bounded)


def _is_bounded(requirement: Requirement, sample: Sample, value: float) -> bool:
    """Return whether the value of a launch may lie on either side of a limit."""
    return requirement.is_undecided_between(
        value, sample.upper_bounds.get(requirement.metric, value)
    )


def _counting(history: History, arm: Arm) -> list[Sample]:
    """Return the launches of an arm that count; one per application of hard-to-change settings.

    Launches of one application share its error and are not independent trials. The number of the
    block selects the launch, so that each position within an application counts equally.
    """
    samples = history.summarised_samples(Stage.CONFIRM, arm.name)
    if not history.hard_to_change:
        return samples
    found: dict[int, list[Sample]] = {}
    for sample in samples:
        found.setdefault(sample.launch.block, []).append(sample)
    return [within[block % len(within)] for block, within in found.items()]


def _value(requirement: Requirement, sample: Sample) -> float | None:
    return sample.metrics.get(requirement.metric) if sample.outcome.succeeded else None


def _is_beyond(requirement: Requirement, sample: Sample) -> bool:
    """Return whether a launch without a value certainly violates the bound."""
    if lacks_finite_end(sample.unavailable.get(requirement.metric)):
        return sample.outcome.succeeded
    return (
        requirement.metric == WALL.name
        and requirement.bound is Bound.AT_MOST
        and sample.outcome is Outcome.TIMED_OUT
        and (sample.launch.timeout_s or sample.wall_s or 0.0) >= requirement.limit
    )
