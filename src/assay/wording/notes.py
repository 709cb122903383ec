"""Notes: limits of the answer of a study, one sentence each."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import DisturbanceSource, Metric
from assay.records.observation import DEFAULT_OBSERVATIONS
from assay.units import show_count, show_quantity
from assay.wording.counts import block_count, launch_count
from assay.wording.disturbance import disturbers_words

ALL_BLOCKS_USED = (
    ". A verdict rests on all blocks where that is more precise: the order within each is random"
)
NOT_PRECISE = (
    ". While they are, the mean does not count as precise enough, and the study continues to the "
    "end of its budget"
)
MAX_NAMED_ARMS = 3
"""Arms that a note on some launches names."""
POSITION_IN_BLOCK = "position in the block"
"""Evidence on a launch: its place in the order of its block."""
_REFUSED = " did not take effect in "
_DEGRADED = " took effect in part in "


def too_few_blocks(blocks: int, cells: int, min_blocks: int) -> str:
    """Return a note on a sweep with too few blocks for verdicts.

    Args:
        blocks: number of blocks.
        cells: number of cells.
        min_blocks: smallest number of blocks for verdicts on all cells.
    """
    return (
        f"{block_count(blocks)} {'is' if blocks == 1 else 'are'} too few for a verdict on each of "
        f"{show_count(cells, 'cell')}, which takes at least {min_blocks}"
    )


def two_groups(arm: str, low: str, high: str, high_share: float) -> str:
    """Return a note on an arm whose launches fall into two groups.

    Args:
        arm: name of the arm.
        low, high: means of the two groups, with their unit.
        high_share: share of the launches in the upper group.
    """
    return (
        f"{arm!r} falls into two groups: about {low}, and {high} in {100 * high_share:.0f} % of "
        "its launches"
    )


def correlated_evidence(kind: str, low: float, high: float, unit: str) -> str:
    """Return an addition to ``two_groups``: evidence that differs between the groups.

    Args:
        kind: kind of evidence.
        low, high: medians in the two groups.
        unit: unit of the evidence; empty without one.
    """
    medians = (show_quantity(mean, unit) if unit else f"{mean:.4g}" for mean in (low, high))
    return f"; correlated with {kind.replace('_', ' ')} ({' and '.join(medians)} at the median)"


def disturbed_blocks(
    disturbed: int,
    blocks: int,
    disturbers: Sequence[DisturbanceSource],
    limit: float,
    *,
    included: bool,
    measurement: bool,
    all_used: bool,
) -> str:
    """Return a note on blocks that other processes disturbed.

    Args:
        disturbed, blocks: disturbed blocks, and all blocks.
        disturbers: processes that used the CPUs most.
        limit: share of the CPUs from which on a block counts as disturbed.
        included: whether the table includes disturbed blocks, since they are more than a third.
        measurement: whether the study measures a single arm.
        all_used: whether a verdict rests on all blocks.
    """
    note = f"{_disturbed(disturbed, block_count(blocks), disturbers, limit)}"
    note += "; the table includes them, since they are more than a third" if included else ""
    note += NOT_PRECISE if included and measurement else ""
    note += "" if included else "; the table leaves them out"
    return note + (ALL_BLOCKS_USED if all_used else "")


def disturbed_search(
    disturbed: int,
    blocks: int,
    disturbers: Sequence[DisturbanceSource],
    limit: float,
    *,
    has_expected: bool,
) -> str:
    """Return a note on blocks of a search that other processes disturbed.

    Args:
        disturbed, blocks, disturbers, limit: as for ``disturbed_blocks``.
        has_expected: whether the answer states an expected effect.
    """
    note = _disturbed(disturbed, f"{block_count(blocks)} of the search", disturbers, limit)
    return note + (
        ", so the interval of the expected effect may be too narrow" if has_expected else ""
    )


def _disturbed(
    disturbed: int, blocks: str, disturbers: Sequence[DisturbanceSource], limit: float
) -> str:
    return (
        f"{disturbed} of {blocks} disturbed: other processes{disturbers_words(disturbers)} used "
        f"more than {100 * limit:g} % of the CPUs meanwhile"
    )


def skipped_observations(names: Sequence[str]) -> str:
    """Return a note on observations that a calibration switched off.

    Args:
        names: the observations.
    """
    return (
        f"launches that count ran without samples of {' and '.join(names)}: a calibration shows "
        "that these cost too much on this machine (`assay doctor` has the figures, `--observe "
        f"{','.join(DEFAULT_OBSERVATIONS)}` enables them nevertheless)"
    )


def no_counters(reason: str) -> str:
    """Return a note on missing hardware counters."""
    return f"no launch has hardware counters: {reason}"


def failed_launches(failed: int, launches: int, warm_up: int, reasons: str) -> str:
    """Return a note on launches that failed.

    Args:
        failed, launches: failed launches, and all launches.
        warm_up: failed launches of the warm-up.
        reasons: reasons by arm.
    """
    return f"{failed} of {launches} launches failed{_in_warm_up(warm_up)}: {reasons}"


def timed_out_launches(
    number: int, launches: int, limit: str, arms: str, missing_metric: str | None
) -> str:
    """Return a note on launches that were stopped at a time limit.

    Args:
        number, launches: stopped launches, and all launches.
        limit: name of the limit.
        arms: arms of the stopped launches.
        missing_metric: objective that these launches have no value of; ``None`` where the objective
            is their time.
    """
    one = number == 1
    fate = "counts as at least that long, and is" if one else "count as at least that long, and are"
    effect = f"{fate} in no summary"
    if missing_metric is not None:
        effect = f"{'has' if one else 'have'} no value of {missing_metric}"
    return (
        f"{number} of {launches} launches {'was' if one else 'were'} stopped at {limit}, {arms}: "
        f"{'it' if one else 'they'} {effect}"
    )


TIMEOUT_OPTION = "--timeout"
TIMEOUT_OR_EARLIER = "--timeout, or earlier where a search found them slow"
OWN_TIMEOUT = "a limit that assay set (--timeout sets another)"


def arms_of_launches(arms: Sequence[str], warm_up: int) -> str:
    """Return the arms of some launches.

    Args:
        arms: their names, each once.
        warm_up: number of these launches that were warm-up launches.
    """
    text = f"all of {arms[0]!r}" if len(arms) == 1 else f"in {len(arms)} arms"
    text += f" ({', '.join(map(repr, arms))})" if 1 < len(arms) <= MAX_NAMED_ARMS else ""
    return f"{text}{_in_warm_up(warm_up)}"


def _in_warm_up(number: int) -> str:
    return f" ({number} during warm-up)" if number else ""


def zero_values(metric: str, zeros: int, launches: int, arms: str) -> str:
    """Return a note on values that no ratio can be formed with.

    Args:
        metric: name of the metric.
        zeros, launches: launches with such a value, and all launches.
        arms: arms of these launches.
    """
    return (
        f"{metric} is 0 or less in {zeros} of {launch_count(launches)}, {arms}: means include "
        "them, but comparisons do not, since they use ratios of positive values"
    )


def missing_values(metric: str, missing: int, launches: int, arms: str, reason: str) -> str:
    """Return a note on launches without a value.

    Args:
        metric: name of the metric.
        missing, launches: launches without a value, and all launches.
        arms: arms of these launches.
        reason: reason of the last one.
    """
    lack = "has no" if missing == 1 else "have no"
    are = "is" if missing == 1 else "are"
    return (
        f"{missing} of {launch_count(launches)} {lack} {metric}, {arms}, and {are} excluded "
        f"from its figures; the last: {reason}"
    )


def lower_bounds(metric: Metric, number: int, launches: int, arms: str, largest: float) -> str:
    """Return a note on values that are lower bounds.

    Args:
        metric: the metric.
        number, launches: launches with such a value, and all launches.
        arms: arms of these launches.
        largest: largest upper bound.
    """
    return (
        f"{metric.name} is a lower bound in {number} of {launch_count(launches)}, {arms}: between "
        f"two samples it may have reached {show_quantity(largest, metric.unit)}; --metric-as-is "
        f"{metric.name} uses the sampled values"
    )


def refused_value(value: str, reason: str) -> str:
    """Return a note on a value that left the search, since no launch applied it."""
    return f"{value} was refused at launch{f' ({reason})' if reason else ''}, and left the search"


def refused_in_cells(setting: str, refused: int, launches: int, cells: int, reason: str) -> str:
    """Return a note on a setting that did not take effect in cells of a sweep.

    Args:
        setting: name of the setting.
        refused, launches: launches without effect, and all launches with the setting.
        cells: number of cells with launches without effect.
        reason: reason of the last one; empty if unknown.
    """
    return (
        f"{setting}{_REFUSED}{refused} of {launch_count(launches)} that requested it, in "
        f"{show_count(cells, 'cell')}{f': {reason}' if reason else ''}"
    )


def refused_in_arm(
    setting: str, refused: int, launches: int, arm: str, reason: str, never: str = ""
) -> str:
    """Return a note on a setting that did not take effect in launches of an arm.

    Args:
        setting: name of the setting.
        refused, launches: launches without effect, and all launches of the arm.
        arm: name of the arm.
        reason: reason of the last one; empty if unknown.
        never: the setting and its value, where no launch of the arm had it.
    """
    without = f", which never had {never}" if never else ""
    return _in_arm(setting, _REFUSED, refused, launches, arm, reason, without)


def degraded_in_arm(setting: str, degraded: int, launches: int, arm: str, reason: str) -> str:
    """Return a note on a setting that took effect in part; arguments as for ``refused_in_arm``."""
    return _in_arm(setting, _DEGRADED, degraded, launches, arm, reason)


def _in_arm(
    setting: str, how: str, number: int, launches: int, arm: str, reason: str, more: str = ""
) -> str:
    return (
        f"{setting}{how}{number} of {launch_count(launches)} of {arm!r}{more}"
        f"{f': {reason}' if reason else ''}"
    )


def is_refusal_note(note: str, setting: str) -> bool:
    """Return whether a note reports that a setting did not take effect, or took effect in part.

    Args:
        note: any note.
        setting: name of the setting.
    """
    return note.startswith((f"{setting}{_REFUSED}", f"{setting}{_DEGRADED}"))


def instances_note(metric: str) -> str:
    """Return a note on metrics of studies in which the number of instances varies.

    Args:
        metric: name of the metric that is given per instance.
    """
    return (
        "the number of instances varies: wall_s, CPU times and counts are totals of all instances "
        f"of a launch, and {metric} is per instance"
    )
