"""Targets of the simulation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .jobs import JOBS
from .tables import (
    BIAS_LIMIT,
    BIAS_SHARE,
    ERROR_LIMIT,
    VERDICT_LIMIT,
    WHOLE_JOB,
    WHOLE_LIMIT,
    Figure,
    JobFigures,
    Parts,
    figures,
)
from .targets import Target

PILOTS = 4
"""Pilot launches of an arm with which the limit of the bias holds."""


def targets(parts: Parts, studies: int) -> list[Target]:
    """Return the targets and the worst figure of each.

    Args:
        parts: results by key.
        studies: studies of a row.
    """
    known = [one for one in (figures(parts, job) for job in JOBS) if one is not None]
    found = [*_times(known), *_errors(known)]
    return [*found, *_bias(parts, studies // BIAS_SHARE), *_early(parts, studies)]


def _times(known: Sequence[JobFigures]) -> Iterator[Target]:
    for limit in sorted({one.job.limit for one in known}):
        among = [one for one in known if one.job.limit == limit]
        yield _ratio(
            f"time to ±1 % over that of the best fixed length, worst of {len(among)} jobs",
            [one.width for one in among],
            limit,
        )
    if known:
        yield _ratio(
            f"time to the verdict at 2 % over that of the best fixed length, worst of "
            f"{len(known)} jobs",
            [one.verdict for one in known],
            VERDICT_LIMIT,
        )
    for one in known:
        if JOBS.index(one.job) == WHOLE_JOB:
            yield Target(
                "time to ±1 % over that of whole launches of 2,000 steps, 200 ms and 1 %",
                f"at most {WHOLE_LIMIT}",
                f"{one.whole:.2f}",
                one.whole - WHOLE_LIMIT,
                one.width[1],
            )


def _ratio(measure: str, among: Sequence[Figure], limit: float) -> Target:
    value, error = max(among, key=lambda one: one[0] - 2 * one[1])
    return Target(
        measure, f"at most {limit} times", f"{value:.2f} ± {error:.2f}", value - limit, error
    )


def _errors(known: Sequence[JobFigures]) -> Iterator[Target]:
    if not known:
        return
    value, error = _worst([figure for one in known for figure in one.uncovered])
    yield Target(
        f"coverage at every look, worst of {2 * len(known)} rows",
        "at least 95 %",
        f"{1.0 - value:.1%} ± {error:.1%}",
        value - ERROR_LIMIT,
        error,
    )
    yield _share("false verdicts under peeking, worst job", [one.false for one in known])


def _share(measure: str, among: Sequence[Figure]) -> Target:
    value, error = _worst(among)
    return Target(measure, "at most 5 %", f"{value:.1%} ± {error:.1%}", value - ERROR_LIMIT, error)


def _worst(among: Sequence[Figure]) -> Figure:
    return max(among, key=lambda one: one[0] - 2 * one[1])


def _bias(parts: Parts, studies: int) -> Iterator[Target]:
    ending = f" {PILOTS} {studies}"
    among = {
        key: (abs(part["mean"]), part["error"])
        for key, part in parts.items()
        if key.startswith("bias ") and key.endswith(ending)
    }
    if not among:
        return
    worst = max(among, key=lambda key: among[key][0] - 2 * among[key][1])
    value, error = among[worst]
    _, shape, steps, *_ = worst.split()
    yield Target(
        f"bias of a launch without its warm-up, worst of {len(among)} rows ({shape}, {steps} "
        "steps)",
        "below 0.3 %",
        f"{value:.2%} ± {error:.2%}",
        value - BIAS_LIMIT,
        error,
    )


def _early(parts: Parts, studies: int) -> Iterator[Target]:
    among = [
        (part["share"], part["error"])
        for key, part in parts.items()
        if key.startswith("early ") and key.endswith(f" {studies}") and " 0.0 " in key
    ]
    if among:
        yield _share("identical configurations that are ended early, worst of 3 jobs", among)
