"""Start: what comes before the first launch, whatever is launched."""

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
    """From here on there may be something to clean up when a signal comes.

    Args:
        reads: records that are read from now on.
        launches: whether anything is launched: what an assay left changed that was killed is put
            back before.
        helper: what has the rights of root in this process's place.

    Raises:
        NotPossibleError: the undo journal cannot be had.
    """
    for kind in reads:
        msgspec.json.Decoder(
            kind
        )  # builds what it knows of a record: see assay.cli.process.termination
    terminate_in_order()
    if launches:
        restore_leftovers(helper)


def local_driver(helper: RootHelper | None = None) -> Driver:
    """The launcher that assay brings, with this process's environment.

    Args:
        helper: what starts it in this process's place.

    Raises:
        NotPossibleError: there is none.
    """
    return Driver(helper or find_launcher(os.environ), os.environ)
