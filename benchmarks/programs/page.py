"""Page of the benchmark, as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks import markdown

from .studies import ALL

IDLE, EFFECTIVE, UNCLEAR = "idle", "effective", "unclear"
INTRODUCTION = (
    "This page shows whether each setting that `assay tune` recommends for two real programs has "
    "an effect. It is for readers who want to know how far they can trust a recommendation."
)
METHOD = (
    "The benchmark tunes `digits` and `compress` ([examples](../../examples/README.md)). Then it "
    "checks each recommendation by *controls*. A control compares 20 launches of the "
    "recommendation with 20 launches without one of its settings, in the same blocks. The control "
    "*all* leaves out all settings."
)
JUDGEMENTS = (
    (EFFECTIVE, "the program is proven slower without the setting"),
    (IDLE, "the program is proven the same or faster without it"),
    (UNCLEAR, "the 40 launches prove neither"),
)
COMMANDS = (
    ("`make bench-programs`", "runs the studies, about 80 minutes; resumes after an interruption"),
    (
        "`make bench-programs BENCH='--budget 2m'`",
        "runs only the studies of two minutes, in a third of the time",
    ),
    ("`make bench-programs BENCH=--write`", "also writes this page"),
)
REASONS = {IDLE: "see the table of controls", UNCLEAR: "variation of launches; joint settings"}
"""Reasons of misses, by the judgement of the settings."""
EXPLANATION = (
    "Reason of the miss: launches of `digits` vary by more than a tenth on a busy virtual machine. "
    "If the search always launched a setting together with an effective one, neither the search "
    "nor 40 further launches can separate their effects. With a budget of two minutes, the "
    "recommendation may be the default."
)


def page(known: Sequence[dict[str, Any]]) -> str:
    """Return the whole page."""
    judged = Counter(judgement(control) for one in known for control in _settings(one))
    machines = sorted({f"{one['date']}, {one.get('cpu', '')}" for one in known})
    sections = [
        "# Settings that studies of real programs recommend",
        INTRODUCTION,
        f"Measured on {'; '.join(machines)}. Budgets without a row were not measured.",
        markdown.section("Targets", _targets(judged, len(known))),
        markdown.section(
            "Method",
            [
                METHOD,
                markdown.table(("setting", "meaning"), JUDGEMENTS),
                markdown.table(("command", "effect"), COMMANDS),
            ],
        ),
        markdown.section("Controls", _controls(known)),
    ]
    return "\n\n".join(sections) + "\n"


def _targets(judged: Counter[str], studies: int) -> Iterator[str]:
    settings, idle = judged.total(), judged[IDLE]
    unproven = idle + judged[UNCLEAR]
    reason = REASONS[UNCLEAR if judged[UNCLEAR] else IDLE]
    rows = (
        (
            "recommended settings that are idle",
            "0",
            f"{idle} of {settings} in {studies} studies",
            markdown.verdict("missed" if idle else "met"),
            REASONS[IDLE] if idle else "",
        ),
        (
            "recommended settings that are not proven effective (the project's own aim)",
            "0",
            f"{unproven} of {settings}: {idle} idle, {judged[UNCLEAR]} unclear",
            markdown.verdict("missed" if unproven else "met"),
            reason if unproven else "",
        ),
    )
    yield markdown.targets_table(
        ("measure", "target", "measured", "verdict", markdown.REASON), rows
    )
    if judged[UNCLEAR]:
        yield EXPLANATION


def _controls(known: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield (
        "*Change of time* is that of the program without the setting, relative to the "
        "recommendation, with its 95 % interval."
    )
    heads = ("program", "budget", "seed", "recommendation", "setting left out", "change of time")
    rows = [row for one in known for row in _rows(one)]
    yield markdown.table((*heads, "interval", "the setting is"), rows)


def judgement(control: dict[str, Any]) -> str:
    """Return whether a setting is effective, by the control without it."""
    verdict = control["verdict"]
    return EFFECTIVE if verdict == "slower" else UNCLEAR if verdict == "unclear" else IDLE


def _settings(one: dict[str, Any]) -> list[dict[str, Any]]:
    return [control for control in one["controls"] if control["b"] != ALL]


def _rows(one: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    settings = " ".join(f"{name}={value}" for name, value in one["settings"].items())
    answer = f"{one['status']}: {settings}" if settings else one["status"]
    head = (one["program"], one["budget"], str(one["seed"]), answer)
    if not one["controls"]:
        yield (*head, "", "", "", "")
    for number, control in enumerate(one["controls"]):
        low, high = (f"{100 * (end - 1):+.1f}" if end else "?" for end in control["ci"])
        judged = "" if control["b"] == ALL else judgement(control)
        change = f"{100 * (control['ratio'] - 1):+.1f} %"
        first = head if number == 0 else ("",) * len(head)
        yield (*first, control["b"], change, f"{low} to {high} %", judged)
