"""Composition root: builds the laboratory, the store and the program description of a verb."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.api.context import Context, local_driver
from assay.machine.document import Program
from assay.machine.reader import read_machine
from assay.records import Conclusion, RunFacts, Sample, Stratum, StudySpec
from assay.settings.registry import builtin
from assay.study.laboratory import Laboratory

if TYPE_CHECKING:
    from assay.store import Store

STUDY_RECORDS = (RunFacts, Sample, StudySpec, Conclusion, Stratum)
"""Records that a running study decodes."""


def laboratory(
    context: Context,
    program: Program | None = None,
    others: tuple[Program, ...] = (),
    *,
    launches: bool = True,
) -> Laboratory:
    """Return the laboratory of this host, with the built-in settings and launcher.

    From now on a signal may have to clean up: see ``Context.prepare``.

    Args:
        context: context of the request.
        program, others: programs to launch.
        launches: the request launches programs.

    Raises:
        NotPossibleError: the launcher is missing, or the undo journal is not accessible.
    """
    context.prepare(STUDY_RECORDS, launches=launches)
    helper = context.helper
    return Laboratory(
        machine=read_machine(status=helper.status if helper else None, config=True),
        registry=builtin(),
        driver=local_driver(helper),
        program=program,
        others=others,
    )


@contextmanager
def opened_store(url: str | None, *, create: bool = True) -> Iterator[Store]:
    """Open the store of ``--db``, and close it afterwards."""
    from assay.store import open_store

    with open_store(url, create=create) as store:
        yield store


def program_of(argv: tuple[str, ...], cwd: str | None = None) -> Program:
    """Return the program of a command, with its libraries and requirements.

    Args:
        argv: words of the command.
        cwd: working directory of the command; that of this process if absent.
    """
    from assay.machine.programs.program import inspect

    return inspect(argv, env=os.environ, cwd=cwd)


def laboratory_of(spec: StudySpec, context: Context) -> Laboratory:
    """Return the laboratory of this host for a stored study, perhaps of another working directory.

    It contains neither built programs (``assay.api.studies.built``) nor a reserved share of a
    partition (``assay.api.studies.reserving``).
    """
    workload = spec.workload
    if workload.build is not None:  # the programs are unknown before the build
        return laboratory(context)
    # In a comparison of commands, the first arm runs the command of the workload.
    compared = [arm.configuration.get("command") for arm in spec.arms[1:]]
    others = [tuple(shlex.split(str(text))) for text in compared if text is not None]
    return laboratory(
        context,
        program_of(workload.argv, workload.cwd),
        tuple(program_of(argv, workload.cwd) for argv in others),
    ).divided(None if spec.reserve else spec.parallel)
