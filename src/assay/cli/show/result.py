"""Result of a measuring verb as lines of a terminal."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence

from assay.api.results.sentences import short_name, verdict_lines
from assay.cli.show.calibration import calibration_lines
from assay.cli.show.cells import cell_lines, effect_lines
from assay.cli.show.explanation import explanation_lines
from assay.cli.show.kernels import kernel_lines
from assay.cli.show.layout import width_of, wrapped
from assay.cli.show.pareto_front import front_lines, next_step_lines
from assay.cli.show.secondary_metrics import secondary_metric_lines
from assay.records import (
    ArmResult,
    Budget,
    Conclusion,
    Kind,
    Metric,
    Recommendation,
    RequirementResult,
    RequirementVerdict,
    StudySpec,
    SwitchingCost,
    Verdict,
)
from assay.search.claims.proof import MAX_LAUNCHES
from assay.study.result import StudyResult
from assay.units import show_count, show_duration, show_quantity
from assay.untrusted import clean
from assay.wording.endings import shown_ending
from assay.wording.launch_notes import cross_environment_words, interference_words
from assay.wording.noise_floor import floor_words, origin_words
from assay.wording.processes import continuation
from assay.wording.proof import proof_command, proof_words
from assay.wording.requirement import (
    required_text,
    requirement_words,
)
from assay.wording.sentence import interval, noun_of
from assay.wording.space import switching_words
from assay.wording.trial_words import sample_words


def print_result(result: StudyResult) -> None:
    """Print a result on standard output, for people."""
    width = width_of(sys.stdout)
    print("\n".join(wrapped(result_lines(result, width), width)))


def result_lines(result: StudyResult, width: int | None = None) -> Iterable[str]:
    """Yield the verdict, the figures that it is based on, and the next steps.

    Untrusted text, such as the names of commands, is cleaned.

    Args:
        result: result of a study.
        width: width of the terminal, in columns; unlimited if absent.
    """
    conclusion, spec = result.conclusion, result.spec
    yield from map(clean, verdict_lines(conclusion, spec))
    yield ""
    if conclusion.kind is Kind.SWEEP:
        yield from cell_lines(conclusion, spec, width)
        yield from effect_lines(conclusion.effects)
    elif spec.objectives:
        yield from front_lines(conclusion, spec, width)
        for metric in spec.targets:
            yield f"  {noun_of(metric)}:"
            yield from arm_lines(conclusion.arms, metric, width)
    else:
        yield from arm_lines(conclusion.arms, spec.workload.objective, width)
    words = sample_words(spec)
    yield from map(words, secondary_metric_lines(conclusion, spec, width))
    yield from required_lines(conclusion, spec)
    yield from map(words, explanation_lines(result.explanation))
    if conclusion.kind is Kind.CALIBRATE:
        yield from calibration_lines(conclusion, spec)
    elif conclusion.noise_floor is not None:
        found = interval(conclusion.noise_floor, spec.workload.objective)
        yield f"  noise floor  {found} between two identical arms"
    elif result.floor is not None:
        origin = clean(origin_words(result.floor))
        yield f"  noise floor of this machine: {floor_words(result.floor)} ({origin})"
    elif conclusion.claims and not spec.in_process:
        yield "  noise floor  not measured (--null measures it)"
    if conclusion.warm_start:
        yield f"  warm start  {clean(conclusion.warm_start)}"
    if conclusion.cross_environment is not None:
        yield f"  {clean(cross_environment_words(conclusion.cross_environment))}"
    for note in result.notes:
        yield f"  note: {clean(note)}"
    if conclusion.interference is not None:
        yield f"  {interference_words(conclusion.interference)}"
    yield from kernel_lines(conclusion.kernels)
    yield from switching_lines(conclusion.switching)
    spent = show_count(conclusion.launches, *words.noun)
    took = show_duration(result.elapsed_s)
    if result.later_launches:
        whole = show_count(conclusion.launches + result.later_launches, *words.noun)
        spent = f"{conclusion.launches:,} of {whole}"
    if result.stratum is not None:
        spent, took = f"{spent} of stratum {result.stratum}", f"{took} over all strata"
    elif result.later_launches:
        took = f"{took} over all of them"
    ending = shown_ending(conclusion.stop_reason, result.study_id, in_process=spec.in_process)
    yield f"  {spent}, {took}. {clean(ending)}"
    yield ""
    yield from _next_steps(result)


MAX_REQUIREMENT_LINES = 40
"""Maximum number of requirements on a terminal; of more, violated ones are listed first."""


def required_lines(conclusion: Conclusion, spec: StudySpec) -> Iterable[str]:
    """Yield a line for each requirement and arm."""
    found = conclusion.requirements
    shown: Sequence[RequirementResult] = found
    if len(found) > MAX_REQUIREMENT_LINES:
        holding = RequirementVerdict.HOLDS
        shown = sorted(found, key=lambda one: one.verdict is holding)[:MAX_REQUIREMENT_LINES]
    names = [short_name(clean(one.arm)) for one in shown]
    widest = max(map(len, names), default=0)
    previous = None
    for one, name in zip(shown, names, strict=True):
        text = required_text(spec, [one.requirement])
        if text != previous:
            yield f"  required  {clean(text)}"
        previous = text
        yield f"    {name:{widest}}  {requirement_words(spec, one)}"
    if len(found) > len(shown):
        yield f"    and {show_count(len(found) - len(shown), 'line')} more: --json has them all"


def switching_lines(found: SwitchingCost | None) -> Iterable[str]:
    """Yield the time spent on hard-to-change factors."""
    if found is not None and found.changes:
        yield f"  switching  {switching_words(found)}"


HEADINGS = ("n", "min", "q1", "median", "q3", "max")
COLUMN_WIDTHS = (4, 9, 9, 9, 9, 9)
"""Widths of the columns on a wide terminal."""


def arm_lines(
    arms: tuple[ArmResult, ...], metric: Metric, width: int | None = None
) -> Iterable[str]:
    """Yield the five-number summary of each arm; on a narrow terminal below its name."""
    names = [short_name(clean(arm.name)) for arm in arms]
    rows = [_numbers(arm, metric) for arm in arms]
    longest = max(map(len, names), default=0)
    if width is None or 2 + longest + sum(2 + cells for cells in COLUMN_WIDTHS) <= width:
        yield f"  {'':{longest}}{_cells(HEADINGS, COLUMN_WIDTHS)}"
        for arm, name, row in zip(arms, names, rows, strict=True):
            yield f"  {name:{longest}}{_row(arm, row, COLUMN_WIDTHS)}"
        return
    columns = [max(map(len, column)) for column in zip(HEADINGS, *filter(None, rows), strict=True)]
    if 2 + sum(2 + cells for cells in columns) <= width:
        yield f"  {_cells(HEADINGS, columns)}"
        for arm, name, row in zip(arms, names, rows, strict=True):
            yield f"  {name}"
            yield f"  {_row(arm, row, columns)}"
        return
    for arm, name, row in zip(arms, names, rows, strict=True):
        yield f"  {name}"
        yield from (f"    {text}" for text in _listed(arm, row, width - 4))


def _numbers(arm: ArmResult, metric: Metric) -> tuple[str, ...]:
    """Return the cells of an arm; empty without a value."""
    found = arm.summary.get(metric.name)
    if found is None:
        return ()
    five = (found.min, found.q1, found.median, found.q3, found.max)
    return (str(found.n), *(show_quantity(value, metric.unit) for value in five))


def _listed(arm: ArmResult, row: Sequence[str], width: int) -> Iterable[str]:
    """Yield the numbers of an arm with their names, in lines that fit the width."""
    line = ""
    parts = [f"{head} {cell}" for head, cell in zip(HEADINGS, row, strict=False)]
    for part in [*parts, *_lost_launches(arm)] if row else [_row(arm, row, ())]:
        if line and len(line) + 2 + len(part) > width:
            yield line
            line = ""
        line += f"  {part}" if line else part
    yield line


def _row(arm: ArmResult, row: Sequence[str], columns: Sequence[int]) -> str:
    lost = _lost_launches(arm)
    if row:
        return "  ".join([_cells(row, columns), *lost])
    return f"  no value ({', '.join(lost)})" if lost else "  no value"


def _lost_launches(arm: ArmResult) -> list[str]:
    lost = [f"{arm.failures} failed"] if arm.failures else []
    lost += [f"{arm.timeouts} timed out"] if arm.timeouts else []
    return lost + ([f"{arm.disturbed_launches} disturbed"] if arm.disturbed_launches else [])


def _cells(row: Sequence[str], columns: Sequence[int]) -> str:
    return "".join(f"  {cell:>{width}}" for cell, width in zip(row, columns, strict=True))


def proof_lines(result: StudyResult, chosen: Recommendation) -> Iterable[str]:
    """Yield the expected cost of a proof, and the command that continues the study."""
    if chosen.proof is not None:
        command = proof_command(result.study_id, result.spec.budget, chosen.proof)
        label = "prove it" if chosen.unproven else "find out more"
        yield f"  {label} ({proof_words(chosen.proof)}): {command}"


def decision_lines(result: StudyResult) -> Iterable[str]:
    """Yield the command that continues an unclear comparison, and its expected cost."""
    conclusion, asked = result.conclusion, result.spec.budget
    shares = [
        found.blocks_needed / found.blocks - 1.0
        for found in conclusion.claims
        if found.verdict is Verdict.UNCLEAR and found.blocks_needed is not None and found.blocks
    ]
    share = max(shares, default=0.0)
    if conclusion.kind is not Kind.COMPARE or share <= 0.0:
        return
    launches = math.ceil(share * conclusion.launches)
    if launches > MAX_LAUNCHES:
        return
    time_s = None if asked.time_s is None else share * result.elapsed_s
    more = Budget(time_s=time_s, launches=None if asked.launches is None else launches)
    command = proof_command(result.study_id, asked, more)
    yield f"  decide it ({proof_words(more)} more, over all arms): {command}"


def _next_steps(result: StudyResult) -> Iterable[str]:
    yield f"  study {result.study_id}; full report: assay report {result.study_id}"
    yield from decision_lines(result)
    chosen = result.conclusion.recommendation
    if result.spec.in_process:
        yield f"  a session: {continuation(result.study_id)}"
    elif result.spec.objectives:
        yield from next_step_lines(result.study_id, result.conclusion)
    elif chosen is not None and not chosen.settings:
        yield from proof_lines(result, chosen)
    elif chosen is not None:
        yield from proof_lines(result, chosen)
        unproven = " --unproven" if chosen.unproven else ""
        unproven += " --outputs-may-differ" if chosen.output_difference else ""
        run = f"assay run --from {result.study_id}{unproven}"
        yield f"  apply it: {run}"
        yield f"  without assay: {run} --explain prints a script"
        if result.spec.reserve is not None:
            yield (
                "  to confirm it outside the partition, delete the partition, then: "
                f"assay study confirm {result.study_id}"
            )
