"""``assay machine check``: comparison of this host with a profile."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from assay.cli.arguments.common import CommonOptions, common_options
from assay.cli.arguments.machine import check_request
from assay.cli.machine.partition_warning import warn_of_partitions
from assay.cli.machine.profile_file import read_profile
from assay.cli.machine.roots import root_of
from assay.cli.parsing.parser import Parsed
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of
from assay.errors import InvalidInputError
from assay.machine.checks import (
    Finding,
    Host,
    Profile,
    Right,
    Status,
    UnassessedCheck,
    examine,
    read_unassessed,
    sample_interval,
)
from assay.machine.remembered_root import remembered
from assay.machine.root import Root
from assay.units import show_count
from assay.untrusted import clean

FAILED = 1
WIDTH = 80
"""Width of output that does not go to a terminal, in columns; people read it, not programs."""
INDENT = " " * 9


def run(parsed: Parsed) -> int:
    """Run the checks; return 1 if one failed.

    Raises:
        InvalidInputError: an unknown profile, or no recorded machine at ``--root``.
        NotPossibleError: the recorded machine cannot be read.
    """
    request, options = check_request(parsed), common_options(parsed)
    profile = read_profile(request.profile)
    if not request.root and not options.quiet:
        warn_of_partitions()
    with _root(request.root) as root:
        interval = sample_interval(root) if root.live else None
        with remembered(root) as once:
            host = Host(once, interval)
            findings, others = examine(host, profile), read_unassessed(host, profile)
    if options.json:
        print_json(_document(profile, findings, others))
    else:
        width = min(width_of(sys.stdout) or WIDTH, 120)
        lines = _lines(profile, findings, others, options, width)
        print("\n".join(line for text in lines for line in _wrapped(text, width)))
    return FAILED if any(found.status is Status.FAIL for found in findings) else 0


def _root(name: str | None) -> AbstractContextManager[Root]:
    """Open the recorded machine, or this one, which needs no clean-up after a signal.

    Raises:
        InvalidInputError: the path does not exist.
    """
    if name is None:
        return nullcontext(Root())
    if not Path(name).exists():
        raise InvalidInputError(
            f"--root {name}: no such folder or archive.", "Name a recorded machine."
        )
    return root_of(name)


def _document(
    profile: Profile, findings: Sequence[Finding], others: Sequence[UnassessedCheck]
) -> dict[str, Any]:
    return {
        "profile": profile.name,
        "checks": [_check(found, profile) for found in findings],
        "unchecked": [
            {"id": one.id, "evidence": one.evidence, "reason": one.reason} for one in others
        ],
    }


def _check(found: Finding, profile: Profile) -> dict[str, str]:
    remedy, demand = found.remedy, profile.demands[found.id]
    document = {
        "id": found.id,
        "status": str(found.status),
        "evidence": found.evidence,
        "remedy": remedy.text if remedy else None,
        "note": remedy.note if remedy else None,
        "right": str(remedy.right) if remedy else None,
        "setting": remedy.setting if remedy else None,
        "reason": demand.reason or None,
        "source": demand.source or None,
    }
    return {key: value for key, value in document.items() if value is not None}


def _lines(
    profile: Profile,
    findings: Sequence[Finding],
    others: Sequence[UnassessedCheck],
    options: CommonOptions,
    width: int,
) -> Iterable[str]:
    """Yield the checks that are not ok with their remedies, and the number of all checks."""
    shown = [f for f in findings if f.status is not Status.OK or options.verbose]
    if options.quiet:
        shown = [f for f in shown if f.status in (Status.FAIL, Status.WARN)]
    listed = [found.id for found in shown]
    listed += [one.id for one in others] if options.verbose else []
    longest = max(map(len, listed), default=0)
    for found in shown:
        yield f"{found.status:8} {found.id:{longest}}  {clean(found.evidence)}"
        yield from _remedy(found, width)
        if options.verbose:
            yield from _reason_lines(profile, found)
    if options.verbose:
        for one in others:
            yield f"{'-':8} {one.id:{longest}}  {clean(one.evidence)}"
            yield f"{INDENT}not required: {clean(one.reason)}"
    if shown:
        yield ""
    yield from _summary(profile, findings, others, verbose=options.verbose)


def _remedy(found: Finding, width: int) -> Iterable[str]:
    """Yield the remedy; a command is wrapped so that a shell accepts a copy of it."""
    remedy = found.remedy
    if remedy is None:
        return
    start = "as root: " if remedy.command and remedy.right is Right.ROOT else ""
    text = f"{INDENT}{start}{clean(remedy.text)}"
    yield from _continued(text, width) if remedy.command else (text,)
    if remedy.note:
        yield f"{INDENT}{clean(remedy.note)}"
    if remedy.setting:
        yield f"{INDENT}as a setting: {clean(remedy.setting)}"


def _reason_lines(profile: Profile, found: Finding) -> Iterable[str]:
    demand = profile.demands[found.id]
    source = f" ({demand.source})" if demand.source else ""
    if demand.reason:
        yield f"{INDENT}why: {clean(demand.reason)}{clean(source)}"


def _summary(
    profile: Profile,
    findings: Sequence[Finding],
    others: Sequence[UnassessedCheck],
    *,
    verbose: bool,
) -> Iterable[str]:
    counted = Counter(found.status for found in findings)
    counts = ", ".join(f"{counted[status]} {status}" for status in Status)
    yield f"profile {clean(profile.name)}: {counts}"
    if others and not verbose:
        yield f"{show_count(len(others), 'more check')} without a requirement: -v shows them"
    yield "`assay doctor` shows which settings this host grants to you."


def _wrapped(line: str, width: int) -> list[str]:
    """Return a line wrapped at spaces, with indented continuation lines."""
    if len(line) <= width or line.endswith("\\"):
        return [line]
    deeper = INDENT + "  " * line.startswith(INDENT)
    return textwrap.wrap(
        line,
        width,
        subsequent_indent=deeper,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _continued(command: str, width: int) -> list[str]:
    """Return a command wrapped for a shell, with a backslash at the end of each continued line."""
    *lines, last = _wrapped(command, width - 2)
    return [*(f"{line} \\" for line in lines), last]
