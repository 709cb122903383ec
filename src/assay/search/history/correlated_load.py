"""Correlated load: load of other processes that is correlated with one of two arms (rule 13)."""

from __future__ import annotations

import functools
import statistics
from collections.abc import Sequence

from assay.records import CorrelatedLoad, Stage
from assay.search.history.disturbance import TICK_S, ForeignLoad
from assay.search.history.history import History
from assay.stats.confidence_sequence import min_values
from assay.stats.correlated_load import is_correlated

MIN_DIFFERENCE_CPUS = 0.5
"""Minimum difference between arms, as a part of the admitted share of the CPUs."""


def correlated_load_of(
    history: History,
    a: Sequence[str],
    b: Sequence[str],
    alpha: float,
    above: float | None,
) -> CorrelatedLoad | None:
    """Return a load of other processes that is higher during the arms of one side.

    Only a relevant load counts: other processes used more than the admitted share of the CPUs
    during one side, and less during the other by at least half of that share.

    Args:
        history: history of the study.
        a, b: names of the arms of each side.
        alpha: accepted probability of ever reporting an independent load.
        above: admitted share of the CPUs; with ``None`` the result is ``None``.

    Returns:
        The load during both sides; ``None`` without a correlated load.
    """
    if above is None:
        return None
    first, second = (_in_all(history, side).share for side in (a, b))
    if max(first, second) <= above or abs(second - first) <= MIN_DIFFERENCE_CPUS * above:
        return None
    # Too few blocks exclude nothing. In a sweep of 10,000 cells the launches of one cell lie in as
    # many packed chunks as it has blocks.
    if len(history.complete(Stage.CONFIRM)) < min_values(alpha):
        return None
    loads = [_by_block(history, side) for side in (a, b)]
    pairs = [(loads[0][at], loads[1][at]) for at in loads[0] if at in loads[1]]
    pairs = [(x, y) for x, y in pairs if x.known and y.known]
    if not pairs:
        return None
    step = TICK_S / statistics.median(load.capacity_s for pair in pairs for load in pair)
    of_all = [(x.share, y.share) for x, y in pairs]
    of_rest = [(x.share_of_remainder, y.share_of_remainder) for x, y in pairs]
    if not is_correlated(of_all, of_rest, alpha, resolution=step):
        return None
    return CorrelatedLoad(a=first, b=second)


def _in_all(history: History, names: Sequence[str]) -> ForeignLoad:
    """Return the load of other processes while any of some arms ran."""
    loads = (history.foreign_load(Stage.CONFIRM, name) for name in names)
    return functools.reduce(ForeignLoad.plus, loads, ForeignLoad())


def _by_block(history: History, names: Sequence[str]) -> dict[int, ForeignLoad]:
    """Return the load of other processes in each complete block."""
    found = {block: ForeignLoad() for block in history.complete(Stage.CONFIRM)}
    for name in names:
        for sample in history.samples_of(Stage.CONFIRM, name):
            block = sample.launch.block
            if block in found:
                found[block] = found[block].with_launch(sample)
    return found
