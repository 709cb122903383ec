"""Warm start: sentences on the use of earlier studies by a search."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import EarlierStudy
from assay.wording.counts import configuration_count


def warm_start_announcement(earlier: Sequence[EarlierStudy]) -> str:
    """Return the use of earlier studies, as a search announces it.

    Args:
        earlier: studies that guide the search.
    """
    whose = "its" if len(earlier) == 1 else "their"
    known = len(
        {known.configuration for source in earlier for known in source.known_configurations}
    )
    return (
        f"begins with the results of {_studies(earlier)} for {configuration_count(known)}, "
        f"unless all configurations can be tried; none of {whose} values is evidence"
    )


def unused_warm_start(earlier: Sequence[EarlierStudy]) -> str:
    """Return the result of a warm start of a search that tried all configurations."""
    return f"All configurations were tried: nothing was taken from {_studies(earlier)}."


def warm_start_sentence(earlier: Sequence[EarlierStudy], first: int) -> str:
    """Return the result of a warm start of a search that a model guided.

    Args:
        earlier: studies that guided the search.
        first: configurations of these studies in the first block.
    """
    whose = "its" if len(earlier) == 1 else "their"
    return (
        f"The search began with {configuration_count(first)} of {_studies(earlier)}; the model "
        f"used {whose} results as far as they agreed with those of this study. None of {whose} "
        "values is evidence."
    )


def _studies(earlier: Sequence[EarlierStudy]) -> str:
    """Return the names of studies: ``study a of this workload``, ``studies a, b and c``."""
    ids = [source.study for source in earlier]
    listed = " and ".join(filter(None, [", ".join(ids[:-1]), ids[-1]]))
    same = [source.same_workload for source in earlier]
    workload = " of this workload" if all(same) else "" if any(same) else " of another workload"
    return f"{'study' if len(ids) == 1 else 'studies'} {listed}{workload}"
