"""Report: sentences at the head of a report, beside the verdict of the study."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Budget, Claim, Status, Verdict
from assay.units import show_count
from assay.wording.counts import launch_count
from assay.wording.proof import proof_words

NO_RECOMMENDATION = "No recommendation could be made."
KEEP_DEFAULT = "Keep the default: no configuration that was tried was shown to be better."
NO_COMPARISON = "There was nothing to compare."
NO_VALUE = "No launch gave a value."

# --- badges: the verdict in one to three words ------------------------------------------------

NO_ANSWER, NO_CLAIM, NO_VALUE_BADGE, NO_VERDICT_YET = (
    "no answer",
    "no claim",
    "no value",
    "no verdict yet",
)
NOT_PROVEN, NOT_DECIDED, KEEP_DEFAULT_BADGE = "not proven", "not decided", "keep the default"
MEETS_REQUIREMENTS, FAILED, MEASURED = "meets the requirements", "failed", "measured"
BETTER, WORSE = "better", "worse"


def front_badge(points: int) -> str:
    """Return the badge of a Pareto front with a number of points."""
    return BETTER if points == 1 else f"front of {points}"


def best_arm_badge(arms: int) -> str:
    """Return the badge of the best of several arms."""
    return f"best of {arms}"


def best_cell_badge(cells: int) -> str:
    """Return the badge of the best of several cells."""
    return f"best of {cells} cells"


# --- sentences --------------------------------------------------------------------------------

_STATES = {
    Status.RUNNING: "The study is still running",
    Status.INTERRUPTED: "The study was interrupted",
    Status.FAILED: "The study failed",
    Status.PAUSED: "The study waits for another boot",
}


def needed_pairs(claim: Claim) -> str:
    """Return the pairs of launches that would decide a claim; empty if unknown.

    Args:
        claim: the claim.
    """
    needed = claim.blocks_needed
    if claim.verdict is not Verdict.UNCLEAR or not needed or needed <= claim.blocks:
        return ""
    pairs, more = show_count(needed, "pair"), needed - claim.blocks
    return f" About {pairs} of launches in all would decide, {more:,} more than now."


def proof_sentence(proof: Budget) -> str:
    """Return the cost of a proof, and the commands that continue to it.

    Args:
        proof: expected cost.
    """
    return (
        f"A proof takes {proof_words(proof)}; `assay study resume` continues to it. "
        "`assay run --from` uses the recommendation only with --unproven."
    )


def none_better_sentence(alternatives: int, baseline: str, metric: str) -> str:
    """Return the answer of a comparison without a better arm.

    Args:
        alternatives: number of arms beside the baseline.
        baseline: name of the baseline.
        metric: name of the objective.
    """
    return (
        f"None of the {alternatives} alternatives was shown to be better than {baseline} in "
        f"{metric}."
    )


def largest_effects_sentence(effects: Sequence[str]) -> str:
    """Return the largest effects of a sweep.

    Args:
        effects: effects with their size.
    """
    return f"Largest effects over all cells: {', '.join(effects)}."


def mean_sentence(metric: str, mean: str) -> str:
    """Return the answer of a measurement.

    Args:
        metric: name of the objective.
        mean: mean with unit.
    """
    return f"The {metric} is {mean} on average."


def quartiles_sentence(median: str, low: str, high: str, launches: int) -> str:
    """Return median and quartiles of a measurement.

    Args:
        median, low, high: median and quartiles as text.
        launches: number of launches.
    """
    return (
        f"Median {median}, half of the launches between {low} and {high}; {launch_count(launches)}."
    )


def interval_sentence(low: str, high: str, *, cut_off: bool) -> str:
    """Return the interval of a mean.

    Args:
        low, high: ends as text.
        cut_off: whether the lower end was negative and is shown as 0.
    """
    end = ", cut off at 0: too few and too different launches for a closer bound" if cut_off else ""
    return f"The true mean lies between {low} and {high}{end}."


def open_sentence(status: Status | None, launches: int) -> str:
    """Return the answer of a study without a verdict.

    Args:
        status: status of the study.
        launches: number of launches so far.
    """
    state = _STATES.get(status or Status.DONE, "The study is not finished")
    return f"No verdict yet. {state} after {launch_count(launches)}."


def last_failure_sentence(failure: str) -> str:
    """Return the failure of the last launch without a value."""
    return f"The last launch without a value: {failure}."


def resume_sentence(study: str) -> str:
    """Return the command that continues a study."""
    return f"assay study resume {study} continues the study."


def always_failing_sentence(arm: str, launches: int, reason: str) -> str:
    """Return the failure of an arm without a successful launch.

    Args:
        arm: name of the arm.
        launches: number of its launches.
        reason: reason of the last failure.
    """
    return f"Every launch of {arm} failed ({launches:,}): {reason}."


def more_failing_sentence(arms: int) -> str:
    """Return the number of further arms without a successful launch."""
    return f"{arms} more arms failed as well." if arms > 1 else "1 more arm failed as well."


def no_success_sentence(launches: int) -> str:
    """Return the answer of a study without a successful launch."""
    failed = (
        "the only launch did not end" if launches == 1 else f"none of {launches:,} launches ended"
    )
    return f"No verdict: {failed} well."


def last_reason_sentence(reason: str) -> str:
    """Return the reason of the last launch."""
    return f"The last one: {reason}."


def best_median_sentence(median: str, arm: str, launches: int) -> str:
    """Return the best median of a search so far.

    Args:
        median: median with unit.
        arm: name of the arm.
        launches: number of its launches.
    """
    return (
        f"Best median so far: {median} with {arm} ({launch_count(launches)}). That is not a claim."
    )
