"""Lines of the error output of a launch, kept with its sample for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.records import Evidence
from assay.records.sample import STDERR_LINES
from assay.untrusted import clean

HEAD_BYTES = 16384
"""Length of the part of a stream that is read: complaints about settings come at the start."""
MAX_LINES = 8
"""Largest number of kept lines: a program with more lines reports its work, not its settings."""
MAX_CHARACTERS = 200


def error_output_evidence(outputs: Sequence[Path]) -> Evidence | None:
    """Return the distinct lines of the error output of a launch as evidence.

    Args:
        outputs: files that the program wrote; those of standard error are named ``stderr``, each
            of several instances with a number after it.

    Returns:
        The number of lines, and the lines in output order. Without lines if there are too many to
        keep; ``None`` without output.
    """
    lines: dict[str, None] = {}
    for path in outputs:
        if not path.name.startswith("stderr"):
            continue
        head = _head(path)
        if len(head) > HEAD_BYTES:
            return Evidence(kind=STDERR_LINES, unit="lines")
        text = head.decode(errors="replace")
        shown = (clean(line.strip())[:MAX_CHARACTERS] for line in text.splitlines())
        lines.update(dict.fromkeys(line for line in shown if line))
    if not lines:
        return None
    note = "\n".join(lines) if len(lines) <= MAX_LINES else None
    return Evidence(kind=STDERR_LINES, value=float(len(lines)), unit="lines", note=note)


def _head(path: Path) -> bytes:
    try:
        if not path.is_file() or path.is_symlink():
            return b""
        with path.open("rb") as file:
            return file.read(HEAD_BYTES + 1)
    except OSError:
        return b""
