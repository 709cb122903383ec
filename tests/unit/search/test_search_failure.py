"""Reasons of failed launches."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from simulated_studies import compare, factors

from assay.records import Budget, Evidence, Limits, Outcome, Sample
from assay.search.conclusion.notes import loss_notes
from assay.search.races.race import ending_without_success
from assay.study.failures import FailedLaunches
from assay.testing.search_contracts import SimulatedProgram
from assay.wording.failure import RUN_BY_HAND, Failure, failure_of, failure_text, last_failure

STUDY = compare(
    SimulatedProgram(takes_s=factors(nice={1: 0.8})), Budget(launches=30), {}, {"nice": 1}
)
GOOD = STUDY.samples[0]
WORKLOAD = STUDY.spec.workload


def test_failed_launch_has_reason() -> None:
    failed = msgspec.structs.replace(GOOD, outcome=Outcome.FAILED, message="exit status 1")
    assert failure_text(failed, WORKLOAD) == "exit status 1"
    late = msgspec.structs.replace(GOOD, outcome=Outcome.TIMED_OUT, message=None)
    late = msgspec.structs.replace(late, launch=msgspec.structs.replace(late.launch, timeout_s=2.0))
    assert failure_text(late, WORKLOAD) == "did not end within 2.00 s"


@pytest.mark.parametrize(
    ("kind", "limits", "told"),
    [
        ("memory", Limits(memory_bytes=100 << 20), "memory limit of 100 MiB (--limit mem)"),
        ("processes", Limits(processes=64), "processes limit of 64 processes (--limit procs)"),
        ("cpu", Limits(cpu_s=30.0), "CPU time limit of 30.0 s (--limit cpu)"),
        ("output", Limits(output_bytes=1 << 20), "output limit of 1.00 MiB (--limit output)"),
        ("memory", Limits(), "memory limit"),
    ],
)
def test_limit_is_reported_with_value(kind: str, limits: Limits, told: str) -> None:
    stopped = msgspec.structs.replace(GOOD, outcome=Outcome.LIMIT, limit=kind)
    workload = msgspec.structs.replace(WORKLOAD, limits=limits)
    assert failure_text(stopped, workload) == f"stopped at the {told}"


def failed_of(arm: str, at: float, **changes: Any) -> Sample:
    launch = msgspec.structs.replace(GOOD.launch, arm=arm)
    changes = {"outcome": Outcome.FAILED, "message": "exit status 1"} | changes
    return msgspec.structs.replace(GOOD, launch=launch, started_at=at, **changes)


def test_each_arm_has_its_own_reason() -> None:
    big = failed_of("big", 1.0, outcome=Outcome.LIMIT, limit="memory", message=None)
    spec = msgspec.structs.replace(
        STUDY.spec,
        workload=msgspec.structs.replace(WORKLOAD, limits=Limits(memory_bytes=50 << 20)),
    )
    failures = FailedLaunches(spec, [big, failed_of("missing", 2.0)])
    told, _ = failures.explain(["big"])
    assert told == " The last launch: stopped at the memory limit of 50.0 MiB (--limit mem)."
    both, _ = failures.explain(["big", "missing"])
    assert both.splitlines()[1:] == [
        "  big: stopped at the memory limit of 50.0 MiB (--limit mem).",
        "  missing: exit status 1.",
    ]
    assert failures.explain([])[0] == " The last launch: exit status 1."


def test_next_steps_of_several_arms_appear_once_by_name() -> None:
    failures = FailedLaunches(
        STUDY.spec,
        [
            failed_of("diff a b", 1.0, exit_status=1),
            failed_of("grep x", 2.0, exit_status=1),
            failed_of("other", 3.0, exit_status=7),
        ],
    )
    _, remedy = failures.explain(["diff a b", "grep x", "other"])
    assert remedy.count(RUN_BY_HAND) == 1
    assert "If status 1 means success of 'diff a b' and 'grep x'," in remedy
    assert "If status 7 means success of 'other'," in remedy


@pytest.mark.parametrize(
    ("limit", "option"), [("memory", "mem"), ("cpu", "cpu"), ("processes", "procs")]
)
def test_limit_is_raised_by_its_option(limit: str, option: str) -> None:
    stopped = msgspec.structs.replace(GOOD, outcome=Outcome.LIMIT, limit=limit, message=None)
    assert failure_of(stopped, WORKLOAD).remedy.startswith(f"Raise --limit {option}=")


def test_last_failure_of_a_resumed_study_is_quoted() -> None:
    failures = FailedLaunches(
        STUDY.spec, [failed_of("a", 1.0), failed_of("b", 2.0, message="b broke")]
    )
    failures.add(failed_of("a", 3.0, message="a broke"))
    assert failures.explain(())[0] == " The last launch: a broke."


def test_note_states_reason_of_each_arm() -> None:
    samples = [
        failed_of("big", 1.0, outcome=Outcome.LIMIT, limit="memory", message=None),
        failed_of("missing", 2.0),
        failed_of("missing", 3.0, message="exit status 2"),
    ]
    (note,) = loss_notes(WORKLOAD, samples)
    assert note == (
        "3 of 3 launches failed (3 during warm-up): 1 of 'big' (stopped at the memory limit), "
        "2 of 'missing' (exit status 2, and 1 other reason)"
    )


def test_search_with_failed_launches_is_not_reported_as_timeout() -> None:
    late = failed_of("default", 1.0, outcome=Outcome.TIMED_OUT, message=None)
    assert ending_without_success([late]).message.startswith("Every launch timed out")
    found = ending_without_success([late, failed_of("b", 2.0)])
    assert found.message.startswith("No launch ended well")
    assert found.arms == ("default", "b")


def test_exit_status_that_may_mean_success_names_option_to_accept_it() -> None:
    """Take diff, whose status is 1 where it finds a difference."""
    for status, told in ((1, True), (2, True), (0, False), (126, False), (139, False)):
        failed = msgspec.structs.replace(GOOD, outcome=Outcome.FAILED, exit_status=status)
        assert (f"|| test $? -eq {status}'" in failure_of(failed, WORKLOAD).remedy) == told


def test_newest_failed_launch_gives_the_reason() -> None:
    failed = [
        msgspec.structs.replace(
            GOOD, outcome=Outcome.FAILED, message=f"exit status {code}", started_at=float(code)
        )
        for code in (2, 1)
    ]
    later = msgspec.structs.replace(GOOD, started_at=9.0)
    assert last_failure(STUDY.spec, [later, *failed]) == Failure("exit status 2")
    assert last_failure(STUDY.spec, [later]) is None


def test_launch_without_objective_counts_as_failed() -> None:
    mute = msgspec.structs.replace(GOOD, metrics={}, unavailable={"wall_s": "no match"})
    assert last_failure(STUDY.spec, [mute]) == Failure("wall_s cannot be read: no match")


def test_failed_build_suggests_building_by_hand() -> None:
    reason = "the build ended with status 1"
    unbuilt = msgspec.structs.replace(
        GOOD,
        outcome=Outcome.FAILED,
        message=reason,
        evidence=(Evidence(kind="build", note=reason),),
        launch=msgspec.structs.replace(GOOD.launch, arm="build.opt=-Onever"),
    )
    found = last_failure(STUDY.spec, [unbuilt])
    assert found is not None and found.reason == reason
    assert found.remedy.startswith("Correct build.opt=-Onever or --build")
    assert "--timeout" in RUN_BY_HAND and "--timeout" not in found.remedy
