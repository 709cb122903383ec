"""Error reports of a program that exits with status 0."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from assay.executors.evidence.same_work import ELLIPSIS, ComparableForm
from assay.records import Evidence, Output
from assay.records.sample import ERRORS
from assay.records.sketch import OWN_VALUE
from assay.untrusted import clean

MAX_LINES = 4
"""Largest number of kept lines of a launch."""
MAX_CHARACTERS = 80
"""Largest number of kept characters of a line."""
DIGEST_DIGITS = 16
"""Number of kept hexadecimal digits of a digest."""
_ERROR = re.compile(
    r"""
    ^\W*(?:\S+:\s+)?usage:(?!\s*\d)
    | \b(?:unknown|unrecogni[sz]ed|invalid|illegal|unsupported|ambiguous|missing|unexpected|bad)
      \s+(?:[\w-]+\s+){0,2}
      (?:option|argument|flag|switch|command|parameter|value|mode|operand|number|name|key|conf
        |configuration|input|file|format|syntax)(?:s(?!\s*[:=]\s*\d))?\b
    | \b(?:cannot|can't|could\ not|couldn't|unable\ to|failed\ to)\s+
      (?:open|read|write|find|load|access|create|stat|allocate|connect|execute|parse|map|start)\b
    | \bno\s+such\s+\w+ | \bpermission\s+denied\b | \b(?:command|file)\s+not\s+found\b
    | \b(?:try|see)\s+\W?\S+\s+--?h(?:elp)?\b
    | \bsegmentation\s+fault\b | \bcore\s+dumped\b | ^Traceback\b
    | ^(?:[^\s:]+:\s*)*\[?(?:fatal(?:\s+error)?|(?:\w+\.)*\w*error|\w*exception|panic)\]?
      \s*:(?!\s*[-+.\d]|\s*$)
    | \b(?-i:ERROR|FATAL|CRITICAL|FAILED|FAILURE)\b(?!\W*\d)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_HARMLESS = re.compile(
    r"\b(?:warn\w*|notice|note|info|debug|hint|deprecat\w*|ignor\w*|fall(?:ing|s)?\ ?back|retry\w*"
    r"|environment\ variable|using\ (?:the\ )?default)\b",
    re.IGNORECASE,
)


def error_evidence(outputs: Iterable[Output], form: ComparableForm) -> Evidence | None:
    """Return the error reports of a launch as evidence; ``None`` without any.

    Args:
        outputs: streams of the launch, of which the kept ends are read.
        form: normalisation of the lines.

    Returns:
        The number of distinct lines, and a note with the first ones. Each begins with a digest of
        the line without digits.
    """
    found: dict[str, str] = {}
    for output in outputs:
        for line in form.lines_of(_lines_with_errors(output)):
            text = line.replace(OWN_VALUE, ELLIPSIS)
            shape = " ".join(re.sub(rf"[\d{ELLIPSIS}]+", "", text).split())
            digest = hashlib.sha256(shape.encode("utf-8", "replace")).hexdigest()[:DIGEST_DIGITS]
            found.setdefault(digest, clean(text)[:MAX_CHARACTERS])
    if not found:
        return None
    kept = list(found.items())[:MAX_LINES]
    note = "\n".join(f"{digest} {line}" for digest, line in kept)
    return Evidence(kind=ERRORS, value=float(len(found)), unit="lines", note=note)


def reports_error(line: str) -> bool:
    """Return whether a line reports that a program could not do its work."""
    return _ERROR.search(line) is not None and _HARMLESS.search(line) is None


def _lines_with_errors(output: Output) -> bytes:
    """Return the error reports in the kept ends of an output."""
    ends = [output.head + output.tail]
    if not output.complete:
        ends = [output.head.rpartition(b"\n")[0], output.tail.partition(b"\n")[2]]
    lines = (line for end in ends for line in end.splitlines())
    return b"\n".join(line for line in lines if reports_error(line.decode("utf-8", "replace")))
