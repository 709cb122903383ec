"""The composition root: what a verb needs of this host, put together."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from assay.cli.ending import end_in_order
from assay.launch.driver import Driver, find_launcher
from assay.machine.document import Program
from assay.machine.program import inspect
from assay.machine.reader import read_machine
from assay.records import Conclusion, RunFacts, Sample, Stratum, StudySpec
from assay.settings.registry import builtin
from assay.store import Store, open_store
from assay.study.laboratory import Laboratory

READ = (RunFacts, Sample, StudySpec, Conclusion, Stratum)
"""Records that a study reads while it goes on."""


def laboratory(program: Program | None = None, others: tuple[Program, ...] = ()) -> Laboratory:
    """This host, with the settings and the launcher that assay brings.

    From here on there may be something to clean up when a signal comes.
    """
    for kind in READ:
        msgspec.json.Decoder(kind)  # builds what it knows of a record: see assay.cli.ending
    end_in_order()
    return Laboratory(
        machine=read_machine(),
        registry=builtin(),
        driver=Driver(find_launcher(os.environ), os.environ),
        program=program,
        others=others,
    )


@contextmanager
def store_of(arguments: argparse.Namespace, *, create: bool = True) -> Iterator[Store]:
    """The store that the arguments name, closed afterwards."""
    with open_store(arguments.db, create=create) as store:
        yield store


def program_of(argv: tuple[str, ...], cwd: str | None = None) -> Program:
    """What a command links to and needs; it starts in ``cwd``, else in this process's folder."""
    return inspect(argv, env=os.environ, cwd=cwd)


def laboratory_of(spec: StudySpec) -> Laboratory:
    """This host, for a study that was begun earlier, perhaps from another folder.

    Where its programs are built, they are still to be: see ``assay.cli.built``.
    """
    workload = spec.workload
    if workload.build is not None:  # nobody knows the programs before they are built
        return laboratory()
    # In a comparison of commands the first arm's is the workload's own.
    compared = [arm.configuration.get("command") for arm in spec.arms[1:]]
    others = [tuple(shlex.split(str(text))) for text in compared if text is not None]
    return laboratory(
        program_of(workload.argv, workload.cwd),
        tuple(program_of(argv, workload.cwd) for argv in others),
    ).divided(spec.parallel)
