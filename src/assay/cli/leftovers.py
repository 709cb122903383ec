"""Messages on system files that a killed assay has changed."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from assay.untrusted import clean

if TYPE_CHECKING:
    from assay.host.undo import UndoOutcome


def print_leftovers(lines: Iterable[str]) -> None:
    """Print the lines of ``assay.api.leftovers``."""
    for line in lines:
        print(f"assay: {clean(line)}.", file=sys.stderr)


def warn_of_leftovers(found: Iterable[UndoOutcome]) -> None:
    """Print the files that assay could not restore, or that another program has changed."""
    from assay.api.leftovers import leftover_lines

    print_leftovers(leftover_lines(found))
