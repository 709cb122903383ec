"""Progress: notes on values that programs report while they run."""

from __future__ import annotations

from collections.abc import Sequence

from assay.units import show_count, show_percent
from assay.wording.counts import launch_count, lower_first

_MAX_NAMED_ARMS = 3


def never_steady(metric: str, arms: Sequence[str]) -> str:
    """Return a note on arms whose values changed until the end of their launches.

    Args:
        metric: name of the metric.
        arms: names of the arms.
    """
    which = _named(arms)
    return (
        f"{metric} of {which} never became steady: it still changed at the end of the launches, so "
        "that the second half of each one counts; longer launches may give another value"
    )


def too_few_reports(metric: str, arms: Sequence[str], reports: int, needed: int) -> str:
    """Return a note on arms whose launches have too few reports to tell whether they are steady.

    Args:
        metric: name of the metric.
        arms: names of the arms.
        reports: largest number of reports of one launch.
        needed: smallest number that suffices.
    """
    return (
        f"{metric} of {_named(arms)} has too few reports to tell whether it became steady: at "
        f"most {reports} in a launch, and {needed} are needed; the second half of each launch "
        "counts; have the program report more often or run longer"
    )


def partial_periods(metric: str, launches: int, all_launches: int, period_steps: float) -> str:
    """Return a note on steady parts without whole periods.

    Args:
        metric: name of the metric.
        launches, all_launches: launches with such a steady part, and all launches.
        period_steps: distance of periodic dips, in steps.
    """
    have = "has" if launches == 1 else "have"
    return (
        f"{metric} changes periodically, about every {period_steps:,.0f} steps, and {launches:,} "
        f"of {launch_count(all_launches)} {have} less than one whole period after the warm-up: "
        "their values depend on the number of dips in them; longer launches cover whole periods"
    )


def running_mean(metric: str) -> str:
    """Return a note on a program that prints running means.

    Args:
        metric: name of the metric.
    """
    return (
        f"the program prints {metric} as a running mean, which contains the warm-up: its values "
        "come from differences of steps and times instead"
    )


def times_disagree(metric: str, launches: int, all_launches: int) -> str:
    """Return a note on launches whose printed speeds disagree with the times of their reports.

    Args:
        metric: name of the metric.
        launches, all_launches: these launches, and all measured ones.
    """
    return (
        f"in {launches:,} of {launch_count(all_launches)}, {metric} disagrees with the times of "
        "its reports: the value is the mean of the printed ones, without pauses between them"
    )


def contradicted_speed(metric: str, slow: str, fast: str, ratio: float) -> str:
    """Return a note on arms that print constant speeds although the times of their steps differ.

    Args:
        metric: name of the metric.
        slow, fast: arms with the longest and the shortest steps.
        ratio: time of a step of ``slow`` relative to one of ``fast``.
    """
    return (
        f"{metric} is constant within each launch, although a step of {slow} takes {ratio:.3g} "
        f"times as long as one of {fast}: unless their steps do different work, the printed speed "
        "contradicts the step times; --metric step_s --objective step_s decides by the times"
    )


def ended_early(launches: int, all_launches: int) -> str:
    """Return a note on launches of a search that assay ended because they were clearly worse.

    Args:
        launches, all_launches: launches that were ended, and all launches of the search.
    """
    them = "it" if launches == 1 else "them"
    return (
        f"assay ended {launches:,} of {launch_count(all_launches)} of the search early, as clearly "
        f"worse than the best one so far: no verdict rests on {them}, the model of the search "
        f"counts {them} with a larger uncertainty, and at most 5 % of the launches of an equally "
        "good configuration end so"
    )


def ended_by_until(
    launches: int, all_launches: int, *, checked: bool, partial: Sequence[str]
) -> str:
    """Return a note on launches that assay ended because their values sufficed.

    Args:
        launches, all_launches: launches that were ended, and all launches.
        checked: whether the output of whole launches must match a check.
        partial: names of requested metrics that cover only a part of such a launch.
    """
    note = (
        f"--until ended {launches:,} of {launch_count(all_launches)}: their exit status and last "
        "output say nothing, and data that the program writes at its end may be missing"
    )
    note += "; --check did not apply to them" if checked else ""
    if partial:
        cover = "covers" if len(partial) == 1 else "cover"
        note += f"; {', '.join(partial)} {cover} only the part of the program that ran"
    return note


def steps_not_reached(
    steady_steps: float, launches: int, all_launches: int, last_step: float
) -> str:
    """Return a note on launches that ended before the requested number of steady steps.

    Args:
        steady_steps: requested number of steady steps.
        launches, all_launches: launches that ended by themselves before, and all measured ones.
        last_step: last step of the longest of them.
    """
    them = "itself" if launches == 1 else "themselves"
    return (
        f"{launches:,} of {launch_count(all_launches)} ended by {them} before the end of --until "
        f"steady:{steady_steps:.0f}, at step {last_step:,.0f} at most, and count as whole launches"
    )


def lengthened(metric: str, first_steps: float, last_steps: float) -> str:
    """Return a note on launches that assay made longer, since earlier ones were not steady.

    Args:
        metric: name of the metric.
        first_steps: steady steps of the launches before.
        last_steps: steady steps of the longest launches.
    """
    return (
        f"{metric} still changed at the end of launches with {first_steps:,.0f} steady steps: "
        f"assay lengthened those of later blocks to up to {last_steps:,.0f} steady steps"
    )


def revised_blocks(metric: str, blocks: int, warmup_steps: float) -> str:
    """Return a note on blocks whose values no longer contain steps of the warm-up.

    Args:
        metric: name of the metric.
        blocks: number of these blocks.
        warmup_steps: last step of the warm-up that later launches showed.
    """
    return (
        f"in {show_count(blocks, 'block')} the values of {metric} that the verdict rests on begin "
        f"at step {warmup_steps:,.0f}: later launches showed that the warm-up ends there"
    )


def calibrated_spread(sd: float, study: str, calibrated_on: str) -> str:
    """Return a note on the calibration from which the lengths of launches begin.

    Args:
        sd: standard deviation between launches, as a share.
        study: id of the calibration.
        calibrated_on: its day.
    """
    return (
        f"the lengths of launches begin from a standard deviation of {100 * sd:.2g} % between "
        f"launches, by calibration {study} of {calibrated_on} with this program"
    )


def diluted_effect(arm: str, metric: str, step_ratio: float, value_ratio: float) -> str:
    """Return a note on an effect on the steps that periodic dips make smaller.

    Args:
        arm: name of the arm.
        metric: name of the objective.
        step_ratio: time of a step without dips, relative to that of the baseline.
        value_ratio: objective, relative to that of the baseline.
    """
    return (
        f"{arm} changes the time of a step between dips by {show_percent(step_ratio)} %, and "
        f"{metric}, which includes the dips, by {show_percent(value_ratio)} %: dips such as "
        "checkpoints dilute the effect on the steps"
    )


def reported_finding(text: str, launches: int, all_launches: int) -> str:
    """Return a note on a finding about the values of launches.

    Args:
        text: finding in full sentences.
        launches, all_launches: launches with this finding, and all launches.
    """
    extent = f" ({launches:,} of {launch_count(all_launches)})" if all_launches > 1 else ""
    return f"{lower_first(text).removesuffix('.')}{extent}"


def _named(arms: Sequence[str]) -> str:
    if len(arms) > _MAX_NAMED_ARMS:
        return show_count(len(arms), "arm")
    return ", ".join(arms)
