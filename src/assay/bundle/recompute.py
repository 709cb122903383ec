"""Working out a verdict document anew from what it rests on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

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

_NOT_OURS = "The bundle was not made by assay, or is damaged: ask for another."
MAX_EXPRESSIONS, MAX_EXPRESSION_LENGTH = 1000, 4096
"""Conditions and constraints of a space, and characters of each."""
MAX_VALUES = 1_000_000
"""Of one setting."""
MAX_NAMED = 1000
"""Named configurations of a space: each is held against all others."""


def recompute(
    spec: StudySpec, samples: Sequence[Sample], stratum: Stratum, recorded: Conclusion
) -> Conclusion:
    """The verdict document that the samples of a stratum give.

    Why the race ended is taken from the recorded document, since that hangs on the clock. The
    script is left out: it follows from the plan.

    Args:
        spec: of the study.
        samples: of the stratum, in order; those that came after the verdict are not looked at.
        stratum: says on which machine settings were to be granted.
        recorded: the document to hold against.

    Raises:
        NotPossibleError: this version of assay knows no such study, or no such end of one; or the
            documents do not belong together.
        InvalidInputError: an expression of the space that cannot be read.
    """
    _demand_workable(spec.space)
    tuned = spec.kind is Kind.TUNE
    space = make_search_space(spec.space, _Admits(stratum, spec.parallel) if tuned else None)
    resting = samples[: recorded.launches]
    first: Conclusion | None = None
    for done in _ends(recorded):
        found = _concluded(spec, resting, space, done)
        if is_same_conclusion(found, recorded):
            return found
        first = first or found
    assert first is not None
    return first


def _demand_workable(space: Space) -> None:
    """Refuse a space that was made to keep whoever works it out busy for ever.

    Raises:
        NotPossibleError: more values or longer expressions than a study has.
    """
    expressions = [*space.constraints, *(p.when for p in space.parameters if p.when)]
    if len(expressions) > MAX_EXPRESSIONS or any(
        len(e) > MAX_EXPRESSION_LENGTH for e in expressions
    ):
        raise NotPossibleError(
            "The space holds more expressions, or longer ones, than a study has.", _NOT_OURS
        )
    if len(space.named) > MAX_NAMED:
        raise NotPossibleError("The space names more configurations than a study has.", _NOT_OURS)
    for parameter in space.parameters:
        if isinstance(parameter.domain, Range) and _count(parameter.domain) > MAX_VALUES:
            raise NotPossibleError(
                f"{parameter.name} has more values than a study goes through.", _NOT_OURS
            )


def _count(domain: Range) -> float:
    """About how many values a range has; infinite for one whose steps lead nowhere."""
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
    except Exception as error:  # the documents are anybody's, and may not make sense together
        raise NotPossibleError(
            f"The samples make no sense under what was asked: {type(error).__name__}: {error}.",
            _NOT_OURS,
        ) from error


def is_same_conclusion(found: Conclusion, recorded: Conclusion) -> bool:
    """Whether two verdict documents are the same, to the last digit; the scripts apart.

    Those of before ``reason`` was kept hold it against nothing.
    """
    if not recorded.reason:
        found = msgspec.structs.replace(found, reason="")
    return encode(without_script(found)) == encode(without_script(recorded))


def without_script(conclusion: Conclusion) -> Conclusion:
    """The verdict document without the scripts."""
    if conclusion.recommendation is None:
        return conclusion
    bare = msgspec.structs.replace(conclusion.recommendation, script="")
    front = tuple(msgspec.structs.replace(point, script="") for point in conclusion.front)
    return msgspec.structs.replace(conclusion, recommendation=bare, front=front)


def script_of(
    conclusion: Conclusion,
    plans: Sequence[Plan],
    workload: Workload,
    samples: Sequence[Sample] = (),
) -> str | None:
    """The script of what a verdict recommends; ``None`` where it recommends nothing.

    ``None`` also where its plan was not kept: stores of schema 1 kept none.
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
    """Why the race may have ended: as recorded, or each reason where that was not kept.

    Raises:
        NotPossibleError: a reason that only a later version knows.
    """
    if not recorded.reason:
        yield None
        yield from (Ending(reason, recorded.stopped) for reason in EndReason)
        return
    try:
        yield Ending(EndReason(recorded.reason), recorded.stopped)
    except ValueError as error:
        raise NotPossibleError(
            f"This assay knows no study that ended by {recorded.reason!r}.",
            "A newer one may: install the version that the bundle names.",
        ) from error


class _Admits:
    """Whether a configuration can be granted on the machine of a stratum.

    As the race was told then, but for what depends on the program: values that it refuses were
    taken out of the space before the study began.

    Args:
        stratum: says on which machine.
        parallel: slots of it, each of which had to grant it.

    Raises:
        NotPossibleError: the machine has no so many.
    """

    def __init__(self, stratum: Stratum, parallel: int | None) -> None:
        from assay.settings.registry import builtin

        self._registry = builtin()
        machine = machine_in(stratum.host)
        self._rooms = [] if machine is None else machine_per_slot(machine, parallel)

    def __call__(self, configuration: Configuration) -> bool:
        return not any(plan(configuration, r, self._registry).impossible for r in self._rooms)
