"""Composition root: context of the requests of the command line."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from assay.api.context import Context
from assay.api.observer import Observer
from assay.cli.startup import start_up

if TYPE_CHECKING:
    from assay.cli.arguments.common import CommonOptions

SILENT = Observer()


def context_with(options: CommonOptions, observer: Observer = SILENT) -> Context:
    """Return the context of a verb, with an observer that ignores announcements by default."""
    return Context(
        prepare=partial(start_up, helper=options.helper),
        db=options.db,
        observer=observer,
        helper=options.helper,
    )
