"""Preparations of this process before its first launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from assay.api.leftovers import restore_leftovers
from assay.cli.leftovers import print_leftovers
from assay.cli.process.termination import terminate_in_order

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
        print_leftovers(restore_leftovers(helper))
