"""``assay study compare``: one workload under two conditions that were measured apart."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from assay.cli.arguments.common import common_options
from assay.cli.arguments.study import compare_studies_request, prints_markdown
from assay.cli.parsing.parser import Parsed
from assay.cli.requests.conditions import Conditions
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.records import to_builtins
from assay.records.comparison import Condition, OccasionComparison, OccasionVerdict
from assay.reporting.scale import Scale, scale_for
from assay.search.occasions.comparison import compare_conditions
from assay.units import show_count
from assay.untrusted import clean
from assay.wording.gate import difference_text
from assay.wording.occasions import (
    difference_lines,
    effect_sentence,
    launches_sentence,
    occasions_sentences,
    origin,
    verdict_sentence,
)

MAX_DIFFERENCES = 40
"""Largest number of differences on a terminal; ``--json`` contains all."""
HEAD = ("n", "mean", "sd")


def run(parsed: Parsed) -> int:
    """Run the action.

    Raises:
        InvalidInputError: a condition is missing, or the conditions are not comparable.
        NotPossibleError: a condition cannot be read.
    """
    request, options = compare_studies_request(parsed), common_options(parsed)
    with contextlib.ExitStack() as stack:
        conditions = Conditions(request, options.db, stack)
        found = compare_conditions(
            conditions.side(request.a),
            conditions.side(request.b),
            conditions.occasion_candidates,
            margin=request.margin,
            same_workload=request.same_workload,
        )
    _print(found, json=options.json, markdown=prints_markdown(parsed))
    failing = [word for word in request.gate if _applies(word, found)]
    for word in failing:
        print(f"assay: status 1 by --fail-if {word}: {clean(_reason(found))}", file=sys.stderr)
    return 1 if failing else 0


def _print(found: OccasionComparison, *, json: bool, markdown: bool) -> None:
    if json:
        print_json(to_builtins(found))
    elif markdown:
        from assay.reporting.occasions_text import to_markdown

        print(to_markdown(found), end="")
    else:
        width = width_of(sys.stdout)
        print("\n".join(wrapped(map(clean, _lines(found)), width)))


def _applies(word: str, found: OccasionComparison) -> bool:
    """Return whether a word of ``--fail-if`` holds; a difference must exceed the margin."""
    if found.verdict.value != word:
        return False
    differs = found.verdict in (OccasionVerdict.FASTER, OccasionVerdict.SLOWER)
    return found.beyond_margin or not differs


def _reason(found: OccasionComparison) -> str:
    """Return the reason of a status of 1."""
    margin = found.margin if found.beyond_margin else 0.0
    return difference_text(found.b.name, found.a.name, margin)


def _lines(found: OccasionComparison) -> Iterator[str]:
    yield verdict_sentence(found)
    effect = effect_sentence(found)
    if effect:
        yield effect
    yield ""
    yield from _table(found)
    launches = launches_sentence(found)
    if launches is not None:
        yield f"  {launches}"
    for sentence in occasions_sentences(found):
        yield f"  {sentence}"
    yield ""
    if found.differences:
        yield f"  differences, {found.a.name} -> {found.b.name}:"
        lines = list(difference_lines(found.differences))
        yield from (f"    {line}" for line in lines[:MAX_DIFFERENCES])
        if len(lines) > MAX_DIFFERENCES:
            yield f"    and {show_count(len(lines) - MAX_DIFFERENCES, 'line')} more: --json has all"
    elif not found.published:
        yield "  differences  none that assay recorded"
    for note in found.notes:
        yield f"  note: {note}"
    if found.remedy:
        yield f"  next: {found.remedy}"


def _table(found: OccasionComparison) -> Iterator[str]:
    scale = scale_for([found.a.mean, found.b.mean], found.unit)
    rows = [_cells(one, scale) for one in (found.a, found.b)]
    widths = [max(map(len, column)) for column in zip(HEAD, *rows, strict=True)]
    names = [found.a.name, found.b.name]
    longest = max(map(len, names))
    for name, row in zip(("", *names), (HEAD, *rows), strict=True):
        cells = "".join(f"  {cell:>{width}}" for cell, width in zip(row, widths, strict=True))
        yield f"  {name:{longest}}{cells}"
    for name, one in zip(names, (found.a, found.b), strict=True):
        yield f"  {name:{longest}}  {origin(one)}"


def _cells(one: Condition, scale: Scale) -> tuple[str, str, str]:
    return str(one.n), scale.quantity(one.mean), scale.spread(one.sd)
