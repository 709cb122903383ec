"""Keyword arguments of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from assay.api.functions.domains import Value
from assay.api.functions.progress import Progress
from assay.api.functions.quantities import Duration, Share, Texts
from assay.records import ImportedTrials


class SessionOptions(TypedDict, total=False):
    """Keywords of ``assay.Session``.

    Attributes:
        budget: time of the loop in this process, the program's own time included (default: 10
            minutes if ``runs`` is absent too; of a continued study that of its first process).
        runs: number of trials in this process (default: no limit).
        metric: name of the objective (default: the first name that a trial reports).
        goal: ``lower`` or ``higher`` (default: derived from name and unit).
        unit: unit of the objective.
        progress: description of an objective that trials report in steps; the value of a trial is
            then that of its steady part (default: the mean of its reports).
        default: default values by name (default: first values of lists, low ends of ranges).
        constraints: expressions that every configuration satisfies.
        history: trials of another tool that guide the search, such as those of
            ``assay.optuna.read_study`` (default: none).
        margin: margin of equivalence, as a share (default: 1 %).
        seed: seed of all random choices (default: 0).
        new_stratum: start of a new stratum for a changed program or machine (default: false).
        db: path or URL of the store (default: ``ASSAY_DB``, or assay/assay.db in the user's state
            folder).
    """

    budget: Duration | None
    runs: int | str | None
    metric: str | None
    goal: str | None
    unit: str
    progress: Progress | None
    default: Mapping[str, Value] | None
    constraints: Texts
    history: ImportedTrials | Sequence[ImportedTrials] | None
    margin: Share | None
    seed: int
    new_stratum: bool
    db: str | None
