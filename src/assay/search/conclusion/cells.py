"""Cells of a sweep: the best one, settings, and orders of presentation."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.records import (
    ArmResult,
    Claim,
    Conclusion,
    Configuration,
    EffectVerdict,
    FactorEffect,
    Goal,
    Metric,
    RequirementVerdict,
    Space,
    Value,
    Verdict,
)
from assay.records.configuration import is_number, show_value
from assay.search.history.history import DEFAULT_ARM
from assay.search.races.compare import null_name
from assay.search.space.named_configurations import NAME_COLUMN, NamedLookup
from assay.wording.sweep import BASELINE, baseline_sentence, cell_verdict


def best_claim(conclusion: Conclusion) -> Claim | None:
    """Return the claim on the best cell that is better than the baseline; ``None`` without one.

    Cells that violate a requirement are left out.
    """
    unproven = {
        result.arm
        for result in conclusion.requirements
        if result.verdict is not RequirementVerdict.HOLDS
    }
    better = [c for c in conclusion.claims if c.verdict is Verdict.FASTER and c.b not in unproven]
    return max(better, key=lambda c: abs(math.log(c.ratio)), default=None)


def claims_by_arm(conclusion: Conclusion) -> dict[str, Claim]:
    """Return the claim on each arm of a sweep, and on the repeated baseline."""
    floor = conclusion.noise_floor
    known = (*((floor,) if floor is not None else ()), *reversed(conclusion.claims))
    return {claim.b: claim for claim in known}


def is_best(found: Claim | None, best: Claim | None) -> bool:
    """Return whether a cell is the best one; several cells with equal ratios are."""
    if found is None or best is None:
        return False
    return found.verdict is Verdict.FASTER and found.ratio == best.ratio


def cell_word(arm: ArmResult, conclusion: Conclusion, claim: Claim | None) -> str:
    """Return the table entry of a cell: its verdict, or the reason why it has none.

    Args:
        arm: result of the cell.
        conclusion: conclusion of the sweep.
        claim: claim on the cell; ``None`` without one.
    """
    baseline = conclusion.arms[0]
    if arm is baseline:
        return BASELINE
    if arm.name == null_name(baseline.name):
        return null_name(BASELINE)
    return cell_verdict(claim, has_value=conclusion.metric in arm.summary)


def has_effect(effect: FactorEffect) -> bool:
    """Return whether an effect was proven."""
    return effect.verdict not in (EffectVerdict.SAME, EffectVerdict.UNCLEAR)


def varied_names(space: Space) -> tuple[str, ...]:
    """Return the settings of a sweep in the order of its file, after the column of names if any."""
    named = (NAME_COLUMN,) if space.named_configurations else ()
    return (*named, *(p.name for p in space.parameters))


def settings_of(
    arm: ArmResult, conclusion: Conclusion, space: Space, names: NamedLookup | None = None
) -> list[Value | None]:
    """Return the value of each setting in an arm; ``None`` if the arm does not set it.

    The baseline has the known defaults as well. Where the space names configurations, the name
    comes first.

    Args:
        arm: result of the arm.
        conclusion: conclusion of the sweep.
        space: space of the sweep.
        names: lookup of the named configurations of the space, for many arms.
    """
    return [*_named(arm, space, names), *_settings_of(arm, conclusion, space)]


def _named(arm: ArmResult, space: Space, names: NamedLookup | None) -> list[Value | None]:
    """Return the name of the configuration of an arm, if the space names any."""
    if not space.named_configurations:
        return []
    found = (names or NamedLookup(space)).find(arm.configuration)
    if found is None:
        return [DEFAULT_ARM.name if not arm.configuration else None]
    return [found.name]


def _settings_of(arm: ArmResult, conclusion: Conclusion, space: Space) -> list[Value | None]:
    if arm is conclusion.arms[0]:
        point = baseline_point(arm.configuration, space)
        return [point.get(p.name) for p in space.parameters]
    return [arm.configuration.get(p.name) for p in space.parameters]


def baseline_point(baseline: Configuration, space: Space) -> dict[str, Value]:
    """Return the settings of the baseline, with known defaults of those that it does not set."""
    found = {p.name: baseline.get(p.name, p.default) for p in space.parameters}
    return {name: value for name, value in found.items() if value is not None}


def baseline_text(name: str, baseline: Configuration, space: Space) -> str:
    """Return the settings of the baseline as a sentence; empty where its name contains them."""
    if all(p.name in baseline for p in space.parameters):
        return ""
    point = baseline_point(baseline, space)
    return baseline_sentence(name, [(p.name, point.get(p.name)) for p in space.parameters])


def sorted_by_settings(arms: Sequence[ArmResult], space: Space) -> list[ArmResult]:
    """Return arms in the order of their settings; arms without a setting come first."""
    ranks = {p.name: _ranks(p.domain.values()) for p in space.parameters}
    order = {one.name: at for at, one in enumerate(space.named_configurations, 1)}

    names = NamedLookup(space)

    def place(arm: ArmResult) -> list[tuple[int, float, str]]:
        named = names.find(arm.configuration)
        first = (order[named.name] if named else 0, 0.0, "")
        return [first, *_settings(arm)]

    def _settings(arm: ArmResult) -> list[tuple[int, float, str]]:
        return [_sort_key(arm.configuration.get(name), ranks[name]) for name in ranks]

    return sorted(arms, key=place)


def sorted_by_median(arms: Sequence[ArmResult], metric: Metric) -> list[ArmResult]:
    """Return arms in the order of their medians, best first; arms without a value come last."""
    sign = 1.0 if metric.goal is Goal.LOWER else -1.0

    def place(arm: ArmResult) -> float:
        found = arm.summary.get(metric.name)
        return math.inf if found is None else sign * found.median

    return sorted(arms, key=place)


def _ranks(values: tuple[Value, ...] | None) -> dict[str, int]:
    return {show_value(value): at for at, value in enumerate(values or ())}


def _sort_key(value: Value | None, ranks: dict[str, int]) -> tuple[int, float, str]:
    if value is None:
        return 0, 0.0, ""
    if is_number(value):
        return 1, float(value), ""
    return 1, float(ranks.get(show_value(value), len(ranks))), show_value(value)
