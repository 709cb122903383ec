"""Endings: the reason why a study ended, in one sentence."""

from __future__ import annotations

from assay.records import Budget, Conclusion, Status, StudySpec
from assay.units import show_count
from assay.wording.budget_words import budget_options
from assay.wording.counts import block_count, configuration_count, launch_count

INTERRUPTED = "Interrupted; `assay study resume` continues the study."
"""Ending of a study that was stopped from outside, as it is stored."""


def shown_ending(stored: str, study: str, *, in_process: bool) -> str:
    """Return the ending of a study with the command that continues it.

    Args:
        stored: stored ending.
        study: id of the study.
        in_process: whether its trials run within the program of the user.
    """
    if stored != INTERRUPTED:
        return stored
    command = _continuation(study, in_process=in_process)
    return f"Interrupted; `{command}` continues the study."


def earlier_verdict_notes(
    study: str, spec: StudySpec, conclusion: Conclusion, launches: int, status: Status | None
) -> tuple[str, ...]:
    """Return a note if launches were stored since the verdict, as by an interrupted resume.

    Args:
        study: id of the study.
        spec: specification of the study.
        conclusion: conclusion of the newest stratum.
        launches: number of stored launches of the stratum.
        status: status of the study; ``None`` if unknown.
    """
    later = launches - conclusion.launches
    if later <= 0 or status is Status.DONE:
        return ()
    command = _continuation(study, in_process=spec.in_process)
    running = status is Status.RUNNING
    rest = "1 later one is" if later == 1 else f"{later:,} later ones are"
    return (
        f"the verdict is that of the first {launch_count(conclusion.launches)}; {rest} not in it: "
        f"{'the study is running' if running else f'`{command}` concludes again'}",
    )


def _continuation(study: str, *, in_process: bool) -> str:
    """Return the command that continues a study."""
    return f'assay.Session(study="{study}")' if in_process else f"assay study resume {study}"


# --- ended by a decision ----------------------------------------------------------------------

ONLY_DEFAULT = "The search space contains only the default."
NO_BETTER_CONFIGURATION = (
    "No configuration was better than the default. To search on, add settings or values to the "
    "search space."
)
NO_BETTER_THAT_MEETS_REQUIREMENTS = (
    "No configuration that meets the requirements was better than the default. To search on, "
    "loosen a requirement, or add settings or values to the search space."
)
NO_BETTER_FRONT = "No configuration was better than the default in any objective."
NO_CONFIGURATION_MEETS_REQUIREMENTS = "No configuration meets the requirements."
WINNER_NOT_BETTER = "The winner of the search was not better in the second measurement."
WINNER_WITHOUT_VALUE = "The winner of the search gave no value in the confirmation."
NO_PAIRED_BLOCK = "No confirmation block has a value for both arms."
OBJECTION_REMAINS = "Further launches would not remove the objection."


def decided_ending(blocks: str) -> str:
    """Return the ending of a confirmation with a verdict.

    Args:
        blocks: number of blocks, as text of ``block_count``.
    """
    return f"Decided after {blocks}."


def comparisons_decided_ending(blocks: str, *, steps: bool) -> str:
    """Return the ending of a comparison whose verdicts are all known.

    Args:
        blocks: number of blocks, as text.
        steps: whether arms are compared in steps.
    """
    return f"Every {'step' if steps else 'comparison'} was decided after {blocks}."


def cells_decided_ending(blocks: str) -> str:
    """Return the ending of a sweep whose verdicts are all known."""
    return f"Every cell was decided after {blocks}."


def means_precise_ending(blocks: str) -> str:
    """Return the ending of a sweep whose means are all as precise as requested."""
    return f"Every mean was precise enough after {blocks}."


def all_blocks_ending(blocks: int, disturbed: int) -> str:
    """Return the ending of a sweep with a fixed number of blocks."""
    text = block_count(blocks, disturbed=disturbed)
    count, _, rest = text.partition(" (")
    were_run = "The only block was run" if blocks == 1 else f"All {count} were run"
    return f"{were_run}{f' ({rest}' if rest else ''}."


