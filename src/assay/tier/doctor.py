"""Whether programs can have storage as memory here, and what would change it."""

from __future__ import annotations

from collections.abc import Iterator

from assay.records.codec import Record
from assay.tier.probe import Probe, Userfaultfd


class Finding(Record, frozen=True, kw_only=True):
    """What stands in the way, and what to do.

    ``fatal``: the pager cannot be used with it.
    """

    problem: str
    remedy: str
    fatal: bool = True


def findings(probe: Probe) -> tuple[Finding, ...]:
    """All that is wrong with this machine, the gravest first."""
    faults = probe.userfaultfd
    found = []
    if faults.problem is not None:
        found.append(
            Finding(
                problem=f"the kernel gives no userfaultfd ({faults.problem})",
                remedy="Use a kernel with CONFIG_USERFAULTFD, and a sandbox that allows the call.",
            )
        )
    elif not faults.in_kernel:
        found.append(
            Finding(
                problem="faults within system calls are not told to this user, and read(2) into"
                " memory that is on storage would fail",
                remedy="Run as root, give your group /dev/userfaultfd, or set"
                " vm.unprivileged_userfaultfd=1 (sysctl).",
            )
        )
    found += [] if faults.problem is not None else _of_older_kernels(faults)
    if probe.addresses.problem is not None:
        found.append(_of_words(probe.addresses.problem))
    if probe.io_uring.problem is not None:
        found.append(
            Finding(
                problem=f"there is no io_uring ({probe.io_uring.problem})",
                remedy="Set kernel.io_uring_disabled=0; threads do its work meanwhile.",
                fatal=False,
            )
        )
    found += [_of_path(one.path, one.problem) for one in probe.paths if one.problem is not None]
    return tuple(sorted(found, key=lambda one: not one.fatal))


def _of_older_kernels(faults: Userfaultfd) -> Iterator[Finding]:
    if not faults.move and faults.copy:
        yield Finding(
            problem="the kernel cannot move pages (UFFDIO_MOVE), so they are copied, and memory"
            " that the kernel fills by itself (io_uring, a GPU) while the program goes on must not"
            " be in the tier",
            remedy="Use Linux 6.8 or newer.",
            fatal=False,
        )
    elif not faults.move:
        yield Finding(
            problem="the kernel can neither move pages (UFFDIO_MOVE) nor let them leave a place"
            " that stays (MREMAP_DONTUNMAP)",
            remedy="Use Linux 6.8 or newer.",
        )
    if not faults.poison:
        yield Finding(
            problem="the kernel cannot mark lost pages (UFFDIO_POISON), so a program ends at once"
            " where storage cannot be read",
            remedy="Use Linux 6.6 or newer.",
            fatal=False,
        )


def usable(probe: Probe) -> bool:
    """Whether a program can be run with the pager, with every path that was named."""
    return not any(one.fatal for one in findings(probe))


def advisor_finding(probe: Probe) -> Finding | None:
    """Why swap cannot be advised either; absent where it can."""
    return None if probe.advice.problem is None else _of_words(probe.advice.problem)


def _of_words(problem: str) -> Finding:
    """The library's own words have the next step behind the last colon."""
    cause, _, step = problem.rpartition(": ")
    return Finding(problem=cause, remedy=f"{step[:1].upper()}{step[1:]}.")


def _of_path(path: str, problem: str) -> Finding:
    """The kernel's words have no next step."""
    if problem.startswith("the path "):
        return _of_words(problem)
    return Finding(
        problem=f"the path {path} cannot be measured ({problem})",
        remedy="Name another directory, or make room for 16 MiB there.",
    )
