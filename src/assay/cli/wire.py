"""The composition root: what a verb needs of this host, put together."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager

from assay.launch.driver import Driver, find_launcher
from assay.machine.document import Program
from assay.machine.program import inspect
from assay.machine.reader import read_machine
from assay.settings.registry import builtin
from assay.store import Store, open_store
from assay.study.session import Laboratory


def laboratory(program: Program | None = None) -> Laboratory:
    """This host, with the settings and the launcher that assay brings."""
    return Laboratory(
        machine=read_machine(),
        registry=builtin(),
        driver=Driver(find_launcher(os.environ), os.environ),
        program=program,
    )


@contextmanager
def store_of(arguments: argparse.Namespace, *, create: bool = True) -> Iterator[Store]:
    """The store that the arguments name, closed afterwards."""
    with open_store(arguments.db, create=create) as store:
        yield store


def program_of(argv: tuple[str, ...]) -> Program:
    """What a command links to and needs."""
    return inspect(argv, env=os.environ)
