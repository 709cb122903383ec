"""Confirm: what a study recommends against the default, on the system as it is."""

from __future__ import annotations

import argparse
import os

import msgspec

from assay.cli.composition import laboratory_of
from assay.cli.requests.built import with_built
from assay.cli.requests.recommended import chosen_of
from assay.cli.requests.request import disturbed_above_of
from assay.cli.show.progress import Progress, uses_live_line
from assay.errors import InvalidInputError, NotPossibleError
from assay.partition.registry import active_partitions
from assay.records import Budget, StudySpec
from assay.search.history.cross_environment import confirmation_of
from assay.store import Store
from assay.study.laboratory import Laboratory
from assay.study.session import StudyResult, begin


def confirmed(
    arguments: argparse.Namespace,
    store: Store,
    study_id: str,
    budget: Budget,
    point: str | None = None,
) -> StudyResult:
    """Compare a study's recommendation with the default, without a share of a partition.

    Args:
        arguments: of the verb.
        store: where the study is, and the comparison will be.
        study_id: whole identity.
        budget: to spend.
        point: of several objectives: which.

    Raises:
        InvalidInputError: the study recommends nothing, or the default.
        NotPossibleError: its program is not there any more, or its partition still is.
    """
    record = store.study(study_id)
    chosen = chosen_of(record, point)
    assert record.conclusion is not None
    if not chosen:
        raise InvalidInputError(
            f"Study {study_id} recommends the default: there is nothing to confirm.",
            f"`assay study show {study_id}` says why.",
        )
    _demand_fair(study_id, record.spec)
    spec = confirmation_of(study_id, record.spec, record.conclusion, chosen, budget)
    if arguments.disturbed_above:
        admitted = disturbed_above_of(arguments, os.environ)
        spec = msgspec.structs.replace(spec, disturbed_above=admitted)
    lab = with_built(laboratory_of(spec, arguments.helper), spec, quiet=arguments.quiet)
    demand_programs(lab, study_id)
    with Progress(spec, live=uses_live_line(arguments), quiet=arguments.quiet) as progress:
        return begin(lab, store, spec, progress)


def _demand_fair(study_id: str, spec: StudySpec) -> None:
    """Refuse where the default would not be what it was, or have what the winner has not.

    Raises:
        InvalidInputError: the study went from boot to boot, or ran in slots.
        NotPossibleError: its partition still stands.
    """
    if spec.pausing or spec.parallel:
        why = "went from boot to boot" if spec.pausing else "ran in slots (--parallel)"
        raise InvalidInputError(
            f"Study {study_id} {why}: a confirmation does neither.",
            "Compare by hand: assay compare --arm 'SETTING=VALUE' --arm 'SETTING=VALUE' -- COMMAND",
        )
    if spec.reserve is None:
        return
    known = [made.name for made in active_partitions(os.environ)]
    taken = [name for name in known if spec.reserve.partition in ("", name)]
    if taken:
        raise NotPossibleError(
            f"The partition {taken[0]} stands: what is left of the machine is no fair place for "
            "the default.",
            f"Root deletes it first: `assay partition delete {taken[0]}`.",
        )


def demand_programs(lab: Laboratory, study_id: str) -> None:
    """Refuse to begin anew with nothing to run.

    Raises:
        NotPossibleError: names the program that is not there.
    """
    for program in filter(None, (lab.program, *lab.others)):
        if program.path is None:
            raise NotPossibleError(
                f"The program {program.argv0!r} of study {study_id} is not there any more.",
                "Put it back; a new place of it takes a new study.",
            )
