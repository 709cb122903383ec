"""Sweep: cells and effects of a sweep, in sentences and table entries."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import (
    Claim,
    Conclusion,
    DisturbanceSource,
    EffectKind,
    FactorEffect,
    Metric,
    Value,
    Verdict,
)
from assay.records.configuration import show_value
from assay.units import show_count
from assay.wording.counts import lower_first
from assay.wording.disturbance import withheld_words
from assay.wording.objections import DIFFERENT_OUTPUT, REPORTED_ERROR
from assay.wording.sentence import comparison, verdict_word

BASELINE = "baseline"
NO_CLAIM = "no claim"
NO_VALUE = "no value"
_MAX_NAMED_CELLS = 4
"""Cells that a note on missing verdicts names."""
_VERDICTS = {
    Verdict.FASTER: "better",
    Verdict.SAME: "the same",
    Verdict.SLOWER: "worse",
    Verdict.UNCLEAR: "unclear",
}


def cell_verdict(claim: Claim | None, *, has_value: bool) -> str:
    """Return the table entry of a cell: its verdict, or the reason why it has none.

    Args:
        claim: claim on the cell; ``None`` without one.
        has_value: whether the cell has a value of the objective.
    """
    if claim is not None:
        return verdict_word(claim)
    return NO_CLAIM if has_value else NO_VALUE


def sweep_sentences(conclusion: Conclusion, metric: Metric, best: Claim | None) -> list[str]:
    """Return the best cell of a sweep, then the number of cells by verdict.

    Args:
        conclusion: conclusion of the sweep.
        metric: the objective.
        best: claim on the best cell that is better than the baseline; ``None`` without one.
    """
    claims = conclusion.claims
    if not claims:
        return ["No cell can be compared with the baseline: no block has values of both."]
    first = _best_sentence(claims, metric, best, conclusion.disturbers)
    return [first, _tally(conclusion)] if len(claims) > 1 else [first]


def _best_sentence(
    claims: Sequence[Claim],
    metric: Metric,
    best: Claim | None,
    disturbers: Sequence[DisturbanceSource],
) -> str:
    if best is not None:
        return comparison(best, metric, disturbers)
    if all(claim.is_doubted for claim in claims):
        return f"Not decided: {lower_first(withheld_words(claims[0], disturbers))}"
    return f"No cell was shown to be better than {claims[0].a}."


def _tally(conclusion: Conclusion) -> str:
    claims = conclusion.claims
    counts = {word: sum(c.verdict is v for c in claims) for v, word in _VERDICTS.items()}
    parts = [f"{number} {word}" for word, number in counts.items() if number]
    lost = len(conclusion.arms) - 1 - len(claims) - (conclusion.noise_floor is not None)
    parts += [f"{lost} without a value"] if lost > 0 else []
    cells = show_count(len(claims) + max(0, lost), "cell")
    return f"Of {cells} compared with {claims[0].a}: {', '.join(parts)}."


def problem_notes(claims: Sequence[Claim]) -> list[str]:
    """Return a note for each reason why cells have no verdict, with the cells concerned.

    The text of a reason is that of its first cell. A single claim has no note: the answer of the
    sweep states its reason.

    Args:
        claims: claims of a sweep.
    """
    groups: dict[str, list[Claim]] = {}
    for claim in claims if len(claims) > 1 else ():
        if claim.data_problem is not None:
            groups.setdefault(_kind_of_problem(claim, claim.data_problem), []).append(claim)
    return [_problem_note(found) for found in groups.values()]


def _kind_of_problem(claim: Claim, problem: str) -> str:
    """Return the part of a reason that is the same in all cells."""
    for kind in (DIFFERENT_OUTPUT, REPORTED_ERROR):
        if problem.startswith(kind):
            return kind
    return problem.replace(claim.b, "")


def _problem_note(claims: Sequence[Claim]) -> str:
    names = [claim.b for claim in claims]
    more = ", ..." if len(names) > _MAX_NAMED_CELLS else ""
    return (
        f"{claims[0].data_problem}; no verdict on {show_count(len(names), 'cell')}: "
        f"{', '.join(names[:_MAX_NAMED_CELLS])}{more}"
    )


def effect_name(effect: FactorEffect) -> str:
    """Return the table entry of an effect: ``arg.level 1 -> 9``, ``arg.level x threads``."""
    match effect.kind:
        case EffectKind.MAIN:
            assert effect.low is not None
            assert effect.high is not None
            levels = f"{show_value(effect.low)} -> {show_value(effect.high)}"
            return f"{effect.factors[0]} {levels}"
        case EffectKind.INTERACTION:
            return " x ".join(effect.factors)
        case EffectKind.CURVATURE:
            return "centre against corners"


def alias_text(effect: FactorEffect) -> str:
    """Return the effects that the design cannot separate from an effect; empty without any."""
    return ", ".join(" x ".join(names) for names in effect.aliases)


def baseline_sentence(name: str, point: Sequence[tuple[str, Value | None]]) -> str:
    """Return the settings of the baseline as a sentence.

    Args:
        name: name of the baseline.
        point: each setting and its value; ``None`` if the baseline does not set it.
    """
    words = ", ".join(
        f"{setting} not set" if value is None else f"{setting}={show_value(value)}"
        for setting, value in point
    )
    return f"The baseline, {name}, is {words}."
