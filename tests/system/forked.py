"""The command line in a fork of a process that has loaded it, so that interrupts hit its work.

Python spends three quarters of a short study on loading modules, where an interrupt loses no data.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NoReturn

from command_line import CommandLine

from assay.__main__ import entry

LOADED = (
    "assay.cli.process.descriptors",
    "assay.cli.main",
    "assay.cli.show.result",
    "assay.cli.show.progress",
    "assay.cli.verbs.compare",
    "assay.cli.verbs.measure",
    "assay.cli.verbs.stored_study",
    "assay.cli.verbs.study",
    "assay.cli.verbs.tune",
    "assay.store.file_identity",
    "assay.store.sqlite",
    "assay.study.session",
    "numpy",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.special",
    "sqlalchemy.dialects.sqlite",
)
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(list(LOADED))


@contextmanager
def forked(cli: CommandLine, *words: str) -> Iterator[BaseProcess]:
    """Start as ``CommandLine.begun`` does."""
    process = _SERVER.Process(target=_run, args=(words, cli.env, cli.folder))
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


def _run(words: tuple[str, ...], env: dict[str, str], folder: Path) -> NoReturn:
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    null = os.open(os.devnull, os.O_RDWR)
    err = os.open("begun.err", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for number, to in enumerate((null, null, err)):
        os.dup2(to, number)
    os.close(null)
    os.close(err)
    sys.argv = ["assay", *words]
    entry()
    raise AssertionError("assay exits")
