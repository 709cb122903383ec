"""Ladder of a case, as lines and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any

from assay.cli.documents.case import CaseRunAnswer, LadderStep
from assay.records import Claim, Verdict
from assay.study.result import StudyResult
from assay.units import show_bytes, show_duration, significant
from assay.untrusted import clean
from assay.workloads.kernels import Kernel
from assay.workloads.ladder import Step
from assay.workloads.published import published_figures
from assay.workloads.roofs import Roofs

_ABOVE = 1.05
"""Share of the roof above which noise in the time of a repetition is not the cause."""


def ladder_lines(
    result: StudyResult, kernel: Kernel, steps: Sequence[Step], roofs: Roofs, *, quiet: bool
) -> Iterator[str]:
    """Yield a table of rates, shares of the roof and gains of all variants."""
    if not quiet:
        chosen = ", ".join(f"{name}={value}" for name, value in kernel.parameters.items())
        yield f"{kernel.kernel}: {kernel.title}"
        yield f"  {chosen}; {show_bytes(int(kernel.bytes))} of data"
        yield (
            f"  roofs of this machine: {significant(roofs.gflop_per_s)} GFLOP/s, "
            f"{significant(roofs.gb_per_s)} GB/s"
        )
        yield f"  limited by: {kernel.bound}"
        yield ""
    names = [one.name for one in kernel.figures]
    head = ("variant", "time", "GFLOP/s", "GB/s", *names, "of the roof", "step")
    failed = {one.variant.variant for one in steps if one.median_s is None}
    rows = [head, *map(_row(names, roofs, failed), steps)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(head) - 1)]
    for row in rows:
        cells = [f"{row[0]:<{widths[0]}}"]
        cells += [f"{text:>{width}}" for text, width in zip(row[1:-1], widths[1:], strict=True)]
        yield "  ".join([*cells, row[-1]]).rstrip()
    for note in ladder_notes(result, steps, roofs):
        yield f"note: {clean(note)}"
    if not quiet:
        yield ""
        for one in published_figures(kernel.kernel):
            yield f"published: {one}"
        yield f"study {result.study_id}; all launches: assay report {result.study_id}"


def ladder_notes(result: StudyResult, steps: Sequence[Step], roofs: Roofs) -> tuple[str, ...]:
    """Return the notes of the study and of the roofs."""
    above = [one.variant.variant for one in steps if one.share_of_roof(roofs) > _ABOVE]
    if not above:
        return result.notes
    return (
        *result.notes,
        f"other processes disturbed the probes of the roof: above it are {', '.join(above)}",
    )


def _row(figures: Sequence[str], roofs: Roofs, failed: Set[str]) -> Any:
    def row(step: Step) -> tuple[str, ...]:
        one = step.variant
        if step.median_s is None:
            return one.variant, *("-" for _ in (*figures, *range(4))), "no launch succeeded"
        return (
            one.variant,
            show_duration(step.median_s),
            significant(step.gflop_per_s),
            significant(step.gb_per_s),
            *(significant(step.figures[name]) if name in step.figures else "-" for name in figures),
            f"{100 * step.share_of_roof(roofs):.1f} %",
            _step_words(step, failed),
        )

    return row


def _step_words(step: Step, failed: Set[str]) -> str:
    claim = step.claim
    if step.against is None:
        return step.variant.description
    if step.against in failed:
        return f"no launch of {step.against} succeeded: {step.variant.description}"
    if claim is None:
        return f"no common block with {step.against}: {step.variant.description}"
    return f"{_change(claim)}: {step.variant.description}"


def _change(claim: Claim) -> str:
    """Return the change of speed relative to the parent, with its interval."""
    if claim.data_problem is not None:
        return f"no verdict relative to {claim.a}: {claim.data_problem}"
    if claim.verdict_withheld:
        return f"no verdict relative to {claim.a}: the load of other processes followed the two"
    if claim.verdict is Verdict.UNCLEAR:
        return f"unclear whether faster than {claim.a}"
    if claim.verdict is Verdict.SAME:
        return f"as fast as {claim.a}"
    low, high = claim.ci
    if claim.verdict is Verdict.SLOWER:
        return f"{_times(claim.ratio)} times as long as {claim.a} ({_times(low)} to {_times(high)})"
    ends = [None if end is None else 1.0 / end for end in (high, low)]
    return (
        f"{_times(1.0 / claim.ratio)} times as fast as {claim.a} "
        f"({_times(ends[0])} to {_times(ends[1])})"
    )


def _times(ratio: float | None) -> str:
    return "?" if ratio is None else significant(ratio)


def ladder_answer(
    result: StudyResult, kernel: Kernel, steps: Sequence[Step], roofs: Roofs
) -> CaseRunAnswer:
    """Return the ladder as a JSON document."""
    return CaseRunAnswer(
        study=result.study_id,
        case=kernel.kernel,
        parameters=kernel.parameters,
        bytes=kernel.bytes,
        roofs=roofs,
        published=published_figures(kernel.kernel),
        notes=ladder_notes(result, steps, roofs),
        steps=tuple(_ladder_step(step, roofs) for step in steps),
    )


def _ladder_step(step: Step, roofs: Roofs) -> LadderStep:
    one = step.variant
    measured = step.median_s is not None
    return LadderStep(
        variant=one.variant,
        description=one.description,
        isa=one.isa,
        library=one.library,
        parent=step.against or None,
        median_s=step.median_s,
        gflop_per_s=step.gflop_per_s if measured else None,
        gb_per_s=step.gb_per_s if measured else None,
        roof_share=step.share_of_roof(roofs) if measured else None,
        figures=dict(step.figures) if measured else None,
        claim=step.claim,
    )
