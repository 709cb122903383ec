"""Last words: the end of what a program wrote, to show with its failure."""

from __future__ import annotations

import os
from typing import IO

from assay.untrusted import clean

LAST_BYTES = 2000
"""Of what was written, that are looked at."""
LAST_LINES = 5
"""Of them, that are shown."""


def last_words(written: IO[bytes]) -> str:
    """The last lines of a file, made safe to show, each on a line of its own below a message.

    Args:
        written: a file that can be sought in; anybody may have written it.

    Returns:
        Nothing where it holds no text.
    """
    written.seek(max(0, written.seek(0, os.SEEK_END) - LAST_BYTES))
    lines = written.read().decode(errors="replace").strip().splitlines()[-LAST_LINES:]
    return "".join(f"\n    {clean(line)}" for line in lines)
