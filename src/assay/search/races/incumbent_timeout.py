"""Time limit of a launch of the search that follows from earlier launches."""

from __future__ import annotations

from assay.records import Goal, Stage, Statistic, StudySpec
from assay.records.workload import WALL
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.races.search_race import HANG_TIMEOUT_FACTOR, TIMEOUT_FACTOR, TIMEOUT_SLACK_S


def incumbent_timeout_s(spec: StudySpec, history: History) -> float | None:
    """Return a limit from the fastest arm if wall time is the objective, else a wide one.

    Args:
        spec: specification of the study.
        history: samples of the study.

    Returns:
        Limit in seconds; ``None`` before the first successful launch.
    """
    names, factor = [DEFAULT_ARM.name], HANG_TIMEOUT_FACTOR
    objective = spec.workload.objective
    shortest = objective.name == WALL.name and objective.goal is Goal.LOWER
    if shortest and spec.statistic is not Statistic.SPREAD:
        arms, other_work = history.arms(Stage.SEARCH), history.other_work
        names = [a.name for a in arms if not other_work.covers(a.configuration)] or names
        factor = TIMEOUT_FACTOR
    walls = [w for w in map(history.successful_wall_s, names) if w is not None]
    walls = walls or _survey_s(history)
    return min(walls) * factor + TIMEOUT_SLACK_S if walls else None


def _survey_s(history: History) -> list[float]:
    """Return the wall times of the first launches of the default."""
    samples = history.samples
    good = (s for s in samples if s.outcome.succeeded and s.launch.arm == DEFAULT_ARM.name)
    return [s.wall_s for s in good if s.wall_s]
