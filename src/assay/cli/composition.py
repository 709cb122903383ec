"""The composition root: what a verb needs of this host, put together."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.cli.startup import local_driver, start_up
from assay.machine.document import Program
from assay.machine.reader import read_machine
from assay.records import Conclusion, RunFacts, Sample, Stratum, StudySpec
from assay.settings.registry import builtin
from assay.study.laboratory import Laboratory

if TYPE_CHECKING:
    from assay.root_helper.helper import RootHelper
    from assay.store import Store

STUDY_RECORDS = (RunFacts, Sample, StudySpec, Conclusion, Stratum)
"""Records that a study reads while it goes on."""


def laboratory(
    program: Program | None = None,
    others: tuple[Program, ...] = (),
    *,
    launches: bool = True,
    helper: RootHelper | None = None,
) -> Laboratory:
    """This host, with the settings and the launcher that assay brings.

    From here on there may be something to clean up when a signal comes: see ``assay.cli.startup``.

    Args:
        program, others: that are launched.
        launches: whether anything is.
        helper: what has the rights of root in this process's place.

    Raises:
        NotPossibleError: there is no launcher, or the undo journal cannot be had.
    """
    start_up(STUDY_RECORDS, launches=launches, helper=helper)
    return Laboratory(
        machine=read_machine(status=helper.status if helper else None, config=True),
        registry=builtin(),
        driver=local_driver(helper),
        program=program,
        others=others,
    )


@contextmanager
def store_of(arguments: argparse.Namespace, *, create: bool = True) -> Iterator[Store]:
    """The store that the arguments name, closed afterwards."""
    from assay.store import open_store

    with open_store(arguments.db, create=create) as store:
        yield store


def program_of(argv: tuple[str, ...], cwd: str | None = None) -> Program:
    """What a command links to and needs; it starts in ``cwd``, else in this process's folder."""
    from assay.machine.program import inspect

    return inspect(argv, env=os.environ, cwd=cwd)


def laboratory_of(spec: StudySpec, helper: RootHelper | None = None) -> Laboratory:
    """This host, for a study that was begun earlier, perhaps from another folder.

    Programs are not built yet (``assay.cli.requests.built``), and a share of a partition is not
    reserved yet (``assay.cli.requests.reserving``).
    """
    workload = spec.workload
    if workload.build is not None:  # nobody knows the programs before they are built
        return laboratory(helper=helper)
    # In a comparison of commands the first arm's is the workload's own.
    compared = [arm.configuration.get("command") for arm in spec.arms[1:]]
    others = [tuple(shlex.split(str(text))) for text in compared if text is not None]
    return laboratory(
        program_of(workload.argv, workload.cwd),
        tuple(program_of(argv, workload.cwd) for argv in others),
        helper=helper,
    ).divided(None if spec.reserve else spec.parallel)
