"""Recommendations: the answer of a search without a claim, in sentences."""

from __future__ import annotations

from assay.records import Budget, ExpectedEffect, Metric, Requirement, StudySpec
from assay.units import show_count, show_percent, show_quantity
from assay.wording.budget_words import budget_options
from assay.wording.counts import block_count, launch_count
from assay.wording.requirement import required_text
from assay.wording.sentence import (
    change_words,
    interval_text,
    interval_words,
)

NOTHING_ELSE_TO_TRY = "Keep the default: the space contains no other configuration."
NO_BETTER_CONFIGURATION = "Keep the default: no configuration that was tried was better."
INTERIM_DEFAULT = "So far the default: no configuration is sufficiently likely to be better."


def keep_default(reason: str) -> str:
    """Return the recommendation of the default.

    Args:
        reason: a clause.
    """
    return f"Keep the default: {reason}."


def undecidable_sentence(reason: str) -> str:
    """Return the answer where values cannot be compared.

    Args:
        reason: a clause on the values.
    """
    return keep_default(f"it is unclear whether another configuration is better, since {reason}")


def all_others_failed(failed: int, launches: int) -> str:
    """Return the answer of a search in which only the default gave values.

    Args:
        failed: launches of the default that failed.
        launches: launches of the default.
    """
    sentence = keep_default("every other configuration that was tried failed")
    if not failed:
        return sentence
    return f"{sentence} The default failed too, in {failed} of {launch_count(launches)}."


def no_other_reached(objective: Metric) -> str:
    """Return the answer of a search in which only the default reached a level.

    Args:
        objective: time to this level.
    """
    assert objective.derivation is not None
    condition = objective.derivation.condition
    return keep_default(f"no other configuration that was tried reached {condition}")


def others_failed_sometimes(failures: str, order: str) -> str:
    """Return the answer of a search in which every other configuration failed in some launches.

    Args:
        failures: launches that failed, with reasons.
        order: a clause on an arm that worked first; empty without one.
    """
    sentence = keep_default(
        f"every other configuration that was tried failed in some launches, {failures}"
    )
    return f"{sentence} {order}." if order else sentence


def no_better_in(objectives: str) -> str:
    """Return the answer of a search by several objectives that found no candidate.

    Args:
        objectives: their names, as alternatives.
    """
    return keep_default(f"no configuration that was tried was better in {objectives}")


def front_not_confirmed(best: str) -> str:
    """Return the answer of a search by several objectives without a confirmation.

    Args:
        best: name of the best candidate.
    """
    return (
        f"Not decided: {best} was best in the search, and the budget ended before the "
        "confirmation. Keep the default until then."
    )


def winner_without_value(winner: str) -> str:
    """Return the answer where the winner of a search gave no value in the confirmation."""
    return keep_default(
        f"{winner} won the search and gave no value in the confirmation that could be compared"
    )


def winner_not_certain(winner: str) -> str:
    """Return the answer if the budget ended before the winner of a search was confirmed."""
    return keep_default(
        f"{winner} was best in the search, but not by enough to be recommended without a proof"
    )


def winner_not_better(winner: str) -> str:
    """Return the answer where the winner of a search was not better when it was repeated."""
    return keep_default(
        f"{winner} was best in the search, and not better in the second measurement"
    )


def none_clearly_better(tried: int) -> str:
    """Return the answer where the budget ended before any configuration was clearly better.

    Args:
        tried: number of configurations beside the default.
    """
    others = show_count(tried, "other configuration", "other configurations")
    return keep_default(f"of {others} tried, none was clearly better so far")


def no_configuration_meets(spec: StudySpec) -> str:
    """Return the answer where no configuration meets the requirements of a study."""
    return f"No configuration that was tried meets {required_text(spec)}."


def better_one_violates(
    spec: StudySpec,
    name: str,
    ratio: float,
    requirement: Requirement,
    value: str,
    launches: int,
) -> str:
    """Return the answer where every better configuration violates a requirement.

    Args:
        spec: specification of the study.
        name: name of the best of them.
        ratio: its objective relative to the default.
        requirement: requirement that it violates.
        value: its quantile of the required metric.
        launches: number of launches behind this value.
    """
    change = change_words(ratio, spec.workload.objective, spec.statistic)
    return keep_default(
        f"{name} seems to {change} it, but violates {required_text(spec, [requirement])} ({value} "
        f"in {launch_count(launches)}), and no configuration that meets it was better"
    )


