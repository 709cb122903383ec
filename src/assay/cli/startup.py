"""Preparations of this process before its first launch."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from assay.cli.process.termination import terminate_in_order
from assay.cli.system_settings import restore_leftovers
from assay.launch.driver import Driver, find_launcher

if TYPE_CHECKING:
    from assay.root_helper.helper import RootHelper


def start_up(
    reads: tuple[type, ...], *, launches: bool = True, helper: RootHelper | None = None
) -> None:
    """Let signals clean up from now on, and undo the changes of a killed assay.

    Args:
        reads: records that this process decodes later.
        launches: the verb launches programs; otherwise nothing is undone.
        helper: process with root privileges, if this process has given them up.

    Raises:
        NotPossibleError: the undo journal is not accessible.
    """
    for kind in reads:
        msgspec.json.Decoder(kind)  # caches the type: see assay.cli.process.termination
    terminate_in_order()
    if launches:
        restore_leftovers(helper)


def local_driver(helper: RootHelper | None = None) -> Driver:
    """Return a driver of the installed launcher, with the environment of this process.

    Args:
        helper: process that starts the launcher, if this process has no privileges.

    Raises:
        NotPossibleError: the launcher is missing.
    """
    return Driver(helper or find_launcher(os.environ), os.environ)
