"""Why launches gave nothing, in words."""

from __future__ import annotations

import msgspec
from simulated_studies import compare, factors

from assay.records import Budget, Evidence, Outcome
from assay.search.failure import BY_HAND, Failure, failure_of, last_failure, why_failed
from assay.search.testing import Simulated

STUDY = compare(Simulated(takes_s=factors(nice={1: 0.8})), Budget(launches=30), {}, {"nice": 1})
GOOD = STUDY.samples[0]


def test_what_became_of_a_launch() -> None:
    failed = msgspec.structs.replace(GOOD, outcome=Outcome.FAILED, message="exit status 1")
    assert why_failed(failed) == "exit status 1"
    stopped = msgspec.structs.replace(GOOD, outcome=Outcome.LIMIT, limit="memory")
    assert why_failed(stopped) == "the memory limit"
    late = msgspec.structs.replace(GOOD, outcome=Outcome.TIMED_OUT, message=None)
    assert why_failed(late) == "timed out"


def test_a_status_that_may_be_a_good_end_names_how_to_accept_it() -> None:
    """Take diff, whose status is 1 where it finds a difference."""
    for status, told in ((1, True), (2, True), (0, False), (126, False), (139, False)):
        failed = msgspec.structs.replace(GOOD, outcome=Outcome.FAILED, exit_status=status)
        assert (f"|| test $? -eq {status}'" in failure_of(failed).remedy) == told


def test_the_newest_launch_that_gave_nothing_tells_why() -> None:
    failed = [
        msgspec.structs.replace(
            GOOD, outcome=Outcome.FAILED, message=f"exit status {code}", started_at=float(code)
        )
        for code in (2, 1)
    ]
    later = msgspec.structs.replace(GOOD, started_at=9.0)
    assert last_failure(STUDY.spec, [later, *failed]) == Failure("exit status 2")
    assert last_failure(STUDY.spec, [later]) is None


def test_a_launch_without_the_figure_that_decides_gave_nothing() -> None:
    mute = msgspec.structs.replace(GOOD, metrics={}, absent={"wall_s": "no match"})
    assert last_failure(STUDY.spec, [mute]) == Failure("wall_s cannot be read: no match")


def test_what_was_not_built_is_not_to_be_run_but_built() -> None:
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
    assert found.remedy.startswith("Correct build.opt=-Onever, or --build")
    assert "--timeout" in BY_HAND and "--timeout" not in found.remedy
