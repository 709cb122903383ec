"""Context of a verb, and preparations of this process before its first launch."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from assay.api.context import Context
from assay.api.leftovers import leftover_lines, restore_leftovers
from assay.api.observer import Observer
from assay.cli.process.termination import terminate_in_order
from assay.untrusted import clean

if TYPE_CHECKING:
    from assay.cli.arguments.common import CommonOptions
    from assay.host.undo import UndoOutcome
    from assay.root_helper.helper import RootHelper

SILENT = Observer()


def context_with(options: CommonOptions, observer: Observer = SILENT) -> Context:
    """Return the context of a verb, with an observer that ignores announcements by default."""
    return Context(
        prepare=partial(start_up, helper=options.helper),
        db=options.db,
        observer=observer,
        helper=options.helper,
    )


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


def print_leftovers(lines: Iterable[str]) -> None:
    """Print the lines of ``assay.api.leftovers``."""
    for line in lines:
        print(f"assay: {clean(line)}.", file=sys.stderr)


def warn_of_leftovers(found: Iterable[UndoOutcome]) -> None:
    """Print the files that assay could not restore, or that another program has changed."""
    print_leftovers(leftover_lines(found))
