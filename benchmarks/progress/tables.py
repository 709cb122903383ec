"""Tables of the simulation, and its targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from benchmarks.markdown import table, verdict

from .jobs import JOBS, Job

VERDICT_LIMIT = 1.3
WHOLE_LIMIT = 0.25
WHOLE_JOB = 4
"""The job whose time is compared with whole launches: 200 ms, launch 1 %."""
BIAS_SHARE = 5
"""Studies of a row for each set of pilot launches of the bias."""
BIAS_LIMIT = 0.003
ERROR_LIMIT = 0.05

Parts = dict[str, Any]


def tables(parts: Parts, jobs: Sequence[Job], studies: int) -> str:
    """Return all tables in Markdown.

    Args:
        parts: results by key.
        jobs: jobs that were simulated.
        studies: studies of a row.
    """
    rows = [_row(parts, JOBS.index(job)) for job in jobs]
    heads = (
        "job", "best steps", "its time", "to +-1 %", "limit", "to the verdict", "time of whole",
        "first look", "covered (0, 2 %)", "false", "result",
    )  # fmt: skip
    found = (table(heads, rows), _bias(parts, studies), _early(parts, studies))
    return "\n\n".join(text for text in (*found, _recorded(parts, studies)) if text)


class Pooled:
    """Sums over the stored chunks of one job and effect."""

    def __init__(self, parts: Parts, number: int, kind: int) -> None:
        chosen = [
            part for key, part in parts.items() if key.startswith(f"adaptive {number} {kind} ")
        ]
        self.studies = sum(part["studies"] for part in chosen)
        self.chunks = chosen

    def share(self, key: str) -> float:
        """Return the share of the studies with a property."""
        return float(sum(part[key] for part in self.chunks) / self.studies)

    def error(self, key: str) -> float:
        """Return the standard error of a share."""
        p = self.share(key)
        return math.sqrt(p * (1 - p) / self.studies)

    def mean(self, key: str) -> tuple[float, float]:
        """Return the mean of a time, and its standard error."""
        total = sum(part[key][0] for part in self.chunks)
        squares = sum(part[key][1] for part in self.chunks)
        mean = total / self.studies
        return mean, math.sqrt(max(0.0, squares / self.studies - mean * mean) / self.studies)


def _row(parts: Parts, number: int) -> list[str]:
    job = JOBS[number]
    fixed = {int(steps): times for steps, times in parts[f"fixed {number}"].items()}
    best = min(fixed, key=lambda steps: fixed[steps][0])
    best_s, verdict_s = fixed[best][0], min(times[1] for times in fixed.values())
    whole_s = fixed[max(fixed)][0]
    null, gain = Pooled(parts, number, 0), Pooled(parts, number, 1)
    width = [sum(x) / 2 for x in zip(null.mean("width_s"), gain.mean("width_s"), strict=True)]
    decided = gain.mean("verdict_s")
    ratios = [width[0] / best_s, decided[0] / verdict_s, width[0] / whole_s]
    errors = [width[1] / best_s / math.sqrt(2), decided[1] / verdict_s]
    missed = [
        name
        for name, miss in (
            ("width", ratios[0] > job.limit + 2 * errors[0]),
            ("verdict", ratios[1] > VERDICT_LIMIT + 2 * errors[1]),
            ("whole", number == WHOLE_JOB and ratios[2] > WHOLE_LIMIT),
            ("false", null.share("differs") > ERROR_LIMIT + 2 * null.error("differs")),
            *(
                ("coverage", 1 - one.share("covered") > ERROR_LIMIT + 2 * one.error("covered"))
                for one in (null, gain)
            ),
        )
        if miss
    ]
    return [
        job.name,
        str(best),
        f"{best_s:,.0f} s",
        f"{ratios[0]:.2f} (se {errors[0]:.2f})",
        f"{job.limit}",
        f"{ratios[1]:.2f} (se {errors[1]:.2f})",
        f"{ratios[2]:.2f}",
        f"{gain.share('first_look_s'):.0f} s",
        f"{null.share('covered'):.1%}, {gain.share('covered'):.1%}",
        f"{null.share('differs'):.1%}",
        verdict("missed: " + ", ".join(missed) if missed else "met"),
    ]


def _bias(parts: Parts, studies: int) -> str:
    rows = []
    for key, part in parts.items():
        if key.startswith("bias ") and key.endswith(f" {studies // BIAS_SHARE}"):
            _, shape, steps, pilots, _ = key.split()
            limit = BIAS_LIMIT + 2 * part["error"]
            rows.append(
                [
                    shape,
                    steps,
                    pilots if pilots != "0" else "none",
                    f"{100 * part['mean']:.2f} % (se {100 * part['error']:.2f})",
                    verdict("met" if abs(part["mean"]) <= limit else "missed"),
                ]
            )
    return table(("warm-up", "steps", "pilot launches of an arm", "bias", "below 0.3 %"), rows)


def _early(parts: Parts, studies: int) -> str:
    rows = []
    for key, part in parts.items():
        if key.startswith("early ") and key.endswith(f" {studies}"):
            _, number, slower, *_ = key.split()
            same = float(slower) == 0.0
            met = part["share"] <= ERROR_LIMIT + 2 * part["error"]
            rows.append(
                [
                    JOBS[int(number)].name,
                    "identical" if same else f"{float(slower):.0%} slower",
                    f"{part['share']:.1%} (se {part['error']:.1%})",
                    f"{part['periods']:.1f}",
                    verdict("met" if met else "missed") if same else "",
                ]
            )
    return table(("job", "configuration", "ended early", "mean periods", "at most 5 %"), rows)


def _recorded(parts: Parts, studies: int) -> str:
    rows = []
    for key, part in parts.items():
        if key.startswith("recorded ") and key.endswith(f" {studies}"):
            least, middle, most = part["warm_up"]
            met = part["false"] <= ERROR_LIMIT + 2 * part["error"]
            small = abs(part["bias"]) <= BIAS_LIMIT + 2 * part["bias_error"]
            rows.append(
                [
                    str(part["launches"]),
                    "none" if part["period"] is None else f"{part['period']:g}",
                    f"{middle:g} ({least:g} to {most:g})",
                    f"{part['steps']:g}",
                    f"{part['false']:.1%} (se {part['error']:.1%})",
                    f"{100 * part['bias']:.2f} % (se {100 * part['bias_error']:.2f})",
                    verdict("met" if met and small else "missed"),
                ]
            )
    heads = ("recorded launches", "period", "warm-up", "steady steps", "false", "bias", "result")
    return table(heads, rows) if rows else ""
