"""Recomputation of a conclusion from its specification and samples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from assay.errors import AssayError, NotPossibleError
from assay.executors.evidence.thread_pools import pools_read_in
from assay.launch.planner import plan
from assay.machine.document import machine_in
from assay.machine.slots import machine_per_slot
from assay.records import (
    Conclusion,
    Configuration,
    Kind,
    Plan,
    Range,
    Sample,
    Space,
    Stratum,
    StudySpec,
    Workload,
    encode,
)
from assay.search.conclusion.conclude import conclude
from assay.search.model.gp import GpSearcher
from assay.search.races.race import Ending, EndReason
from assay.search.space.named_configurations import make_search_space
from assay.search.space.search_space import SearchSpace

_NOT_OURS = "The bundle was not written by assay, or is damaged. Obtain another one."
MAX_EXPRESSIONS, MAX_EXPRESSION_LENGTH = 1000, 4096
"""Maximum number of conditions and constraints of a space, and characters of each."""
MAX_VALUES = 1_000_000
"""Maximum number of values of a setting."""
MAX_NAMED = 1000
"""Maximum number of named configurations of a space, which are compared in pairs."""


def recompute(
    spec: StudySpec, samples: Sequence[Sample], stratum: Stratum, recorded: Conclusion
) -> Conclusion:
    """Recompute the conclusion of a stratum.

    The reason for the end of the race is taken from the recorded conclusion, because it depends on
    the clock. Scripts are omitted: they follow from the plan.

    Args:
        spec: specification of the study.
        samples: samples of the stratum, in order; later ones than the conclusion are ignored.
        stratum: stratum with the machine on which settings had to be granted.
        recorded: recorded conclusion.

    Raises:
        NotPossibleError: this version of assay does not know the kind of study or the reason of its
            end, or the documents contradict each other.
        InvalidInputError: invalid expression of the space.
    """
    _demand_workable(spec.space)
    tuned = spec.kind is Kind.TUNE
    space = make_search_space(spec.space, _IsGrantable(stratum, spec.parallel) if tuned else None)
    used = samples if len(samples) <= recorded.launches else samples[: recorded.launches]
    first: Conclusion | None = None
    for done in _ends(recorded):
        found = _concluded(spec, used, space, done)
        if is_same_conclusion(found, recorded):
            return found
        first = first or found
    assert first is not None
    return first


def _demand_workable(space: Space) -> None:
    """Raise an error for a space that would take excessive time.

    Raises:
        NotPossibleError: too many values, or too many or too long expressions.
    """
    expressions = [*space.constraints, *(p.condition for p in space.parameters if p.condition)]
    if len(expressions) > MAX_EXPRESSIONS or any(
        len(e) > MAX_EXPRESSION_LENGTH for e in expressions
    ):
        raise NotPossibleError("The space has too many or too long expressions.", _NOT_OURS)
    if len(space.named_configurations) > MAX_NAMED:
        raise NotPossibleError("The space has too many named configurations.", _NOT_OURS)
    for parameter in space.parameters:
        if isinstance(parameter.domain, Range) and _count(parameter.domain) > MAX_VALUES:
            raise NotPossibleError(f"{parameter.name} has too many values.", _NOT_OURS)


def _count(domain: Range) -> float:
    """Return the approximate number of values of a range; infinite for an invalid step."""
    low, high, step = domain.low, domain.high, domain.step
    if step is None:
        return 0.0
    if domain.log:
        return math.log(high / low, step) if 0 < low <= high and step > 1 else math.inf
    return (high - low) / step if step > 0 else math.inf


def _concluded(
    spec: StudySpec, samples: Sequence[Sample], space: SearchSpace, done: Ending | None
) -> Conclusion:
    try:
        return conclude(spec, samples, space, GpSearcher(), done)
    except AssayError:
        raise
    except Exception as error:  # untrusted documents may be inconsistent
        raise NotPossibleError(
            f"The samples contradict the specification: {type(error).__name__}: {error}.",
            _NOT_OURS,
        ) from error


def is_same_conclusion(found: Conclusion, recorded: Conclusion) -> bool:
    """Return whether two conclusions are identical to the last digit, scripts excluded.

    ``stop_code`` is ignored if the recorded conclusion, of an older assay, has none.
    """
    if not recorded.stop_code:
        found = msgspec.structs.replace(found, stop_code="")
    return encode(without_script(found)) == encode(without_script(recorded))


def without_script(conclusion: Conclusion) -> Conclusion:
    """Return the conclusion without scripts."""
    if conclusion.recommendation is None:
        return conclusion
    bare = msgspec.structs.replace(conclusion.recommendation, script="")
    front = tuple(msgspec.structs.replace(point, script="") for point in conclusion.pareto_front)
    return msgspec.structs.replace(conclusion, recommendation=bare, pareto_front=front)


def script_of(
    conclusion: Conclusion,
    plans: Sequence[Plan],
    workload: Workload,
    samples: Iterable[Sample] = (),
) -> str | None:
    """Return the script of a recommendation; ``None`` without a recommendation.

    Also ``None`` without a stored plan, as in stores of schema 1.
    """
    from assay.launch.script import shell_script
    from assay.wording.proof import script_note

    if conclusion.recommendation is None:
        return None
    settings = conclusion.recommendation.settings
    planned = next((plan for plan in plans if plan.configuration == settings), None)
    if planned is None:
        return None
    note, pools = script_note(conclusion.recommendation), pools_read_in(samples)
    return shell_script(planned, workload, note=note, pools=pools)


def _ends(recorded: Conclusion) -> Iterator[Ending | None]:
    """Yield possible ends of the race: the recorded one, or all if it was not recorded.

    Raises:
        NotPossibleError: unknown reason.
    """
    if not recorded.stop_code:
        yield None
        yield from (Ending(reason, recorded.stop_reason) for reason in EndReason)
        return
    try:
        yield Ending(EndReason(recorded.stop_code), recorded.stop_reason)
    except ValueError as error:
        raise NotPossibleError(
            f"Unknown reason of the end of the study: {recorded.stop_code!r}.",
            "Install the newer version that the bundle names.",
        ) from error


class _IsGrantable:
    """Predicate: a configuration can be granted on the machine of a stratum.

    It repeats the decisions of the study except those that depend on the program, which removed
    values from the space before the study began.

    Args:
        stratum: stratum of the machine.
        parallel: number of slots, all of which had to grant it.

    Raises:
        NotPossibleError: the machine does not have that many.
    """

    def __init__(self, stratum: Stratum, parallel: int | None) -> None:
        from assay.settings.registry import builtin

        self._registry = builtin()
        machine = machine_in(stratum.host)
        self._machines = [] if machine is None else machine_per_slot(machine, parallel)

    def __call__(self, configuration: Configuration) -> bool:
        return not any(
            plan(configuration, machine, self._registry).impossible for machine in self._machines
        )
