"""Grants: verification of the settings, and failed launches."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import GrantStatus, Outcome, Sample
from assay.reporting.formatting import duration, shorten
from assay.reporting.grants import GrantTally
from assay.reporting.markup import Html, el, join
from assay.reporting.parts.common import count_or_dash, plain_table
from assay.units import show_count
from assay.untrusted import clean

_LEVELS = (
    ("set", "the kernel accepted it, or it was in the environment of the program"),
    ("seen", "it was read back from the running program"),
    ("effective", "its effect was observed"),
)


def failures(samples: Sequence[Sample]) -> Html | None:
    """Return the failed launches by reason, with their number and arms."""
    kinds: dict[tuple[str, str], list[Sample]] = {}
    for sample in samples:
        if not sample.outcome.succeeded:
            ending, message = _ending(sample), clean(sample.message or "")
            shown_message = "" if message in (ending, _TIMED_OUT) else message
            kinds.setdefault((ending, shown_message), []).append(sample)
    if not kinds:
        return None
    rows = [
        el(
            "tr",
            el("th", f"{ending}{_caps(own)}", scope="row"),
            el("td", f"{len(own):,}", class_="num"),
            el("td", show_count(len({s.launch.arm for s in own}), "arm")),
            el("td", shorten(message, 300) or "\u2013", class_="reasons"),
        )
        for (ending, message), own in sorted(kinds.items(), key=lambda item: -len(item[1]))
    ]
    heads = ("Reason", "Launches", "Arms", "Message")
    return plain_table("Failed launches", heads, rows[:_KINDS_SHOWN], (1,))


_KINDS_SHOWN = 20


_TIMED_OUT = "timed out"


def _caps(samples: Sequence[Sample]) -> str:
    """Return the time-outs of launches, if they were stopped."""
    caps = [s.launch.timeout_s for s in samples if s.outcome is Outcome.TIMED_OUT]
    known = [cap for cap in caps if cap is not None]
    if not known:
        return ""
    shown = dict.fromkeys(duration(cap) for cap in (min(known), max(known)))
    return f" after {' to '.join(shown)}"


def _ending(sample: Sample) -> str:
    if sample.outcome is Outcome.TIMED_OUT:
        return _TIMED_OUT
    if sample.outcome is Outcome.LIMIT:
        return f"stopped at a limit: {clean(sample.limit or 'unknown')}"
    if sample.signal is not None:
        return f"terminated by signal {sample.signal}"
    if sample.exit_status is not None:
        return f"exit status {sample.exit_status}"
    return "failed"


def grants(all_of: Sequence[GrantTally], winner: Sequence[GrantTally]) -> Html:
    """Return the verification of the settings."""
    if not all_of:
        return el("p", "No settings were varied or verified.")
    parts: list[Html] = []
    if winner:
        parts += [
            el("h3", "The recommended configuration"),
            _grant_table(winner, "Grants of the recommended configuration"),
            el("h3", "All launches"),
        ]
    parts.append(_grant_table(all_of, "Grants of all launches"))
    parts.append(
        el(
            "dl",
            [el("div", el("dt", level), el("dd", meaning)) for level, meaning in _LEVELS],
            class_="legend",
        )
    )
    return join(parts)


def _grant_table(tallies: Sequence[GrantTally], label: str) -> Html:
    words = [GrantStatus.GRANTED, GrantStatus.DEGRADED, GrantStatus.UNVERIFIED]
    if any(t.counts.get(GrantStatus.REFUSED) for t in tallies):
        words.append(GrantStatus.REFUSED)
    heads = ["Setting", "Values", "Evidence", *(word.value for word in words)]
    heads.append("Reason and read-back value")
    numeric = range(3, 3 + len(words))
    return plain_table(label, heads, [_grant_row(t, words) for t in tallies], numeric)


def _grant_row(tally: GrantTally, words: Sequence[GrantStatus]) -> Html:
    values = ", ".join(shorten(v, 60) for v in tally.values[:12])
    if len(tally.values) > 12:
        values += f" and {len(tally.values) - 12} more"
    counts = [
        el(
            "td",
            count_or_dash(tally.counts.get(word, 0)),
            class_=f"num grant-{word.value}" if tally.counts.get(word) else "num",
        )
        for word in words
    ]
    reasons = [
        el("div", f"{shorten(reason, 240)}", el("span", f" {number}\u00d7", class_="times"))
        for reason, number in tally.reasons[:3]
    ]
    seen = [el("div", shorten(value, 120), class_="observed") for value, _ in tally.observed[:3]]
    return el(
        "tr",
        el("th", el("bdi", clean(tally.name)), scope="row"),
        el("td", el("bdi", values), class_="values"),
        el("td", tally.level.value),
        counts,
        el("td", reasons, seen, class_="reasons"),
    )
