"""Following: whether the load of other processes follows one of two arms (rule 13)."""

from __future__ import annotations

import functools
import statistics
from collections.abc import Sequence

from assay.records import CorrelatedLoad, Stage
from assay.search.history.disturbance import TICK_S, ForeignLoad
from assay.search.history.history import History
from assay.stats.correlated_load import is_correlated

MIN_DIFFERENCE_CPUS = 0.5
"""Part of the admitted share of the CPUs below which a difference between arms is of no matter."""


def correlated_load_of(
    history: History,
    a: Sequence[str],
    b: Sequence[str],
    alpha: float,
    above: float | None,
) -> CorrelatedLoad | None:
    """Find out whether other processes used the CPUs more while the arms of one side ran.

    Only a load that matters is looked for: others took more than the admitted share of the CPUs
    while one side ran, and less while the other did by half of that share at least.

    Args:
        history: of the study.
        a, b: names of the arms of each side.
        alpha: accepted chance that this is ever found of a load that follows nothing.
        above: share of the CPUs that others may take; ``None`` never asks.

    Returns:
        What others took during both; ``None`` where no such load is found.
    """
    if above is None:
        return None
    first, second = (_in_all(history, side).share for side in (a, b))
    if max(first, second) <= above or abs(second - first) <= MIN_DIFFERENCE_CPUS * above:
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
    """Sum up what others took while any of some arms ran."""
    loads = (history.foreign_load(Stage.CONFIRM, name) for name in names)
    return functools.reduce(ForeignLoad.plus, loads, ForeignLoad())


def _by_block(history: History, names: Sequence[str]) -> dict[int, ForeignLoad]:
    """The same by block, of the complete ones."""
    found = {block: ForeignLoad() for block in history.complete(Stage.CONFIRM)}
    for name in names:
        for sample in history.samples_of(Stage.CONFIRM, name):
            block = sample.launch.block
            if block in found:
                found[block] = found[block].with_one(sample)
    return found
