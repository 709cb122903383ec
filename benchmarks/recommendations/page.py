"""Page of the benchmark as Markdown: figures and their targets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.markdown import REASON, section, table, targets_table, verdict
from benchmarks.search.page import WORLD_NOISE

from .summary import Row

REGRET = {12: 0.04, 25: 0.02, 50: 0.02}
"""Largest mean regret, by number of launches."""
WIDTH = {12: 1.5, 25: 1.3, 50: 1.2}
"""Largest median width of an interval, by number of launches."""
IDLE, WORSE, FALSE, COVERED, DEFAULT = 0.05, 0.10, 0.05, 0.90, 0.95
OVER, UNDER = 0.01, -0.03
TARGET_STUDIES = 2000
"""Studies per row for which the targets are defined."""

INTRODUCTION = (
    "This page shows how often assay recommends a wrong setting or an *idle* one (a setting "
    "without effect), and how accurate the expected gain of an unproven recommendation is. It is "
    "for readers who want to know how far they can trust a recommendation."
)
SPACES = (
    "- **Simulated spaces** (*effects*) have 20 settings of two to four values, with known "
    "effects. None of them has an effect (*none*), one has (*one*), two have effects that add "
    "(*sum*), or two interact (*pair*). Launches have log-normal noise of 5 %. Effects are 15 to "
    "40 % at 12 launches, 8 to 40 % at 25, and 5 to 40 % at 50.\n"
    "- **Recorded spaces** (*tables*) contain recorded times of real programs, with noise of "
    "several kinds. The default is a random configuration (*random*), the median one (*median*), "
    "or one of the best tenth of the space (*best tenth*)."
)
NOISE = (
    ("plain", "recorded noise; log-normal noise of 5 % if only means were recorded"),
    *WORLD_NOISE,
)
MEASURES = (
    "*Falsely proven* is the share of proofs whose recommendation is not better than the default. "
    "*Other than the default* is the share of studies that recommend a setting although none has "
    "an effect. The columns of the following sections define the other measures."
)
USAGE = (
    "`make bench-recommendations BENCH='--write --studies 2000 TABLE...'` runs the studies and "
    "writes this page. It resumes after an interruption."
)
UNKNOWN = "cause not yet known"
REASONS = {
    "idle settings": "core of the configuration not launched, or not distinguishable",
    "median width": "interval widened to reach the coverage",
}
"""Known reasons of misses, by measure."""
COLUMNS = (
    ("regret", "true excess of the recommended time over the shortest one (mean ± standard error)"),
    ("proven, unproven, default", "shares of the kinds of answer"),
    ("idle", "share of recommendations with an idle setting; the default does not count"),
    ("worse", "share of answers whose true time is more than 1 % worse than that of the default"),
)
INTERVAL_COLUMNS = (
    ("coverage", "share of recommendations whose interval contains the true ratio to the default"),
    ("median width", "median ratio of the upper to the lower end of the interval"),
    ("over-claim", "mean excess of the expected gain over the true one"),
)


def text(rows: Sequence[Row], heading: str) -> str:
    """Return the page.

    Args:
        rows: figures of all rows.
        heading: date and version.
    """
    parts = (
        "# Quality and error rates of recommendations",
        INTRODUCTION,
        heading,
        section("Targets", [_precision(rows), MEASURES, _summary(rows)]),
        section("Method", [SPACES, table(["noise", "meaning"], NOISE), USAGE]),
        section("Recommendations", [table(["column", "meaning"], COLUMNS), _recommendations(rows)]),
        section("Intervals of unproven recommendations", _intervals(rows)),
        section("All targets", [_targets(rows)]),
    )
    return "\n\n".join(filter(None, parts)) + "\n"


def _precision(rows: Sequence[Row]) -> str:
    """Describe how the figures are compared with the limits, and how precise they are."""
    fewest = min((row.studies for row in rows), default=0)
    found = (
        "Each row combines all spaces of a kind, and shows the value that is worst relative to the "
        "target. [All targets](#all-targets) shows each space. *Within two standard errors* means "
        "that a value exceeds its limit by at most two standard errors."
    )
    if fewest >= TARGET_STUDIES:
        return found
    return (
        f"{found} The targets are defined for {TARGET_STUDIES:,} studies per space. The smallest "
        f"number so far is {fewest}, so the standard errors are large."
    )


@dataclass(frozen=True)
class _Check:
    """A target of a row, and the measured figure.

    Attributes:
        measure: name of the figure.
        limit: limit, as text.
        figure: measured figure, as text.
        excess: excess of the figure over the limit; at most 0 if the limit is met.
        error: standard error of the figure.
    """

    measure: str
    limit: str
    figure: str
    excess: float
    error: float = 0.0

    @property
    def status(self) -> str:
        if self.excess <= 0.0:
            return "met"
        return "met within two standard errors" if self.excess <= 2 * self.error else "missed"


def _summary(rows: Sequence[Row]) -> str:
    found: dict[tuple[str, str, int, str], list[_Check]] = {}
    for row in rows:
        kind = "simulated" if row.simulated else "recorded"
        for check in _checks(row):
            key = (check.measure, kind, row.launches, check.limit)
            found.setdefault(key, []).append(check)
    lines = []
    for (measure, kind, launches, limit), checks in found.items():
        worst = max(checks, key=lambda check: check.excess)
        missed = sum(check.status == "missed" for check in checks)
        result = verdict(worst.status if not missed else f"missed in {missed} of {len(checks)}")
        reason = REASONS.get(measure, UNKNOWN) if missed else ""
        lines.append([measure, kind, str(launches), limit, worst.figure, result, reason])
    heads = ["measure", "spaces", "launches", "target", "measured", "verdict", REASON]
    return targets_table(heads, sorted(lines, key=lambda line: (line[1] == "recorded", line[0])))


def _targets(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        for check in _checks(row):
            cells = [check.measure, check.limit, check.figure, verdict(check.status)]
            lines.append([row.space, str(row.launches), *cells])
    return table(["space", "launches", "measure", "target", "measured", "verdict"], lines)


def _share(
    measure: str, figure: float, limit: float, count: float, *, least: bool = False
) -> _Check:
    """Return the check of a share of ``count`` studies.

    Args:
        measure: name of the share.
        figure: measured share.
        limit: largest share that meets the target, or the smallest with ``least``.
        count: number of studies.
        least: whether the limit is a minimum.
    """
    shown = f"at {'least' if least else 'most'} {_percent(limit)}"
    if count < 0.5:
        return _Check(measure, shown, "no such study", -math.inf)
    excess = limit - figure if least else figure - limit
    error = math.sqrt(limit * (1.0 - limit) / count)
    return _Check(measure, shown, _percent(figure), excess, error)


def _checks(row: Row) -> Iterator[_Check]:
    yield _share("worse than the default", row.worse, WORSE, row.studies)
    yield _share("falsely proven", row.false, FALSE, row.studies * row.proven)
    if row.without:
        yield _share("other than the default", 1.0 - row.default, 1.0 - DEFAULT, row.studies)
        return
    if row.simulated:
        yield _share("idle settings", row.idle, IDLE, row.studies * (1.0 - row.default))
    limit = REGRET.get(row.launches)
    if limit is not None and row.simulated:
        shown, excess = f"at most {_percent(limit)}", row.regret - limit
        yield _Check("mean regret", shown, _percent(row.regret), excess, row.regret_error)
    if row.covered is not None and row.width is not None and row.overclaim is not None:
        yield _share("coverage", row.covered, COVERED, row.studies * row.unproven, least=True)
        width = WIDTH.get(row.launches, math.inf)
        yield _Check("median width", f"at most {width:g}", f"{row.width:.2f}", row.width - width)
        excess = max(UNDER - row.overclaim, row.overclaim - OVER)
        figure = _percent(row.overclaim)
        yield _Check("over-claim", "-3 to 1 %", figure, excess, row.overclaim_error)


def _recommendations(rows: Sequence[Row]) -> str:
    head = [
        "space",
        "launches",
        "studies",
        "regret",
        "proven",
        "unproven",
        "default",
        "idle",
        "worse",
    ]
    lines = [
        [
            row.space,
            str(row.launches),
            str(row.studies),
            f"{_percent(row.regret)} ± {_percent(row.regret_error)}",
            *map(_percent, (row.proven, row.unproven, row.default)),
            _percent(row.idle) if row.simulated and not row.without else "",
            _percent(row.worse),
        ]
        for row in rows
    ]
    return table(head, lines)


def _intervals(rows: Sequence[Row]) -> Iterator[str]:
    head = ["space", "launches", "coverage", "median width", "over-claim"]
    lines = [
        [
            row.space,
            str(row.launches),
            _percent(row.covered),
            f"{row.width:.2f}",
            _percent(row.overclaim),
        ]
        for row in rows
        if row.covered is not None and row.width is not None and row.overclaim is not None
    ]
    if lines:
        yield table(["column", "meaning"], INTERVAL_COLUMNS)
        yield table(head, lines)


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"