def no_cell_left_ending(blocks: str) -> str:
    """Return the ending of a sweep in which no cell gives values any longer."""
    return f"After {blocks} no cell gave values any longer."


def saturated_ending(blocks: str) -> str:
    """Return the ending of a study in which more blocks would add no information."""
    return f"Ended after {blocks}: further blocks would add no information."


def precise_ending(launches: str) -> str:
    """Return the ending of a measurement that is as precise as requested."""
    return f"Precise enough after {launches}."


def constant_ending(launches: int) -> str:
    """Return the ending of a measurement whose values are all equal."""
    return f"All {launches} measured launches gave the same value."


def requirement_broken_ending(blocks: str) -> str:
    """Return the ending of a search whose winner violates a requirement."""
    return f"The winner of the search violates a requirement, as {blocks} show."


def nothing_tried_ending(reason: str) -> str:
    """Return the ending of a search that cannot compare values.

    Args:
        reason: a clause on the figures of the default.
    """
    return f"No other configuration was tried: {reason}."


# --- ended by the budget ----------------------------------------------------------------------


def budget_ending(done: str) -> str:
    """Return the ending of a study that used its budget.

    Args:
        done: blocks or launches that were made, as text.
    """
    return f"The budget ended after {done}."


def searched_budget_ending(tried: int) -> str:
    """Return the ending of a search that used its budget.

    Args:
        tried: number of configurations beside the default.
    """
    return budget_ending(f"{configuration_count(tried)} beside the default")


def only_default_ran_ending(budget: Budget, needed: Budget) -> str:
    """Return the ending of a search whose budget had room for the default alone.

    Args:
        budget: budget of the study.
        needed: budget that suffices.
    """
    return (
        "The budget ended before any configuration but the default was launched; "
        f"{budget_options(budget, needed)} would suffice for an answer."
    )


SHORTER_LAUNCHES = (
    "If the program prints its speed while it runs, shorter launches suffice: read it with "
    "--progress NAME=REGEX, and end each launch with --until auto."
)
"""Next step after a study of a long program that only whole launches measured."""


def no_proof_ending(blocks: int) -> str:
    """Return the ending of a search that left too little for a proof."""
    return f"The search used the budget; a proof takes at least {blocks} more blocks."


def no_room_ending(blocks: int, budget: Budget, needed: Budget) -> str:
    """Return the ending of a search that left too little budget for the blocks of a proof.

    Args:
        blocks: number of confirmation blocks that a proof takes.
        budget: budget of the study.
        needed: budget that suffices.
    """
    return (
        f"The remaining budget is smaller than the {blocks} confirmation blocks of a proof; "
        f"{budget_options(budget, needed)} would suffice."
    )


def undecided_ending(blocks: str) -> str:
    """Return the ending of a confirmation that the remaining budget cannot decide."""
    return f"Undecided after {blocks}; the remaining budget cannot decide it."


def requirement_undecided_ending(blocks: str) -> str:
    """Return the ending of a confirmation in which a requirement stays unclear."""
    return (
        f"After {blocks} it is unclear whether a requirement is met; the remaining budget cannot "
        "decide it."
    )


def front_undecided_ending(blocks: str) -> str:
    """Return the ending of a confirmation of several objectives that are not all decided."""
    return (
        f"Not all objectives were decided after {blocks}; the remaining budget cannot decide them."
    )


# --- refused ----------------------------------------------------------------------------------


def too_small_for_claim_ending(blocks: int, noun: str = "block") -> str:
    """Return the ending of a study whose budget has no room for a claim.

    Args:
        blocks: smallest number of blocks that a claim takes.
        noun: name of a block.
    """
    return f"The budget is too small for a claim: {blocks} {noun}s do not fit."


