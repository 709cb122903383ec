"""The page of the benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks import markdown

from .studies import ALL

REASON = (
    "Reason of the missed target: launches of `digits` vary by more than a tenth on a busy "
    "virtual machine. Settings that ran together with an effective one cannot be separated from "
    "it by the search or by 40 further launches. In two minutes the default may be kept."
)
IDLE, MATTERS, UNCLEAR = "idle", "matters", "unclear"
INTRODUCTION = (
    "`make bench-programs` tunes two programs of the [examples](../../examples/README.md) and "
    "compares each setting of each recommendation with controls: 20 launches of the "
    "recommendation and 20 without that setting, in the same blocks.\n\n"
    "A setting *matters* if the program is proven slower without it. It is *idle* if the program "
    "is proven the same or faster without it, and *unclear* if the 40 launches show neither. The "
    "benchmark takes about 80 minutes (`BENCH='--budget 2m'` a third of that), resumes after "
    "interruption, and writes this page with `BENCH=--write`."
)


def page(known: Sequence[dict[str, Any]]) -> str:
    """Return all of it."""
    rows = [row for one in known for row in _rows(one)]
    heads = ("program", "budget", "seed", "answer", "without", "time", "95 % interval", "setting")
    judged = Counter(judgement(control) for one in known for control in _settings(one))
    unshown = judged[IDLE] + judged[UNCLEAR]
    machines = sorted({f"{one['date']}, {one.get('cpu', '')}" for one in known})
    sections = [
        "# Settings that studies of real programs recommend",
        INTRODUCTION,
        f"Measured: {'; '.join(machines)}.",
        markdown.table(
            ("measure", "target", "seen", ""),
            [
                (
                    "settings recommended that controls show to be idle",
                    "0",
                    f"{judged[IDLE]} of {judged.total()} in {len(known)} studies",
                    "missed" if judged[IDLE] else "met",
                ),
                (
                    "settings recommended that controls do not show to matter (our own aim)",
                    "0",
                    f"{unshown} of {judged.total()}: "
                    f"{judged[IDLE]} idle, {judged[UNCLEAR]} unclear",
                    "missed" if unshown else "met",
                ),
            ],
        ),
        *([REASON] if unshown else []),
        "Budgets without a row were not measured.",
        markdown.table(heads, rows),
    ]
    return "\n\n".join(sections) + "\n"


def judgement(control: dict[str, Any]) -> str:
    """Return whether a setting matters, by the program without it."""
    verdict = control["verdict"]
    return MATTERS if verdict == "slower" else UNCLEAR if verdict == "unclear" else IDLE


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
