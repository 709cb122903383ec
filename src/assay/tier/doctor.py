"""Findings: support for the memory tier on this machine, and remedies."""

from __future__ import annotations

from collections.abc import Iterator

from assay.records.codec import Record
from assay.tier.probe import Probe, Userfaultfd


class Finding(Record, frozen=True, kw_only=True):
    """Problem with its remedy.

    Attributes:
        problem: description of the problem.
        remedy: next step.
        fatal: true if the problem prevents the use of the pager.
    """

    problem: str
    remedy: str
    fatal: bool = True


def findings(probe: Probe) -> tuple[Finding, ...]:
    """Return all problems of this machine, fatal ones first."""
    faults = probe.userfaultfd
    found = []
    if faults.problem is not None:
        found.append(
            Finding(
                problem=f"userfaultfd is not available ({faults.problem})",
                remedy="Use a kernel with CONFIG_USERFAULTFD, and a sandbox that allows the call.",
            )
        )
    elif not faults.in_kernel:
        found.append(
            Finding(
                problem="this user cannot handle page faults within system calls, so that read(2)"
                " into evicted memory would fail",
                remedy="Run as root, grant your group access to /dev/userfaultfd, or set"
                " vm.unprivileged_userfaultfd=1 (sysctl).",
            )
        )
    found += [] if faults.problem is not None else _of_older_kernels(faults)
    if probe.addresses.problem is not None:
        found.append(_of_words(probe.addresses.problem))
    if probe.io_uring.problem is not None:
        found.append(
            Finding(
                problem=f"io_uring is not available ({probe.io_uring.problem})",
                remedy="Set kernel.io_uring_disabled=0; until then threads perform the transfers.",
                fatal=False,
            )
        )
    found += [
        _of_path(probed.path, probed.problem)
        for probed in probe.paths
        if probed.problem is not None
    ]
    return tuple(sorted(found, key=lambda finding: not finding.fatal))


def _of_older_kernels(faults: Userfaultfd) -> Iterator[Finding]:
    if not faults.move and faults.copy:
        yield Finding(
            problem="the kernel cannot move pages (UFFDIO_MOVE), so they are copied, and memory"
            " that the kernel writes asynchronously (io_uring, a GPU) must not be in the tier",
            remedy="Use Linux 6.8 or newer.",
            fatal=False,
        )
    elif not faults.move:
        yield Finding(
            problem="the kernel supports neither moving pages (UFFDIO_MOVE) nor remapping them"
            " without unmapping (MREMAP_DONTUNMAP)",
            remedy="Use Linux 6.8 or newer.",
        )
    if not faults.poison:
        yield Finding(
            problem="the kernel cannot mark lost pages (UFFDIO_POISON), so a program is terminated"
            " when its backing store cannot be read",
            remedy="Use Linux 6.6 or newer.",
            fatal=False,
        )


def usable(probe: Probe) -> bool:
    """Return whether the pager is usable with every specified path."""
    return not any(finding.fatal for finding in findings(probe))


def advisor_finding(probe: Probe) -> Finding | None:
    """Return the problem of the advisor; ``None`` if it is usable."""
    return None if probe.advice.problem is None else _of_words(probe.advice.problem)


def _of_words(problem: str) -> Finding:
    """Return a finding from a message of the library, whose last part is the remedy."""
    cause, _, step = problem.rpartition(": ")
    return Finding(problem=cause, remedy=f"{step[:1].upper()}{step[1:]}.")


def _of_path(path: str, problem: str) -> Finding:
    """Return a finding from a message of the kernel, which has no remedy."""
    if problem.startswith("the path "):
        return _of_words(problem)
    return Finding(
        problem=f"the path {path} cannot be measured ({problem})",
        remedy="Specify another directory, or free 16 MiB there.",
    )
