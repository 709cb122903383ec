"""Trials: the launches of a search in the form that a searcher uses."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.records import Goal, Stage
from assay.search.history.history import History
from assay.search.model.feasibility import adjust_slack_to_share
from assay.search.model.noisy_values import weighted_by_noise
from assay.search.model.searcher import Trial


def trials_of(
    history: History, stages: Sequence[Stage] = (Stage.GAUGE, Stage.SEARCH)
) -> list[Trial]:
    """Return all launches of the search and of the gauge as trials.

    A launch counts as failed if its configuration asks for a value that was refused in the run or
    does other work than the default, or if it lacks a figure that is required. Launches with the
    noisiest value of a setting have a smaller weight (``weighted_by_noise``).
    """
    sign = 1.0 if history.goal is Goal.LOWER else -1.0
    required = bool(history.slacks.require)
    found = []
    for stage in stages:
        for arm, block, observation in history.outcomes(stage):
            other = history.other_work.covers(arm.configuration)
            lost = observation is None or other or history.refusals.covers(arm.configuration)
            value = None if observation is None or lost else sign * math.log(observation.value)
            censored = observation is not None and observation.censored
            slack = None if other else history.slacks.at(stage, arm.name, block)
            if required and slack is None and not censored:
                value = None
            weight = history.weight(stage, arm.name, block)
            found.append(Trial(arm.configuration, block, value, censored, slack, weight))
    return adjust_slack_to_share(weighted_by_noise(found), history.slacks.share)