def expected_not_certain(spec: StudySpec, name: str, expected: ExpectedEffect) -> str:
    """Return the answer where the expected gain of a candidate is too uncertain.

    Args:
        spec: specification of the study.
        name: name of the candidate.
        expected: its expected effect.
    """
    change = change_words(expected.ratio, spec.workload.objective, spec.statistic)
    return keep_default(
        f"{name} is expected to {change} it ({_interval(spec, expected)}), which is too uncertain "
        "for a recommendation"
    )


def unproven_sentence(
    spec: StudySpec, name: str, expected: ExpectedEffect, output: str | None = None
) -> str:
    """Return an unproven recommendation.

    Args:
        spec: specification of the study.
        name: name of the arm.
        expected: its expected effect.
        output: difference between its output and that of the default; ``None`` without one.
    """
    change = change_words(expected.ratio, spec.workload.objective, spec.statistic)
    reason = f". Reason: {output}" if output else ""
    required = ""
    if spec.requirements:
        required = f" It is not proven either that it meets {required_text(spec)}."
    return (
        f"{name} is expected to {change} the default ({_interval(spec, expected)}, by a model of "
        f"{launch_count(expected.launches)}). This is not proven{reason}.{required}"
    )


def proof_too_long(launches: int) -> str:
    """Return a sentence on a proof that takes more launches than assay suggests."""
    return f"A proof would take more than {launches:,} launches."


def interim_words(name: str, expected: ExpectedEffect) -> str:
    """Return an interim recommendation: ``unproven so far -18.2 % (-24.1 to -11.0 %): a=1``.

    Args:
        name: name of the configuration.
        expected: its expected effect.
    """
    change = show_percent(expected.ratio)
    return f"unproven so far {change} % ({interval_text(expected.ci)}): {name}"


def interim_sentence(spec: StudySpec, name: str, expected: ExpectedEffect) -> str:
    """Return an interim recommendation as a sentence.

    Args:
        spec: specification of the study.
        name: name of the configuration.
        expected: its expected effect.
    """
    return f"So far {unproven_sentence(spec, name, expected)}"


def only_default_ran(
    spec: StudySpec, needed: Budget, values: int, mean: float | None, launches: int, violating: int
) -> str:
    """Return the answer of a study whose budget had room for the default alone.

    Args:
        spec: specification of the study.
        needed: budget that suffices for an answer.
        values: number of values of the objective.
        mean: their mean; ``None`` without a value.
        launches: launches of the default.
        violating: launches that violate a requirement.
    """
    metric = spec.workload.objective
    sentence = keep_default("nothing else was launched")
    if mean is not None:
        sentence = keep_default(
            f"its {metric.name} is {show_quantity(mean, metric.unit)} in {launch_count(values)}, "
            "and no other configuration ran"
        )
    if violating:
        verb = "violates" if violating == 1 else "violate"
        sentence += f" {violating} of {launch_count(launches)} {verb} {required_text(spec)}."
    return f"{sentence} An answer takes about {budget_options(spec.budget, needed)}."


def core_note(core: str, whole: str, change: str, blocks: int, *, recommended: bool) -> str:
    """Return a note on some settings of a winner against all of them.

    Args:
        core: arm with some of the settings.
        whole: arm with all of them.
        change: observed difference, with its verb.
        blocks: number of blocks that both ran in.
        recommended: whether the smaller arm is recommended.
    """
    note = f"In the same {block_count(blocks)}, {core} was observed to {change} {whole}"
    return f"{note}: the other settings are left out." if recommended else f"{note}."


def _interval(spec: StudySpec, expected: ExpectedEffect) -> str:
    ends = interval_words(expected.ci, expected.ratio, spec.workload.objective, spec.statistic)
    return f"{100 * expected.level:g} % interval {ends}"
