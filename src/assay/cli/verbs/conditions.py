"""``assay study compare``: one workload under two conditions that were measured apart."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator

from assay.cli.requests.conditions import Conditions
from assay.cli.requests.request import gate_of, margin_of
from assay.cli.show.documents import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.errors import InvalidInputError
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

GATE = tuple(map(str, OccasionVerdict))
MAX_DIFFERENCES = 40
"""Lines on a terminal; ``--json`` has all."""
HEAD = ("n", "mean", "sd")


def run(arguments: argparse.Namespace) -> int:
    """Run the action.

    Raises:
        InvalidInputError: not two conditions, or two that cannot be compared.
        NotPossibleError: one of them cannot be read.
    """
    gate = gate_of(arguments.fail_if, GATE)
    if not arguments.study or not arguments.file:
        raise InvalidInputError(
            "`assay study compare` takes two conditions.",
            "Name two studies, bundles or published summaries: assay study compare A B",
        )
    if arguments.json and arguments.markdown:
        raise InvalidInputError("--json and --markdown cannot be mixed.", "Leave out one of them.")
    with contextlib.ExitStack() as stack:
        conditions = Conditions(arguments, stack)
        found = compare_conditions(
            conditions.side(arguments.study),
            conditions.side(arguments.file),
            conditions.prospects,
            margin=margin_of(arguments),
            same_workload=arguments.same_workload,
        )
    _print(arguments, found)
    closed = [word for word in gate if _closes(word, found)]
    for word in closed:
        print(f"assay: status 1 by --fail-if {word}: {clean(_why(found))}", file=sys.stderr)
    return 1 if closed else 0


def _print(arguments: argparse.Namespace, found: OccasionComparison) -> None:
    if arguments.json:
        print_json(to_builtins(found))
    elif arguments.markdown:
        from assay.reporting.occasions_text import to_markdown

        print(to_markdown(found), end="")
    else:
        width = width_of(sys.stdout)
        print("\n".join(wrapped(map(clean, _lines(found)), width)))


def _closes(word: str, found: OccasionComparison) -> bool:
    """Return whether a word of ``--fail-if`` holds; a difference must exceed the margin."""
    if found.verdict.value != word:
        return False
    differs = found.verdict in (OccasionVerdict.FASTER, OccasionVerdict.SLOWER)
    return found.beyond_margin or not differs


def _why(found: OccasionComparison) -> str:
    """Say what closes a gate."""
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
