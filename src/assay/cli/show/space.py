"""Search space of ``assay tune``, before the search or in a dry run."""

from __future__ import annotations

import sys

from assay.api.studies.parallel import slots_words
from assay.api.studies.tuning import SpaceChoice
from assay.cli.show.layout import width_of, wrapped
from assay.launch.exported_variables import space_notes
from assay.records import StudySpec
from assay.records.configuration import show_value
from assay.requests.tune import TuneRequest
from assay.study.named_configurations import describe_named
from assay.untrusted import clean
from assay.wording.warm_start import warm_start_announcement

MAX_NAMED = 8
"""Largest number of left-out settings that are named; of more only the number is printed."""


def show_space(choice: SpaceChoice, *, verbose: bool) -> None:
    """Print the search space; on request the settings that are left out, with their reasons."""
    lab, spec, left_out = choice.lab, choice.spec, choice.left_out
    space, dry_run = spec.space, choice.request.dry_run
    # The space is the result of a dry run; during a study standard output is for its result.
    stream = sys.stdout if dry_run else sys.stderr
    lines = [f"in a share of {lab.share}"] if lab.share and dry_run else []
    lines += [slots_words(lab)] if lab.slots else []
    lines += ["assay will try:"]
    lines += [f"  {clean(line)}" for line in describe_named(space)]
    lines += [f"  where {clean(constraint)}" for constraint in space.constraints]
    lines += [f"  {clean(line)}" for line in _fidelity_lines(spec)]
    lines += [f"  {note}" for note in space_notes(space, lab.plan, lab.driver.env)]
    lines += [f"  {clean(line)}" for line in _warm_start_lines(choice.request, spec)]
    lines += [f"  note: {note}" for note in choice.notes]
    if left_out and (verbose or dry_run):
        lines += ["and leaves out:"]
        lines += [f"  {name}   {clean(reason)}" for name, reason in left_out.items()]
    elif left_out:
        lines += [f"  and leaves out {_left_out_words(list(left_out))}"]
    print("\n".join(wrapped(lines, width_of(stream))), file=stream, flush=True)


def _fidelity_lines(spec: StudySpec) -> list[str]:
    """Return the line on the fidelities of the search, if it has any."""
    if spec.fidelity is None:
        return []
    low = ", ".join(map(show_value, spec.fidelity.low))
    full = show_value(spec.fidelity.full)
    return [f"first with {spec.fidelity.name}={low}; then, and for all claims, with {full}"]


def _left_out_words(names: list[str]) -> str:
    if len(names) > MAX_NAMED:
        return f"{len(names)} other settings (-v lists them and the reasons)"
    return f"{', '.join(names)} (-v shows the reasons)"


def _warm_start_lines(request: TuneRequest, spec: StudySpec) -> list[str]:
    """Return the line on earlier studies that guide the search, or on their absence."""
    if spec.earlier_studies:
        return [warm_start_announcement(spec.earlier_studies)]
    if "auto" in request.warm_start:
        return ["no warm start: no earlier study in this store measured these settings"]
    return []
