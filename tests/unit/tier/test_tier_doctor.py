"""Findings of ``assay tier doctor`` from the output of the probe."""

from __future__ import annotations

from pathlib import Path as File

import pytest

from assay.errors import NotPossibleError
from assay.tier.doctor import Finding, advisor_finding, findings, usable
from assay.tier.probe import (
    AddressSpace,
    AdvisorSupport,
    IoUring,
    PathProbe,
    Probe,
    Userfaultfd,
    probe,
)

GOOD = Userfaultfd(in_kernel=True, move=True, poison=True)
FAST = PathProbe(
    path="/d", free_bytes=1e9, read_bytes_per_s=2e9, write_bytes_per_s=1e9, latency_s=1e-4
)


def probed(
    faults: Userfaultfd = GOOD, io_uring: IoUring | None = None, *paths: PathProbe
) -> tuple[Finding, ...]:
    """Return the findings; `usable` must agree with them."""
    told = Probe(
        userfaultfd=faults, io_uring=io_uring or IoUring(), advice=AdvisorSupport(), paths=paths
    )
    found = findings(told)
    assert usable(told) == (not any(one.fatal for one in found))
    return found


def test_complete_machine_has_no_findings() -> None:
    assert probed() == probed(GOOD, None, FAST) == ()


@pytest.mark.parametrize(
    ("faults", "problem", "remedy"),
    [
        (
            Userfaultfd(problem="Operation not permitted"),
            "userfaultfd is not available (Operation",
            "sandbox",
        ),
        (Userfaultfd(move=True, poison=True), "within system calls", "/dev/userfaultfd"),
        (Userfaultfd(in_kernel=True, poison=True), "neither moving pages", "6.8"),
    ],
)
def test_each_missing_feature_is_reported(faults: Userfaultfd, problem: str, remedy: str) -> None:
    (found,) = probed(faults)
    assert problem in found.problem and remedy in found.remedy and found.fatal


@pytest.mark.parametrize(
    ("faults", "problem", "remedy"),
    [
        (Userfaultfd(in_kernel=True, copy=True, poison=True), "they are copied", "6.8"),
        (Userfaultfd(in_kernel=True, move=True), "cannot mark lost pages", "6.6"),
    ],
)
def test_optional_feature_of_newer_kernel_is_a_note(
    faults: Userfaultfd, problem: str, remedy: str
) -> None:
    (found,) = probed(faults)
    assert problem in found.problem and remedy in found.remedy and not found.fatal


def test_address_space_limit_is_reported() -> None:
    lack = AddressSpace(
        problem="4096 GiB of address space are not available (ulimit -v): raise the limit"
    )
    probe = Probe(userfaultfd=GOOD, io_uring=IoUring(), advice=AdvisorSupport(), addresses=lack)
    (found,) = findings(probe)
    assert found.problem == "4096 GiB of address space are not available (ulimit -v)"
    assert found.remedy == "Raise the limit."
    assert not usable(probe)


def test_missing_features_of_old_kernel_are_combined() -> None:
    assert [one.fatal for one in probed(Userfaultfd())] == [True, True, False]


def test_missing_io_uring_is_a_note() -> None:
    (found,) = probed(GOOD, IoUring(problem="Operation not permitted"))
    assert not found.fatal
    assert "io_uring is not available (Operation not permitted)" in found.problem


@pytest.mark.parametrize(
    ("problem", "cause", "remedy"),
    [
        (
            "the path /x is on tmpfs, that is, in memory: use a directory on a disk",
            "the path /x is on tmpfs, that is, in memory",
            "Use a directory on a disk.",
        ),
        (
            "the path /a: b can only be read: name another",
            "the path /a: b can only be read",
            "Name another.",
        ),
        (
            "room for the measurement: No space left on device",
            "the path /x cannot be measured (room for the measurement: No space left on device)",
            "Specify another directory, or free 16 MiB there.",
        ),
        (
            "reading",
            "the path /x cannot be measured (reading)",
            "Specify another directory, or free 16 MiB there.",
        ),
    ],
)
def test_unusable_path_has_cause_and_remedy(problem: str, cause: str, remedy: str) -> None:
    (found,) = probed(GOOD, None, FAST, PathProbe(path="/x", problem=problem))
    assert found == Finding(problem=cause, remedy=remedy, fatal=True)


def test_unusable_swap_has_cause_and_remedy() -> None:
    words = "swap accepts no memory: enlarge it (/proc/swaps), or raise memory.swap.max"
    told = Probe(userfaultfd=GOOD, io_uring=IoUring(), advice=AdvisorSupport(problem=words))
    found = advisor_finding(told)
    assert found == Finding(
        problem="swap accepts no memory",
        remedy="Enlarge it (/proc/swaps), or raise memory.swap.max.",
    )
    assert usable(told) and not findings(told)
    assert (
        advisor_finding(Probe(userfaultfd=GOOD, io_uring=IoUring(), advice=AdvisorSupport()))
        is None
    )


def test_findings_are_sorted_by_severity() -> None:
    bad = PathProbe(path="/x", problem="the path /x is read-only: name another")
    found = probed(Userfaultfd(in_kernel=True, poison=True), IoUring(problem="none"), bad)
    assert [one.fatal for one in found] == [True, True, False]
    assert "neither moving" in found[0].problem and "/x" in found[1].problem


def answering(folder: File, text: str) -> dict[str, str]:
    """Return an environment whose probe runs these shell lines."""
    program = folder / "probe"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return {"ASSAY_TIER_PROBE": str(program)}


def test_probe_output_is_parsed(tmp_path: File) -> None:
    document = (
        '{"schema":2,"userfaultfd":{"in_kernel":true,"move":true,"poison":true},"io_uring":{},'
        '"advice":{},"paths":[{"path":"%s","free_bytes":5e9,"new_key":1}]}'
    )
    env = answering(tmp_path, f"printf '{document}' \"$*\"")
    found = probe(env, "/a,/b")
    assert found.userfaultfd == GOOD
    assert found.paths == (
        PathProbe(path="--path /a,/b --bytes 268435456 --order forward", free_bytes=5e9),
    )
    assert probe(env).paths == (PathProbe(path="", free_bytes=5e9),)


def test_failing_probe_reports_reason(tmp_path: File) -> None:
    env = answering(tmp_path, "echo 'no memory' >&2; exit 1")
    with pytest.raises(NotPossibleError, match=r"The probe of the tier failed: no memory\."):
        probe(env)


def test_missing_probe_is_reported(tmp_path: File) -> None:
    with pytest.raises(NotPossibleError, match="assay-tier-probe is missing"):
        probe({"ASSAY_EXEC": str(tmp_path / "assay-exec")})
