"""What the measuring verbs say in the end, for people."""

from __future__ import annotations

from collections.abc import Iterable

from assay.records import ArmResult, Claim, Conclusion, Kind, Metric, StudySpec, Verdict
from assay.search.sentence import comparison
from assay.study.session import Result
from assay.units import show_duration, show_quantity


def result_lines(result: Result) -> Iterable[str]:
    """The verdict first, then the figures that it rests on, then what can be done with it."""
    conclusion, spec = result.conclusion, result.spec
    yield from verdict_lines(conclusion, spec)
    yield ""
    yield from arm_lines(conclusion.arms, spec.workload.objective)
    if conclusion.noise_floor is not None:
        yield f"  noise floor  {_change(conclusion.noise_floor)} between two identical arms"
    elif conclusion.claims:
        yield "  noise floor  not measured (--null measures it)"
    for note in conclusion.notes:
        yield f"  note: {note}"
    yield (
        f"  {conclusion.launches} launches, {show_duration(result.elapsed_s)}. {conclusion.stopped}"
    )
    yield ""
    yield from _next_steps(result)


def verdict_lines(conclusion: Conclusion, spec: StudySpec) -> Iterable[str]:
    """One sentence for each claim; for a measurement the mean with its interval."""
    metric = spec.workload.objective
    if conclusion.recommendation is not None:
        yield conclusion.recommendation.sentence
    elif conclusion.kind is Kind.COMPARE:
        for claim in conclusion.claims:
            yield comparison(claim, metric)
    else:
        yield _measured(conclusion.arms[0], metric)


def _measured(arm: ArmResult, metric: Metric) -> str:
    found = arm.summary.get(metric.name)
    if found is None:
        return f"{metric.name} could not be measured."
    text = f"{metric.name}: {show_quantity(found.mean, metric.unit)} on average"
    if found.ci is None or found.ci[0] is None or found.ci[1] is None:
        return f"{text} over {found.n} launches."
    ends = " to ".join(show_quantity(end, metric.unit) for end in found.ci if end is not None)
    return f"{text} (interval {ends}, {found.n} launches)."


def arm_lines(arms: tuple[ArmResult, ...], metric: Metric) -> Iterable[str]:
    """The five numbers of each arm."""
    width = max((len(arm.name) for arm in arms), default=0)
    yield f"  {'':{width}}  {'n':>4}  {'min':>9}  {'q1':>9}  {'median':>9}  {'q3':>9}  {'max':>9}"
    for arm in arms:
        found = arm.summary.get(metric.name)
        if found is None:
            lost = f"{arm.failures} failed, {arm.timeouts} timed out"
            yield f"  {arm.name:{width}}  no value ({lost})"
            continue
        five = (found.min, found.q1, found.median, found.q3, found.max)
        cells = "  ".join(f"{show_quantity(value, metric.unit):>9}" for value in five)
        lost = f"  {arm.failures} failed" if arm.failures else ""
        lost += f"  {arm.timeouts} timed out" if arm.timeouts else ""
        yield f"  {arm.name:{width}}  {found.n:>4}  {cells}{lost}"


def _change(claim: Claim) -> str:
    ends = ("…" if end is None else f"{100 * (end - 1):+.1f}" for end in claim.ci)
    return " to ".join(ends) + " %"


def _next_steps(result: Result) -> Iterable[str]:
    yield f"  study {result.study_id}; the whole picture: assay report {result.study_id}"
    claims = result.conclusion.claims
    if result.spec.kind is Kind.TUNE and claims and claims[0].verdict is Verdict.FASTER:
        yield f"  run it so again: assay run --from {result.study_id}"
        yield f"  without assay: assay run --from {result.study_id} --explain prints a script"
