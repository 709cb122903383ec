"""Sentences on claims: verdicts, intervals and changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from assay.records import (
    Claim,
    DisturbanceSource,
    Metric,
    SpreadVerdict,
    Statistic,
    StudySpec,
    Verdict,
)
from assay.stats.verdict import is_beyond_margin
from assay.units import show_count, show_level, show_percent, significant
from assay.wording.counts import lower_first, upper_first
from assay.wording.disturbance import withheld_words

MIN_FACTOR = 2.0
"""Ratio from which on a change is a factor: 9.3 times as long is clearer than 831 % more."""


def tuning_verdict(
    spec: StudySpec, found: Claim, disturbers: Sequence[DisturbanceSource] = ()
) -> str:
    """Return the verdict of a tuning in one sentence.

    Args:
        spec: specification of the study.
        found: claim on the confirmed configuration.
        disturbers: processes that used the CPUs meanwhile.
    """
    found = msgspec.structs.replace(found, a="the default")
    metric = spec.workload.objective
    match found.verdict:
        case Verdict.FASTER:
            return f"{statement(found, metric)} ({evidence_text(found, metric)})."
        case Verdict.SAME:
            return (
                f"Keep the default: {found.b}, the best configuration, differs from it by less "
                f"than {100 * found.margin:g} % ({evidence_text(found, metric)})."
            )
        case Verdict.SLOWER:
            return (
                f"Keep the default: {found.b}, which won the search, was worse in the "
                f"confirmation ({evidence_text(found, metric)})."
            )
        case Verdict.UNCLEAR if found.is_doubted:
            return (
                f"Not decided: {lower_first(withheld_words(found, disturbers))} "
                "Keep the default until then."
            )
        case Verdict.UNCLEAR:
            return (
                f"Not decided: whether {found.b} is better is unclear "
                f"({evidence_text(found, metric)}).{_outlook(found)} Keep the default until then."
            )


def unreliable_winner_verdict(gain: str, lost: int, launches: int) -> str:
    """Return the verdict on a winner that fails more often than the default.

    Args:
        gain: sentence on its gain.
        lost: launches of the winner that failed.
        launches: launches of the winner.
    """
    gain = gain.removesuffix(".")
    return f"Keep the default: {gain}, but {lost} of its {launches} launches failed."


def comparison(found: Claim, metric: Metric, disturbers: Sequence[DisturbanceSource] = ()) -> str:
    """Return the verdict on ``b`` against ``a`` in one sentence, with its evidence.

    Args:
        found: the claim.
        metric: metric of the claim.
        disturbers: processes that used the CPUs meanwhile.
    """
    if found.data_problem is not None:
        return f"No verdict on {found.b} against {found.a}: {found.data_problem}."
    outlook = _outlook(found) if found.verdict is Verdict.UNCLEAR else ""
    if found.verdict_withheld:
        outlook = f" {withheld_words(found, disturbers)}"
    lost = f" {losses_sentence(found)}" if found.missing_values else ""
    evidence = f"{statement(found, metric)} ({evidence_text(found, metric)})."
    return f"{evidence}{lost}{outlook}{stability(found)}"


def losses_sentence(found: Claim) -> str:
    """Return the lost launches of the arms of a claim; empty if they are not material."""
    return f"{upper_first(found.missing_values)}." if found.missing_values else ""


def stability(found: Claim) -> str:
    """Return a sentence on the spread of single launches; empty if both arms vary equally."""
    spread = found.spread
    if spread is None or spread.verdict not in (SpreadVerdict.TIGHTER, SpreadVerdict.WIDER):
        return ""
    more = spread.verdict is SpreadVerdict.WIDER
    times = significant(spread.ratio if more else 1 / spread.ratio)
    return (
        f" {found.b} varies {times} times as {'much' if more else 'little'} from launch to launch."
    )


def statement(found: Claim, metric: Metric) -> str:
    """Return the effect of a claim: ``B takes 38.2 % less time than A``."""
    a, b = found.a, found.b
    if found.method == "spread":
        return _spread_statement(found, metric)
    if found.verdict is Verdict.SAME:
        noun = noun_of(metric)
        return f"{b} and {a} are the same in {noun}, to within {100 * found.margin:g} %"
    if found.verdict is Verdict.UNCLEAR:
        return f"Whether {b} differs from {a} in {noun_of(metric)} is unclear"
    change = _change(found.ratio, metric)
    least = "at least " if found.bound_only else ""
    worse = found.verdict is Verdict.SLOWER and metric.name not in NOUNS
    return (
        f"{b} {change.before} {least}{change.amount} {change.after} {a}"
        f"{', which is worse' if worse else ''}{_perhaps(found)}"
    )


def _perhaps(found: Claim) -> str:
    """Return an addition to a difference that may be smaller than the margin.

    It follows from the interval: claims of earlier versions lack ``beyond_margin``.
    """
    lo, hi = found.ci
    if is_beyond_margin(lo or 0.0, math.inf if hi is None else hi, margin=found.margin):
        return ""
    return f", perhaps by less than the margin of {100 * found.margin:g} %"


def verdict_word(found: Claim) -> str:
    """Return the table entry of a verdict; that of a spread names the spread."""
    words = {Verdict.FASTER: "varies less", Verdict.SLOWER: "varies more"}
    if found.method == "spread":
        return words.get(found.verdict, found.verdict.value)
    return found.verdict.value


def _spread_statement(found: Claim, metric: Metric) -> str:
    """Return the effect of a claim on spreads: ``B varies 2.1 times as much as A in time``."""
    a, b, noun = found.a, found.b, noun_of(metric)
    if found.verdict is Verdict.SAME:
        return f"{b} and {a} vary equally in {noun}, to within {100 * found.margin:g} %"
    if found.verdict is Verdict.UNCLEAR:
        return f"Whether {b} varies more or less than {a} in {noun} is unclear"
    if found.verdict is Verdict.SLOWER:
        times = f"{significant(found.ratio)} times as much"
    else:
        times = f"{significant(1 / found.ratio)} times as little"
    return f"{b} varies {times} as {a} in {noun}{_perhaps(found)}"


def evidence_text(found: Claim, metric: Metric) -> str:
    """Return the evidence of a claim: ``95 % interval ..., 9 paired launches``."""
    share = f"{show_level(found.alpha)} interval"
    assumed = "; lower is better, as assumed" if metric.goal_assumed else ""
    return f"{share} {interval(found, metric)}, {_pairs(found.blocks, found)}{assumed}"


def _pairs(count: int, found: Claim) -> str:
    """Return the number of pairs of a claim: launches, applications, or batches of launches."""
    if found.method == "spread":
        return show_count(count, "paired batch", "paired batches")
    if found.applications:
        return show_count(count, "paired application")
    if found.processes:
        return show_count(count, "paired process", "paired processes")
    return show_count(count, "paired launch", "paired launches")


NO_BOUNDS = "without bounds"
"""Text of an interval without ends, as that of too few launches."""


def interval(found: Claim, metric: Metric) -> str:
    """Return the interval of a claim in the unit of its effect: ``-40.1 to -36.2 %``."""
    spread = found.method == "spread"
    falls = found.verdict is Verdict.FASTER
    change = _Change("", "", "", "times", falls) if spread else _change(found.ratio, metric)
    lo, hi = (None if end is None else change.of(end) for end in found.ci)
    if change.falls:
        lo, hi = hi, lo
    if lo is None and hi is None:
        return NO_BOUNDS
    return f"{_span(lo, hi)} {change.unit}"


def change_text(ratio: float) -> str:
    """Return the table entry of a ratio: ``-18.2 %``, ``3.10 times``."""
    return f"{significant(ratio)} times" if ratio >= MIN_FACTOR else f"{show_percent(ratio)} %"


def interval_text(ci: tuple[float | None, float | None]) -> str:
    """Return the interval of a ratio: ``-40.1 to -36.2 %``, ``1.80 to 3.10 times``.

    Both ends have one unit: factors from an upper end of ``MIN_FACTOR`` on, else per cent.
    """
    low, high = ci
    if low is None or high is None:
        return _span(*(None if end is None else change_text(end) for end in ci))
    if high >= MIN_FACTOR:
        return f"{_span(significant(low), significant(high))} times"
    return f"{_span(show_percent(low), show_percent(high))} %"


def _span(low: str | None, high: str | None) -> str:
    """Return an interval; ``None`` stands for an open end."""
    if low is None or high is None:
        return NO_BOUNDS if low == high else f"up to {high}" if low is None else f"from {low}"
    return f"{low} to {high}"


NOUNS = {
    "wall_s": "time",
    "wall_s_per_instance": "time per instance",
    "user_s": "user CPU time",
    "sys_s": "system CPU time",
    "peak_anon_bytes": "memory",
}
"""Nouns of the metrics that a program *takes* or *needs*; it *lowers* or *raises* any other."""


@dataclass(frozen=True)
class _Change:
    """Text of a change, as ``before`` amount ``after``, with the form of its interval.

    Attributes:
        unit: unit of ``amount`` and of the ends of the interval.
        falls: whether the text contains 1/ratio, so that the ends of the interval are exchanged.
    """

    before: str
    amount: str
    after: str
    unit: str = "%"
    falls: bool = False

    def of(self, ratio: float) -> str:
        """Return an end of the interval in the unit of the change."""
        if self.unit == "times":
            return significant(1 / ratio if self.falls else ratio)
        return show_percent(ratio)


def _change(ratio: float, metric: Metric) -> _Change:
    """Return the text of a ratio of ``b`` over ``a``."""
    time = metric.name == "wall_s"
    if time and ratio <= 1 / MIN_FACTOR:
        times = f"{significant(1 / ratio)} times"
        return _Change("runs", times, "as fast as", "times", falls=True)
    noun = noun_of(metric)
    if ratio >= MIN_FACTOR:
        times = f"{significant(ratio)} times"
        if time:
            return _Change("takes", times, "as long as", "times")
        verb = "needs" if metric.name in NOUNS else "brings"
        return _Change(verb, times, f"the {noun} of", "times")
    share = f"{show_percent(ratio).lstrip('+-')} %"
    if metric.name in NOUNS:
        word = "less" if ratio < 1 else "more"
        return _Change("takes" if time else "needs", share, f"{word} {noun} than")
    return _Change(f"{'lowers' if ratio < 1 else 'raises'} {noun} by", share, "against")


def noun_of(metric: Metric) -> str:
    """Return the name of an objective in sentences."""
    return NOUNS.get(metric.name, metric.name)


def _outlook(found: Claim) -> str:
    if found.blocks_needed is None or found.blocks_needed <= found.blocks:
        return ""
    more = found.blocks_needed - found.blocks
    needed = _pairs(found.blocks_needed, found)
    return f" About {needed} in all would decide, {more:,} more than now."


def change_words(ratio: float, metric: Metric, statistic: Statistic) -> str:
    """Return an expected change with its verb: ``take 18.2 % less time than``."""
    if statistic is Statistic.SPREAD:
        times = significant(1 / ratio if ratio < 1 else ratio)
        word = "little" if ratio < 1 else "much"
        return f"vary {times} times as {word} in {noun_of(metric)} as"
    change = _change(ratio, metric)
    verb, _, rest = change.before.partition(" ")
    before = f"{verb.removesuffix('s')} {rest}".strip()
    return f"{before} {change.amount} {change.after}"


def interval_words(
    ci: tuple[float, float], ratio: float, metric: Metric, statistic: Statistic
) -> str:
    """Return the interval of an expected change, in the form of ``change_words``."""
    spread = statistic is Statistic.SPREAD
    change = _Change("", "", "", "times", ratio < 1) if spread else _change(ratio, metric)
    lo, hi = (change.of(end) for end in ci)
    if change.falls:
        lo, hi = hi, lo
    return f"{_span(lo, hi)} {change.unit}"


def bound_words(ratio: float) -> str:
    """Return the largest possible gain, rounded up: ``more than 1.5 %``.

    From a factor of two on it is a factor: ``more than a factor of 2.63``.

    Args:
        ratio: ratio of the best possible value to the best known one.
    """
    factor = max(ratio, 1.0 / ratio) if ratio > 0.0 else math.inf
    if math.isfinite(factor) and factor >= MIN_FACTOR:
        step = 10.0 ** (math.floor(math.log10(factor)) - 2)
        return f"more than a factor of {math.ceil(factor / step - _ROUNDING) * step:.5g}"
    tenths = 1000.0 * abs(ratio - 1.0)
    if tenths < 1.0 - _ROUNDING:
        return "as much as 0.1 %"
    return f"more than {math.ceil(tenths - _ROUNDING) / 10:.1f} %"


_ROUNDING = 1e-6
"""Rounding error of a decimal fraction in binary, in per mille."""
