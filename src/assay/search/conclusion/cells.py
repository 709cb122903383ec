"""Cells: what a sweep says, in sentences and in an order that can be read."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.records import (
    ArmResult,
    Claim,
    Conclusion,
    Configuration,
    EffectKind,
    EffectVerdict,
    FactorEffect,
    Goal,
    Metric,
    Space,
    Value,
    Verdict,
)
from assay.records.configuration import show_value
from assay.search.claims.requirement import may_win
from assay.search.history.history import DEFAULT_ARM
from assay.search.races.compare import null_name
from assay.search.space.named_configurations import NAME_COLUMN, find_named
from assay.units import show_count
from assay.wording.disturbance import withheld_words
from assay.wording.sentence import comparison, verdict_word


def best_claim(conclusion: Conclusion) -> Claim | None:
    """The cell that was shown to be better than the baseline, by most; ``None`` without any.

    Where something is required, of those that keep it.
    """
    better = [c for c in conclusion.claims if c.verdict is Verdict.FASTER]
    better = [c for c in better if may_win(conclusion, c.b)]
    return max(better, key=lambda c: abs(math.log(c.ratio)), default=None)


def claim_of(arm: ArmResult, conclusion: Conclusion) -> Claim | None:
    """The claim on an arm of a sweep, also that on the second name of the baseline."""
    floor = conclusion.noise_floor
    known = (*conclusion.claims, *((floor,) if floor is not None else ()))
    return next((claim for claim in known if claim.b == arm.name), None)


def is_best(found: Claim | None, best: Claim | None) -> bool:
    """Whether a cell is as good as the best: of two that tie exactly neither is put before."""
    if found is None or best is None:
        return False
    return found.verdict is Verdict.FASTER and found.ratio == best.ratio


def cell_word(arm: ArmResult, conclusion: Conclusion) -> str:
    """What a table says of a cell: its verdict, or why it has none."""
    baseline = conclusion.arms[0]
    if arm is baseline:
        return "baseline"
    if arm.name == null_name(baseline.name):
        return null_name("baseline")
    claim = claim_of(arm, conclusion)
    if claim is not None:
        return verdict_word(claim)
    return "no claim" if conclusion.metric in arm.summary else "no value"


def sweep_sentences(conclusion: Conclusion, metric: Metric) -> list[str]:
    """The best cell, then how many others are better, the same or worse."""
    if not conclusion.claims:
        return ["No cell could be held against the baseline: there are no blocks with both."]
    best = best_claim(conclusion)
    if best is None and all(claim.is_doubted for claim in conclusion.claims):
        told = withheld_words(conclusion.claims[0], conclusion.disturbers)
        first = f"Not decided: {told[:1].lower()}{told[1:]}"
    elif best is None:
        first = f"No cell was shown to be better than {conclusion.claims[0].a}."
    else:
        first = comparison(best, metric, conclusion.disturbers)
    return [first, _tally(conclusion)] if len(conclusion.claims) > 1 else [first]


def _tally(conclusion: Conclusion) -> str:
    """How many cells there are of each verdict."""
    claims = conclusion.claims
    words = {
        Verdict.FASTER: "better",
        Verdict.SAME: "the same",
        Verdict.SLOWER: "worse",
        Verdict.UNCLEAR: "unclear",
    }
    counts = {w: sum(c.verdict is v for c in claims) for v, w in words.items()}
    parts = [f"{number} {word}" for word, number in counts.items() if number]
    lost = len(conclusion.arms) - 1 - len(claims) - (conclusion.noise_floor is not None)
    parts += [f"{lost} without a value"] if lost > 0 else []
    cells = show_count(len(claims) + max(0, lost), "cell")
    return f"Of {cells} held against {claims[0].a}: {', '.join(parts)}."


def effect_name(effect: FactorEffect) -> str:
    """An effect as a table has it: ``arg.level 1 -> 9``, ``arg.level x threads``."""
    match effect.kind:
        case EffectKind.MAIN:
            assert effect.low is not None
            assert effect.high is not None
            levels = f"{show_value(effect.low)} -> {show_value(effect.high)}"
            return f"{effect.factors[0]} {levels}"
        case EffectKind.INTERACTION:
            return " x ".join(effect.factors)
        case EffectKind.CURVATURE:
            return "middle against corners"


def alias_text(effect: FactorEffect) -> str:
    """What the design cannot tell from an effect; empty where it tells it from all others."""
    return ", ".join(" x ".join(names) for names in effect.aliases)


def has_effect(effect: FactorEffect) -> bool:
    """Whether an effect was shown to be there."""
    return effect.verdict not in (EffectVerdict.SAME, EffectVerdict.UNCLEAR)


def varied_names(space: Space) -> tuple[str, ...]:
    """The settings of a sweep, in the order of its file; before them the names, where there are."""
    named = (NAME_COLUMN,) if space.named else ()
    return (*named, *(p.name for p in space.parameters))


def settings_of(arm: ArmResult, conclusion: Conclusion, space: Space) -> list[Value | None]:
    """The value of each setting in an arm; of the baseline also defaults, where they are known.

    ``None`` where it is left alone. The name of its configuration comes first where there are any.
    """
    return [*_named(arm, space), *_settings_of(arm, conclusion, space)]


def _named(arm: ArmResult, space: Space) -> list[Value | None]:
    """The name of the configuration of an arm, where a space names any."""
    if not space.named:
        return []
    found = find_named(space, arm.configuration)
    if found is None:
        return [DEFAULT_ARM.name if not arm.configuration else None]
    return [found.name]


def _settings_of(arm: ArmResult, conclusion: Conclusion, space: Space) -> list[Value | None]:
    if arm is conclusion.arms[0]:
        point = baseline_point(arm.configuration, space)
        return [point.get(p.name) for p in space.parameters]
    return [arm.configuration.get(p.name) for p in space.parameters]


def baseline_point(baseline: Configuration, space: Space) -> dict[str, Value]:
    """Which point of the space the baseline is: of what it leaves alone the default, if known."""
    found = {p.name: baseline.get(p.name, p.default) for p in space.parameters}
    return {name: value for name, value in found.items() if value is not None}


def baseline_words(name: str, baseline: Configuration, space: Space) -> str:
    """The same as a sentence; empty where the name of the baseline says it all."""
    if all(p.name in baseline for p in space.parameters):
        return ""
    point = baseline_point(baseline, space)
    words = ", ".join(
        f"{p.name}={show_value(point[p.name])}" if p.name in point else f"{p.name} left alone"
        for p in space.parameters
    )
    return f"The baseline, {name}, is {words}."


def sorted_by_settings(arms: Sequence[ArmResult], space: Space) -> list[ArmResult]:
    """Arms in the order of their settings; what is left alone comes first."""
    ranks = {p.name: _ranks(p.domain.values()) for p in space.parameters}
    order = {one.name: at for at, one in enumerate(space.named, 1)}

    def place(arm: ArmResult) -> list[tuple[int, float, str]]:
        named = find_named(space, arm.configuration)
        first = (order[named.name] if named else 0, 0.0, "")
        return [first, *_settings(arm)]

    def _settings(arm: ArmResult) -> list[tuple[int, float, str]]:
        return [_place(arm.configuration.get(name), ranks[name]) for name in ranks]

    return sorted(arms, key=place)


def sorted_by_median(arms: Sequence[ArmResult], metric: Metric) -> list[ArmResult]:
    """Arms by their medians; what has no value last."""
    sign = 1.0 if metric.goal is Goal.LOWER else -1.0

    def place(arm: ArmResult) -> float:
        found = arm.summary.get(metric.name)
        return math.inf if found is None else sign * found.median

    return sorted(arms, key=place)


def _ranks(values: tuple[Value, ...] | None) -> dict[str, int]:
    return {show_value(value): at for at, value in enumerate(values or ())}


def _place(value: Value | None, ranks: dict[str, int]) -> tuple[int, float, str]:
    if value is None:
        return 0, 0.0, ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return 1, float(value), ""
    return 1, float(ranks.get(show_value(value), len(ranks))), show_value(value)
