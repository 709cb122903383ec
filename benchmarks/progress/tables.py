"""Tables of the simulation, and its targets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
    known = (figures(parts, job) for job in jobs)
    rows = [_row(one) for one in known if one is not None]
    heads = (
        "job", "best steps", "its time", "to ±1 %", "limit", "to the verdict", "over whole",
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


Figure = tuple[float, float]
"""A figure and its standard error."""


@dataclass(frozen=True)
class JobFigures:
    """Figures of one job.

    Attributes:
        job: simulated job.
        best_steps: best fixed number of steady steps, in hindsight.
        best_s: its time until the interval is +-1 %.
        width: time until the interval is +-1 %, over ``best_s``.
        verdict: time to the verdict at 2 %, over that of the best fixed length.
        whole: time until the interval is +-1 %, over that of whole launches.
        first_look_s: mean time of the first look.
        uncovered: share of studies whose interval ever misses the truth, without effect and with.
        false: share of studies without effect with a verdict.
    """

    job: Job
    best_steps: int
    best_s: float
    width: Figure
    verdict: Figure
    whole: float
    first_look_s: float
    uncovered: tuple[Figure, Figure]
    false: Figure

    @property
    def missed(self) -> list[str]:
        """Names of the limits that are exceeded by more than two standard errors."""
        checks = (
            ("width", self.width, self.job.limit),
            ("verdict", self.verdict, VERDICT_LIMIT),
            ("false", self.false, ERROR_LIMIT),
            *(("coverage", one, ERROR_LIMIT) for one in self.uncovered),
        )
        found = [name for name, (value, error), limit in checks if value > limit + 2 * error]
        of_whole = JOBS.index(self.job) == WHOLE_JOB and self.whole > WHOLE_LIMIT
        return [*found, *(["whole"] if of_whole else [])]


def figures(parts: Parts, job: Job) -> JobFigures | None:
    """Return the figures of a job; ``None`` while its parts are missing."""
    number = JOBS.index(job)
    null, gain = Pooled(parts, number, 0), Pooled(parts, number, 1)
    if f"fixed {number}" not in parts or not null.studies or not gain.studies:
        return None
    fixed = {int(steps): times for steps, times in parts[f"fixed {number}"].items()}
    best = min(fixed, key=lambda steps: fixed[steps][0])
    best_s, verdict_s = fixed[best][0], min(times[1] for times in fixed.values())
    width = [sum(x) / 2 for x in zip(null.mean("width_s"), gain.mean("width_s"), strict=True)]
    decided = gain.mean("verdict_s")
    return JobFigures(
        job=job,
        best_steps=best,
        best_s=best_s,
        width=(width[0] / best_s, width[1] / best_s / math.sqrt(2)),
        verdict=(decided[0] / verdict_s, decided[1] / verdict_s),
        whole=width[0] / fixed[max(fixed)][0],
        first_look_s=gain.share("first_look_s"),
        uncovered=(_uncovered(null), _uncovered(gain)),
        false=(null.share("differs"), null.error("differs")),
    )


def _uncovered(pooled: Pooled) -> Figure:
    return 1.0 - pooled.share("covered"), pooled.error("covered")


def _row(one: JobFigures) -> list[str]:
    covered = (f"{1.0 - share:.1%}" for share, _ in one.uncovered)
    return [
        one.job.name,
        str(one.best_steps),
        f"{one.best_s:,.0f} s",
        f"{one.width[0]:.2f} ± {one.width[1]:.2f}",
        f"{one.job.limit}",
        f"{one.verdict[0]:.2f} ± {one.verdict[1]:.2f}",
        f"{one.whole:.2f}",
        f"{one.first_look_s:.0f} s",
        ", ".join(covered),
        f"{one.false[0]:.1%}",
        verdict("missed: " + ", ".join(one.missed) if one.missed else "met"),
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
                    f"{100 * part['mean']:.2f} % ± {100 * part['error']:.2f}",
                    verdict("met" if abs(part["mean"]) <= limit else "missed"),
                ]
            )
    heads = ("warm-up", "steps", "pilot launches of an arm", "bias", "below 0.3 %")
    return table(heads, rows) if rows else ""


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
                    f"{part['share']:.1%} ± {part['error']:.1%}",
                    f"{part['periods']:.1f}",
                    verdict("met" if met else "missed") if same else "",
                ]
            )
    heads = ("job", "configuration", "ended early", "mean periods", "at most 5 %")
    return table(heads, rows) if rows else ""


def _recorded(parts: Parts, studies: int) -> str:
    chosen = [
        part
        for key, part in parts.items()
        if key.startswith("recorded ") and key.endswith(f" {studies}")
    ]
    return recorded_table(chosen) if chosen else ""


def recorded_table(among: Iterable[Mapping[str, Any]]) -> str:
    """Return the table of studies that were resampled from recordings (``Recorded``)."""
    rows = []
    for part in among:
        least, middle, most = part["warm_up"]
        met = part["false"] <= ERROR_LIMIT + 2 * part["error"]
        small = abs(part["bias"]) <= BIAS_LIMIT + 2 * part["bias_error"]
        rows.append(
            [
                str(part["launches"]),
                "none" if part["period"] is None else f"{part['period']:g}",
                f"{middle:g} ({least:g} to {most:g})",
                f"{part['steps']:g}",
                f"{part['false']:.1%} ± {part['error']:.1%}",
                f"{100 * part['bias']:.2f} % ± {100 * part['bias_error']:.2f}",
                verdict("met" if met and small else "missed"),
            ]
        )
    heads = ("recorded launches", "period", "warm-up", "steady steps", "false", "bias", "result")
    return table(heads, rows)
