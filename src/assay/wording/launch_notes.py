"""Launch notes: properties of the launches of a study that affect its answer."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import CrossEnvironmentComparison, Interference, Metric
from assay.records.sample import PROGRESS_QUOTES
from assay.units import (
    show_count,
    show_duration,
    show_percent,
    show_quantity,
    significant,
)
from assay.wording.counts import configuration_count, launch_count, lower_first

# --- termination ------------------------------------------------------------------------------

_SIGTERM = "SIGTERM"
_REQUESTS = {
    _SIGTERM: (_SIGTERM, "--grace gives more time (0s: none), --stop sends another request"),
    "command": ("the command of --stop", "--grace gives more time"),
}
"""Name of each termination request in a sentence, and the next step."""
TERMINATION_REQUESTS = tuple(_REQUESTS)


def killed_note(request: str, launches: int, after_s: float) -> str:
    """Return a note on launches that were killed after a request to end.

    Args:
        request: one of ``TERMINATION_REQUESTS``.
        launches: number of these launches.
        after_s: shortest time after which one was killed, in seconds.
    """
    name, step = _REQUESTS[request]
    return (
        f"{launch_count(launches)} had not ended {_rounded(after_s)} after {name}, and had to be "
        f"killed: {step}"
    )


def stop_failed_note(times: int, reason: str | None) -> str:
    """Return a note on a command of ``--stop`` that failed.

    Args:
        times: number of failures.
        reason: reason of the first one.
    """
    return (
        f"the command of --stop failed {show_count(times, 'time', 'times')} ({reason}), and assay "
        "sent SIGTERM instead: run the command by hand while the program runs, with its process id "
        "in ASSAY_PID"
    )


def stop_failed_clause(reason: str | None) -> str:
    """Return the same as an addition to the reason of a failure."""
    return f", --stop failed ({reason})"


def killed_clause(request: str | None, after_s: float) -> str:
    """Return an addition to the reason of a failure: the launch was killed.

    Args:
        request: one of ``TERMINATION_REQUESTS``.
        after_s: time after which it was killed, in seconds.
    """
    name, _ = _REQUESTS.get(request or "", _REQUESTS[_SIGTERM])
    return f", and was killed {_rounded(after_s)} after {name}"


def _rounded(seconds: float) -> str:
    return show_duration(float(f"{seconds:.2g}"))


def left_running_note(
    processes: int, names: Sequence[str], launches: int, all_launches: int, *, more: bool
) -> str:
    """Return a note on processes that outlived the program.

    Args:
        processes: number of processes that assay ended.
        names: their names.
        launches, all_launches: launches with such processes, and all launches.
        more: whether there are further names.
    """
    count = show_count(processes, "process", "processes")
    extent = "" if all_launches == 1 else f", after {launches:,} of {all_launches:,} launches"
    return (
        f"assay ended processes that the program left running: {count} "
        f"({', '.join(names)}{', ...' if more else ''}){extent}"
    )


# --- first launches ---------------------------------------------------------------------------


def slow_first_launch(arm: str, first_s: float, longest_s: float) -> str:
    """Return a note on a first launch that took longer than all later ones.

    Args:
        arm: name of the arm; empty for the default.
        first_s, longest_s: time of the first launch, and of the longest later one, in seconds.
    """
    whose = f" of {arm}" if arm else ""
    return (
        f"the first launch{whose} took {show_duration(first_s)}, later ones at most "
        f"{show_duration(longest_s)}: no figure includes its one-time cost"
    )


def warm_up_note(configurations: int) -> str:
    """Return a note on configurations of a search that ran once before they counted."""
    return (
        f"{configuration_count(configurations)} had a warm-up launch, which is in no figure, "
        "because the first launch of the default took longer than the second"
    )


# --- dependence between launches --------------------------------------------------------------


def carry_over_note(metric: Metric, arm: str, other: str, own: float, changed: float) -> str:
    """Return a note on a launch that affects the next one.

    Args:
        metric: the objective.
        arm: arm with the effect.
        other: arm of the launch before.
        own, changed: median after a launch of the same arm, and after one of the other.
    """
    after_own, after_other = (show_quantity(one, metric.unit) for one in (own, changed))
    return (
        f"{metric.name} of {arm!r} is {after_other} right after {other!r} and {after_own} after "
        "itself (medians): a launch affects the next one, for instance through pending writes or "
        "caches, and without that the arms may differ by another amount; --prepare CMD can "
        "remove the effect, as --prepare sync does for writes"
    )


def trend_note(
    metric: Metric, arm: str, *, rose: bool, ends: tuple[float, float] | None, change: float
) -> str:
    """Return a note on an objective that rises or falls during a study.

    Args:
        metric: the objective.
        arm: name of the arm; empty if the study has one arm, or if all arms have the trend.
        rose: whether it rose.
        ends: medians of the first and the last third; ``None`` for several arms.
        change: relative change over several arms.
    """
    amount = f"by {100 * change:.0f} % in all arms together"
    if ends is not None:
        low, high = (show_quantity(end, metric.unit) for end in ends)
        amount = f"from {low} to {high}"
    whose = f" of {arm}" if arm else ""
    return (
        f"{metric.name}{whose} {'rose' if rose else 'fell'} during the study, {amount} (medians of "
        "the first and the last third of the launches), so its mean depends on their number: "
        "launches may affect later ones (--prepare restores the initial state), or the machine "
        "changed"
    )


def dependence_note(batches: int, ratio: float, interval: tuple[float, float], unit: str) -> str:
    """Return a note on launches that depend on earlier ones, or on a state that lasts.

    Args:
        batches: number of successive parts of the launches.
        ratio: standard deviation of their means over that of independent launches.
        interval: interval of the mean, widened by this ratio.
        unit: its unit.
    """
    low, high = (show_quantity(end, unit) for end in interval)
    return (
        "launches depend on earlier ones, or on a state of the machine that lasts: the means of "
        f"{batches} successive parts differ {ratio:.1f} times as much as those of independent "
        f"launches. Widened by that, the interval of the mean is {low} to {high}. "
        "`assay compare` launches configurations in turn, so that such states affect all of them"
    )


# --- order of failures ------------------------------------------------------------------------

_CLEAN_UP = (
    "Failures follow the order of launches, for instance because a port, a lock or a file of the "
    "previous launch is still in use: --prepare CMD waits for it or removes it before each launch"
)
EVERY_SECOND_FAILED = f"The program failed in every launch after one that worked. {_CLEAN_UP}."


def failed_since_first(worked: int, failed: int) -> str:
    """Return a sentence on a program that worked at first and has failed since.

    Args:
        worked, failed: launches that worked, and that failed after them.
    """
    return (
        f"The program {_worked(worked)}, and failed since, in {launch_count(failed)}. {_CLEAN_UP}."
    )


def arm_failed_since_first(arm: str, worked: int, failed: int) -> str:
    """Return a clause on an arm that worked at first and has failed since.

    Args:
        arm: name of the arm.
        worked, failed: launches that worked, and that failed after them.
    """
    return f"{arm!r} {_worked(worked)}, and failed since, in {launch_count(failed)}"


def arms_failed_since_first(clauses: Sequence[str]) -> str:
    """Return the sentence of several such clauses."""
    return f"{'; '.join(clauses)}. {_CLEAN_UP}."


def possible_clean_up(arm: str, worked: int) -> str:
    """Return a clause on an arm that worked at first and then failed, perhaps by chance.

    Args:
        arm: name of the arm.
        worked: launches that worked.
    """
    return (
        f"{arm!r} {_worked(worked)}, and failed since; --prepare CMD removes leftovers of the "
        "previous launch, if they are the cause"
    )


def order_note(sentence: str) -> str:
    """Return a sentence on the order of failures as a note."""
    return lower_first(sentence).rstrip(".")


def _worked(launches: int) -> str:
    return "worked once" if launches == 1 else f"worked in the first {launches:,} launches"


# --- behaviour of the program -----------------------------------------------------------------

_ON_STANDARD_ERROR = " write to standard error, and no other"


def error_line_note(subject: str, launches: int, line: str, *, complete: bool) -> str:
    """Return a note that quotes a line of standard error.

    Args:
        subject: name of the arm, or the value of a setting, that all these launches share.
        launches: number of launches with the line.
        line: the line.
        complete: whether the lines of all other launches are known.
    """
    known = "" if complete else " whose lines are all kept"
    return f"all {launch_count(launches)} of {subject}{_ON_STANDARD_ERROR}{known} does: {line!r}"


def quotes_output(note: str) -> bool:
    """Return whether a note quotes a line that a program wrote."""
    return any(words in note for words in (_ON_STANDARD_ERROR, *PROGRESS_QUOTES))


def waiting_note(share: float, *, disk_known: bool) -> str:
    """Return a note on a program that uses little CPU time.

    Args:
        share: CPU time over wall time.
        disk_known: whether the time that it waited for disks is known, and short.
    """
    known = ", and not for a disk" if disk_known else ""
    return (
        f"the program used a CPU in {100 * share:.0f} % of its time, and waited in the rest{known}"
        ": if it waits for a GPU, another process, a terminal or a timer, its settings have "
        "little effect"
    )


def same_threads_note(setting: str, low: int, high: int, threads: int) -> str:
    """Return a note on a number of threads that does not follow its setting.

    Args:
        setting: name of the setting.
        low, high: its lowest and its highest value.
        threads: number of threads of all launches.
    """
    return (
        f"launches with {setting}={low} and {setting}={high} all had "
        f"{show_count(threads, 'thread')}: if the program sets the number itself "
        "(omp_set_num_threads, an option), the setting has no effect"
    )


# --- outliers ---------------------------------------------------------------------------------


def outlier_note(
    metric: Metric,
    arm: str,
    launches: int,
    outliers: int,
    farthest: float,
    median: float,
    mean: float,
) -> str:
    """Return a note on launches far from all others.

    Args:
        metric: the objective.
        arm: name of the arm; empty in a measurement.
        launches: launches with a value.
        outliers: number of outliers.
        farthest: value of the farthest.
        median, mean: median and mean of all values.
    """
    ratio = farthest / median
    times = f"{significant(ratio)} times"
    if ratio < 1.0:
        times = f"1/{significant(1 / ratio)} of"
    group = f"{launch_count(launches)}{f' of {arm!r}' if arm else ''}"
    value, middle, average = (show_quantity(one, metric.unit) for one in (farthest, median, mean))
    subject = f"one of {group} has {metric.name} {value}"
    if outliers > 1:
        subject = (
            f"{outliers} of {group} lie far from the others, the farthest with {metric.name} "
            f"{value}"
        )
    advice = f"--objective {metric.name}:median decides by the median, which it hardly changes"
    if not arm:
        advice = (
            f"compare, tune and sweep decide by the median with --objective {metric.name}:median"
        )
    return (
        f"{subject}, {times} the median of {middle}, and contributes to the mean of {average}; "
        f"{advice}"
    )


# --- launches side by side --------------------------------------------------------------------

SIDE_BY_SIDE_ARM = "default (side by side)"
"""Name of the default as it runs in all slots at the same time."""
NO_ROOM_FOR_INTERFERENCE = "the budget had no room to measure their interference"
TOO_FEW_VALUES = "the default gave too few values side by side"


def slower_side_by_side(ratio: float, limit: float) -> str:
    """Return the reason against launches side by side: they are slower.

    Args:
        ratio: lower end of the interval of the default side by side over alone.
        limit: accepted loss, as a share.
    """
    return (
        f"the default is worse side by side by at least {show_percent(ratio).lstrip('+')} %, and "
        f"the limit is {100 * limit:g} %"
    )


def noisier_side_by_side(ratio: float | None, limit: float) -> str:
    """Return the reason against launches side by side: they vary more.

    Args:
        ratio: spread side by side over alone; ``None`` where alone there is none.
        limit: accepted ratio.
    """
    times = "many" if ratio is None else significant(ratio)
    return (
        f"single launches vary {times} times as much side by side, and the limit is {limit:g} times"
    )


def interference_words(found: Interference) -> str:
    """Return the measured interference between launches side by side.

    Args:
        found: the measurement.
    """
    if found.ratio is None:
        return f"{found.concurrent_launches} launches side by side: not measured"
    low, high = (None if end is None else show_percent(end) for end in found.ci)
    noise = "" if found.noise_ratio is None else f", spread {significant(found.noise_ratio)} times"
    return (
        f"{found.concurrent_launches} launches side by side: {show_percent(found.ratio)} % "
        f"time each "
        f"({low} to {high}){noise}"
    )


def one_at_a_time_note(reason: str) -> str:
    """Return a note on a search that did not run launches side by side."""
    return f"the search ran one launch at a time: {reason}"


# --- another environment ----------------------------------------------------------------------


def cross_environment_words(found: CrossEnvironmentComparison) -> str:
    """Return the result of a study in another environment, and the launches that it saved.

    Args:
        found: comparison of both environments.
    """
    study = found.earlier_recommendation
    place = f"on partition {study.partition}" if study.partition else "in its environment"
    gain = ""
    if study.claim is not None:
        low, high = (None if end is None else show_percent(end) for end in study.claim.ci)
        gain = f": {show_percent(study.claim.ratio)} % ({low or 'open'} to {high or 'open'}) there"
    return f"found by study {study.study} {place}{gain}{_noise_words(found)}"


def _noise_words(found: CrossEnvironmentComparison) -> str:
    study = found.earlier_recommendation
    if found.spread is None or study.spread is None:
        return ""
    text = (
        f". The default varies by {_percent(study.spread)} from launch to launch there, by "
        f"{_percent(found.spread)} here"
    )
    if found.launch_factor is None or found.ci is None:
        return text
    if found.saved_launches is None:
        return f"{text}: no saved launches are proven"
    low, high = map(significant, found.ci)
    return (
        f"{text}: an equally precise search would have taken about "
        f"{significant(found.launch_factor)} "
        f"times its {launch_count(study.launches)} here ({low} to {high} times), about "
        f"{found.saved_launches:,} more"
    )


def _percent(share: float) -> str:
    return f"{significant(100 * share)} %"