def too_small_for_calibration_ending(blocks: int) -> str:
    """Return the ending of a calibration whose budget is too small."""
    return f"The budget is too small for a calibration: {blocks} blocks do not fit."


def too_small_for_sweep_ending(blocks: int, launches: int) -> str:
    """Return the ending of a sweep whose budget is too small.

    Args:
        blocks: smallest number of blocks.
        launches: number of launches of a block.
    """
    return (
        f"The budget is too small: {show_count(blocks, 'block')} of {launch_count(launches)} do "
        "not fit."
    )


WARM_UP_USED_BUDGET = "The budget is too small: the warm-up used all of it."

# --- ended by the workload --------------------------------------------------------------------

PROGRAM_TIMED_OUT = "The program did not end in any launch."
EVERY_LAUNCH_TIMED_OUT = "Every launch timed out."
NOTHING_TO_AVERAGE = "Every launch timed out, so no mean exists."
NO_COMPARABLE_LAUNCH_TIMED_OUT = "Every launch timed out, so no values can be compared."
NO_COMPARABLE_LAUNCH = "No launch ended well, so no values can be compared."
DEFAULT_FAILED = "The program failed in its default configuration."
FAILED_AFTER_FIRST = "The program worked once, and failed since."
UNREADABLE = "the value cannot be read"


def not_positive(value: float) -> str:
    """Return the reason why a value cannot be compared: it has no logarithm."""
    return f"the value is {value:g}, and comparisons use ratios of positive values"


def arm_ending(arm: str, failure: str) -> str:
    """Return the ending of a study in which an arm gave no value.

    Args:
        arm: subject of the sentence.
        failure: predicate, such as the result of ``failure_predicate``.
    """
    return f"{arm} {failure}."


PROGRAM = "The program"
ALL_BUT_FIRST = "All arms but the first"
ALL_BUT_BASELINE = "All cells but the baseline"
DEFAULT_CONFIGURATION = "The default configuration"


def repeated_failures(failures: int) -> str:
    """Return the predicate of an arm that worked before several failures in succession."""
    return f"worked, and then failed {failures} times in succession"


def failure_predicate(
    launches: int, successes: int, *, timed_out: bool, ended_well: bool, metric: str
) -> str:
    """Return the predicate of arms that give no value.

    Args:
        launches: number of their launches.
        successes: launches with a value.
        timed_out: whether all launches timed out.
        ended_well: whether any launch ended well.
        metric: name of the objective.
    """
    if successes:
        return f"worked in {successes} of {launch_count(launches)} and has failed since"
    if launches and timed_out:
        return "did not end in any launch"
    if ended_well:
        return f"gave no usable {metric} in any launch"
    return "failed in every launch"


def missing_metric_ending(metric: str, reason: str) -> str:
    """Return the ending of a study whose program stopped reporting the objective."""
    return f"The program ends well but has given no {metric} since: {reason}."


def launch_tally(measured: int, left_out: int, without_value: int, warm_ups: int) -> str:
    """Return the launches of a measurement by their use; the sum is the number of launches.

    Args:
        measured: launches that the mean rests on.
        left_out: launches of disturbed blocks that it leaves out.
        without_value: launches without a value.
        warm_ups: launches before those that count.
    """
    parts = [show_count(measured, "measured launch", "measured launches")]
    parts += [f"{left_out} left out"] if left_out else []
    parts += [f"{without_value} without a value"] if without_value else []
    return f"{', '.join(parts)} and {show_count(warm_ups, 'warm-up', 'warm-ups')}"


# --- ablation of a winner ---------------------------------------------------------------------

ABLATION_NOT_AFFORDABLE = (
    "The budget was too small to determine the effect of each setting of the winner."
)
ABLATION_CUT_SHORT = "The budget ended before the ablation of the winner was complete."
ABLATION_UNDECIDED = "The ablation did not determine which settings of the winner have an effect."
