"""Configurations of a search that its launches have excluded."""

from __future__ import annotations

from assay.records import Configuration
from assay.search.history.history import History
from assay.search.space.search_space import SearchSpace


def is_excluded(history: History, configuration: Configuration) -> bool:
    """Return whether a configuration has a value that launches refused, or does different work."""
    return history.refusals.covers(configuration) or history.other_work.covers(configuration)


def admitted_space(history: History, space: SearchSpace) -> SearchSpace:
    """Return a space without the configurations that are excluded."""
    if not history.refusals.reasons and not history.other_work.launched:
        return space
    return space.excluding(lambda configuration: is_excluded(history, configuration))
