"""Effects of the factors of a two-level factorial design.

With y the logarithm of the objective and s = +1 or -1 the level of a factor in a cell, the main
effect of A in one block of N cells is

    l(A) = (2 / N) sum s(A) y,

the mean of y over the cells where A is high less that over the cells where it is low. The
interaction of A and B has the product s(A) s(B) for s: half the difference between the effect of A
where B is high and where it is low (Box, Hunter and Hunter, Statistics for Experimenters, 2nd
edition 2005, sections 5.4 to 5.8). exp(l) is a ratio of two geometric means, so that blocks are
compared like those of two arms: the interval is that of ``stats.paired``, valid at every interim
analysis. A block lacks an effect if a cell of it has no value.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assay.records import (
    Arm,
    Configuration,
    DesignKind,
    EffectKind,
    EffectVerdict,
    FactorEffect,
    Stage,
    Statistic,
    StudySpec,
    Value,
    Verdict,
)
from assay.search.claims.claims import MIN_BLOCKS
from assay.search.history.correlated_load import correlated_load_of
from assay.search.history.history import History
from assay.search.history.refusals import Refusals
from assay.search.space.factorial import levels, middle_value
from assay.search.space.fraction import fraction_of
from assay.stats.interval import ratio_ends
from assay.stats.paired import Observation
from assay.stats.undisturbed import effect_of_blocks
from assay.stats.verdict import decide


@dataclass(frozen=True)
class Contrast:
    """Cells that an effect compares.

    Attributes:
        kind: kind of the effect.
        factors: settings of the effect.
        low, high: levels of a main effect.
        minus, plus: names of the arms on either side.
        aliases: further effects with the same cells on both sides.
    """

    kind: EffectKind
    factors: tuple[str, ...]
    low: Value | None
    high: Value | None
    minus: tuple[str, ...]
    plus: tuple[str, ...]
    aliases: tuple[tuple[str, ...], ...] = ()


def contrasts(spec: StudySpec) -> tuple[Contrast, ...]:
    """Return the effects that a factorial sweep can separate; none for any other design.

    They compare cells of the design; a separate baseline enters none.
    """
    if spec.design is None or spec.design.kind is not DesignKind.FACTORIAL:
        return ()
    ends = {p.name: levels(p) for p in spec.space.parameters}
    fraction = fraction_of(tuple(ends), spec.design.generators)
    rows = {arm.name: row for arm in spec.arms if (row := _signs(arm, ends)) is not None}
    signs = {name: row for name, row in rows.items() if fraction.has(row)}
    found: dict[tuple[int, ...], Contrast] = {}
    for factors in itertools.chain(
        itertools.combinations(range(len(ends)), 1), itertools.combinations(range(len(ends)), 2)
    ):
        column = tuple(math.prod(row[at] for at in factors) for row in signs.values())
        names = tuple(list(ends)[at] for at in factors)
        opposite = tuple(-sign for sign in column)
        same = next((c for c in (column, opposite) if c in found), None)
        if same is not None:
            found[same] = _with_alias(found[same], names)
        else:
            found[column] = _contrast(names, ends, column, tuple(signs))
    return (*found.values(), *_curvature(spec, tuple(signs)))


def _signs(arm: Arm, ends: dict[str, tuple[Value, Value]]) -> tuple[int, ...] | None:
    """Return the level of each factor in an arm; ``None`` if one has another value."""
    if not _has_settings(arm, ends):
        return None
    return tuple(1 if arm.configuration[name] == high else -1 for name, (_, high) in ends.items())


def _with_alias(contrast: Contrast, names: tuple[str, ...]) -> Contrast:
    return replace(contrast, aliases=(*contrast.aliases, names))


def _contrast(
    names: tuple[str, ...],
    ends: dict[str, tuple[Value, Value]],
    column: tuple[int, ...],
    arms: tuple[str, ...],
) -> Contrast:
    low, high = ends[names[0]] if len(names) == 1 else (None, None)
    minus, plus = (
        tuple(arm for arm, sign in zip(arms, column, strict=True) if sign == side)
        for side in (-1, 1)
    )
    kind = EffectKind.MAIN if len(names) == 1 else EffectKind.INTERACTION
    return Contrast(kind, names, low, high, minus, plus)


def _curvature(spec: StudySpec, corners: tuple[str, ...]) -> list[Contrast]:
    """Return the contrast of the centre against the corners, if there is a centre."""
    if spec.design is None or not spec.design.centre:
        return []
    found = {p.name: (middle_value(p), levels(p)) for p in spec.space.parameters}
    # In cells of the centre a factor without a middle has one of its levels.
    places = {name: ends if one is None else (one,) for name, (one, ends) in found.items()}
    centre = tuple(arm.name for arm in spec.arms if _has_settings(arm, places))
    return [Contrast(EffectKind.CURVATURE, (), None, None, corners, centre)] if centre else []


def _has_settings(arm: Arm, places: Mapping[str, tuple[Value, ...]]) -> bool:
    """Return whether an arm has exactly the named settings, each with one of its values."""
    values = arm.configuration
    return set(values) == set(places) and all(values[name] in places[name] for name in places)


def effects_of(spec: StudySpec, history: History, alpha: float) -> tuple[FactorEffect, ...]:
    """Return the effects of a factorial sweep, from its undisturbed blocks or from all.

    Args:
        spec: specification of the study.
        history: samples of the study.
        alpha: error rate of one interval over all interim analyses.

    Returns:
        Effects of the factors whose levels were all applied. If one was never applied, there is no
            curvature either, since its cells ran with another value.
    """
    wanted = contrasts(spec)
    unapplied = _never_applied(spec, history) if wanted else set()
    found = (
        _effect(spec, history, contrast, alpha)
        for contrast in wanted
        if not unapplied.intersection(contrast.factors or unapplied)
    )
    return tuple(e for e in found if e is not None)


def _never_applied(spec: StudySpec, history: History) -> set[str]:
    """Return the factors with a level that every launch refused."""
    refusals = Refusals(Stage.CONFIRM)
    for sample in history.samples:
        refusals.add(sample)
    return {
        parameter.name
        for parameter in spec.space.parameters
        if any(refusals.covers(Configuration({parameter.name: v})) for v in levels(parameter))
    }


def _effect(
    spec: StudySpec, history: History, contrast: Contrast, alpha: float
) -> FactorEffect | None:
    blocks = history.complete(Stage.CONFIRM)
    disturbed = [history.is_disturbed(Stage.CONFIRM, block) for block in blocks]
    minus, plus = (_means(history, side, blocks) for side in (contrast.minus, contrast.plus))
    median = spec.statistic is Statistic.MEDIAN
    found = effect_of_blocks(
        minus, plus, disturbed, goal=history.goal, alpha=alpha, median=median
    ).effect
    if found.ratio is None:
        return None
    verdict = decide(found, goal=history.goal, margin=spec.margin)
    sides = contrast.minus, contrast.plus
    load = correlated_load_of(history, *sides, alpha, spec.disturbed_above)
    if found.blocks < MIN_BLOCKS or load is not None:
        verdict = Verdict.UNCLEAR
    return FactorEffect(
        kind=contrast.kind,
        factors=contrast.factors,
        low=contrast.low,
        high=contrast.high,
        ratio=found.ratio,
        ci=ratio_ends(found.lo, found.hi),
        verdict=_effect_verdict(contrast.kind, verdict),
        blocks=found.blocks,
        alpha=found.alpha,
        method=found.method,
        aliases=contrast.aliases,
        bound_only=found.bound_only,
    )


def _means(
    history: History, arms: Sequence[str], blocks: Sequence[int]
) -> list[Observation | None]:
    """Return the geometric mean of arms in each block; censored if one of them is."""
    columns = [history.observations(Stage.CONFIRM, name, blocks) for name in arms]
    return [_mean(row) for row in zip(*columns, strict=True)]


def _mean(row: Sequence[Observation | None]) -> Observation | None:
    known = [o for o in row if o is not None]
    if len(known) < len(row):
        return None
    log = math.fsum(math.log(o.value) for o in known) / len(known)
    return Observation(math.exp(log), censored=any(o.censored for o in known))


def _effect_verdict(kind: EffectKind, verdict: Verdict) -> EffectVerdict:
    """Return a verdict for a kind of effect: an interaction is neither faster nor slower."""
    if kind is EffectKind.MAIN or verdict in (Verdict.SAME, Verdict.UNCLEAR):
        return EffectVerdict(verdict.value)
    return EffectVerdict.INTERACT if kind is EffectKind.INTERACTION else EffectVerdict.CURVED
