"""Sessions: trials within the user's own process, without launches."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trial_sessions import SPACE, run, samples_of, status_of

import assay
from assay.records import Status


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "studies.db"))


# --- trials ---------------------------------------------------------------------------------------


def test_loop_deals_trials_until_the_budget_is_spent() -> None:
    session = assay.Session(SPACE, runs=10)
    assert run(session) == 10
    assert session.ending is not None
    assert status_of(session) is Status.DONE
    assert [sample.metrics["sps"] for sample in samples_of(session)] == [100.0] * 10


def test_budget_counts_the_time_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.monotonic()
    monkeypatch.setattr("assay.study.budget_account.time.monotonic", lambda: now)
    session = assay.Session(SPACE, budget="60s")
    count = 0
    for trial in session:
        now += 10.0
        trial.report(sps=1.0)
        count += 1
    assert 4 <= count <= 7  # the last block begins only if it fits


def test_trial_has_values_by_name_with_defaults() -> None:
    space = {"batch": [32, 64], "amp": [False, True], "lr": assay.Range(0.001, 0.1, log=True)}
    with assay.Session(space, default={"batch": 64, "lr": 0.01}, runs=9) as session:
        trial = session.ask()
        assert trial is not None
        assert dict(trial) == {"batch": 64, "amp": False, "lr": 0.01}
        assert trial.is_default
        assert trial.is_warm_up


def test_every_dealt_value_is_in_the_space() -> None:
    space = {"n": assay.Range(1, 64, log=True, base=2), "x": assay.Range(0.5, 2.0)}
    session = assay.Session(space, runs=30)
    for trial in session:
        assert trial["n"] in {1, 2, 4, 8, 16, 32, 64}
        assert 0.5 <= float(trial["x"]) <= 2.0
        trial.report(sps=1.0 + float(trial["x"]))


def test_constraints_hold_in_every_trial() -> None:
    space = {"a": [1, 2, 3], "b": [1, 2, 3]}
    session = assay.Session(space, constraints="a <= b", runs=20)
    for trial in session:
        assert trial["a"] <= trial["b"]
        trial.report(sps=1.0)


def test_ask_and_tell_without_a_loop() -> None:
    with assay.Session(SPACE, runs=8) as session:
        while (trial := session.ask()) is not None:
            session.tell(trial, sps=1.0)
    assert len(samples_of(session)) == 8


# --- values ---------------------------------------------------------------------------------------


def test_value_of_several_reports_is_their_mean() -> None:
    session = assay.Session(SPACE, runs=8)
    for trial in session:
        for step in (0, 10, 30):
            trial.report(step=step, sps=1.0 + step)
    sample = samples_of(session)[0]
    assert sample.metrics["sps"] == pytest.approx(1.0 + 40.0 / 3.0)
    assert sample.series["sps"].steps == (0.0, 10.0, 30.0)


def test_described_progress_leaves_the_warm_up_out(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("assay.api.trials.state.time.monotonic", lambda: now)
    session = assay.Session(SPACE, progress=assay.Progress("sps", goal="higher"), runs=8)
    for trial in session:
        for step in range(400):
            rate = 50.0 if step < 100 else 100.0
            now += 1.0 / rate
            trial.report(step=step, sps=rate)
    sample = samples_of(session)[0]
    assert sample.metrics["sps"] == pytest.approx(100.0, rel=0.003)
    assert sample.steady["sps"].begin_step >= 90


def test_too_few_reports_of_described_progress_are_a_failure() -> None:
    session = assay.Session(SPACE, progress=assay.Progress("sps"), runs=8)
    trial = session.ask()
    assert trial is not None
    trial.report(sps=1.0)
    session.ask()
    session.close()
    (sample,) = samples_of(session)
    assert sample.message == "sps: the program reported too few values: 1, of at least 3"


def test_further_metrics_are_kept_beside_the_objective() -> None:
    session = assay.Session(SPACE, runs=8)
    for trial in session:
        trial.report(sps=10.0)
        trial.report(loss=0.5)
    assert session.objective == "sps"
    assert samples_of(session)[0].metrics == {"sps": 10.0, "loss": 0.5}


@pytest.mark.parametrize(
    ("name", "goal"),
    [
        ("sps", "higher"),
        ("step_ms", "lower"),
        ("elapsed", "lower"),
        ("throughput", "higher"),
        ("tokens_per_s", "higher"),
        ("samples_s", "higher"),
    ],
)
def test_goal_follows_from_a_clear_name(name: str, goal: str) -> None:
    session = assay.Session(SPACE, runs=8)
    for trial in session:
        trial.report(**{name: 1.0})  # type: ignore[arg-type]
    assert session.result.spec.workload.objective.goal == goal


def test_unclear_goal_is_refused_at_the_first_report() -> None:
    with assay.Session(SPACE, runs=8) as session:
        trial = session.ask()
        assert trial is not None
        with pytest.raises(assay.InvalidInputError, match="a higher or a lower score is better"):
            trial.report(score=1.0)


# --- failures -------------------------------------------------------------------------------------


def test_trial_without_a_report_is_a_failure_with_a_message() -> None:
    session = assay.Session(SPACE, runs=9)
    for trial in session:
        if trial.is_default:
            trial.report(sps=1.0)
    failed = [sample for sample in samples_of(session) if not sample.outcome.succeeded]
    assert failed
    assert {sample.message for sample in failed} == {"the trial ended without a report"}


def test_stated_failure_discards_reports_and_keeps_the_reason() -> None:
    with assay.Session(SPACE, runs=9) as session:
        trials = [session.ask(), session.ask()]
        assert session.id is None
        for trial in trials[1:]:
            assert trial is not None
            trial.report(sps=1.0)
            trial.fail("out of memory")
        trial = session.ask()
        assert trial is not None
        session.tell(trial, sps=1.0)
    messages = [sample.message for sample in samples_of(session)]
    assert messages == ["the trial ended without a report", "out of memory", None]


def test_default_that_always_fails_ends_with_its_reason() -> None:
    session = assay.Session(SPACE, runs=50)
    with pytest.raises(assay.WorkloadFailedError, match="Last failure: no GPU"):
        for trial in session:
            trial.fail("no GPU")
    assert session.id is None


def test_missing_objective_is_named() -> None:
    with assay.Session(SPACE, metric="sps", goal="higher", runs=9) as session:
        trial = session.ask()
        assert trial is not None
        session.tell(trial, loss=1.0)
    assert samples_of(session)[0].message == "the trial reported loss, but not sps"


# --- invalid input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: assay.Session(), "needs settings"),
        (lambda: assay.Session({}), "needs settings"),
        (lambda: assay.Session({"a b": [1]}), "Invalid name"),
        (lambda: assay.Session({"a": []}), "is empty"),
        (lambda: assay.Session({"a": 5}), "Give a list"),
        (lambda: assay.Session({"a": [1, 1]}), "twice"),
        (lambda: assay.Session({"a": [1, None]}), "invalid value None"),
        (lambda: assay.Session({"a": [1, math.nan]}), "invalid value nan"),
        (lambda: assay.Session({"a": [1, 2]}, default={"b": 1}), "unknown setting 'b'"),
        (lambda: assay.Session({"a": [1, 2]}, default={"a": 3}), "cannot be 3"),
        (lambda: assay.Session({"a": [1, 2]}, goal="up"), "Invalid goal"),
        (lambda: assay.Session({"a": [1, 2]}, budget="-3m"), "not a duration"),
        (lambda: assay.Session({"a": [1, 2]}, bugdet="3m"), "Did you mean budget"),
        (lambda: assay.Session({"a": [1, 2]}, constraints="b > 1"), "does not vary"),
        (lambda: assay.Session({"a": [1, 2]}, history=3), "read_study"),
        (lambda: assay.Session({"a": [1]}, progress=assay.Progress("x", "x=(.)")), "not from an"),
        (lambda: assay.Session({"a": {1, 2}}), "a: invalid domain {1, 2}.\n  Give a list"),
        (lambda: assay.Session({"a": [1, 2]}, metric="peak_bytes"), "assay measures peak_bytes"),
        (lambda: assay.Session({"a": [1, 2]}, metric="a b"), "Invalid name of a metric"),
        (lambda: assay.Session({"a": [1]}, progress=assay.Progress("wall_s")), "measures wall_s"),
        (lambda: assay.Session({"a": [1, 2]}, constraints={"a > 1"}), "invalid value {'a > 1'}"),
        (lambda: assay.Session(study=3), "study: invalid value 3"),  # type: ignore[arg-type]
    ],
)
def test_invalid_session_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(assay.InvalidInputError, match=message):
        make()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "has no value"),
        ({"sps": math.nan}, "nan is not a finite number"),
        ({"sps": math.inf}, "inf is not a finite number"),
        ({"sps": "fast"}, "is not a number"),
        ({"sps": None}, "is not a number"),
        ({"sps": True}, "is not a number"),
        ({"spd": 1.0}, "Did you mean sps"),
        ({"wall_s": 1.0}, "assay measures wall_s of each trial itself.\n.*such as own_wall_s"),
        ({"a b=": 1.0}, "Invalid name of a metric: 'a b='"),
        ({"step": 1, "sps": 1.0}, "Step 1 of sps does not follow step 5"),
    ],
)
def test_invalid_report_is_refused_and_changes_nothing(
    values: dict[str, Any], message: str
) -> None:
    with assay.Session(SPACE, runs=9) as session:
        first, second = session.ask(), None
        assert first is not None
        session.tell(first, sps=1.0)
        second = session.ask()
        assert second is not None
        second.report(step=5, sps=3.0)
        with pytest.raises(assay.InvalidInputError, match=message):
            second.report(**values)
        session.ask()
    assert samples_of(session)[1].metrics == {"sps": 3.0}


def test_trial_that_ended_takes_no_report() -> None:
    with assay.Session(SPACE, runs=9) as session:
        trial = session.ask()
        assert trial is not None
        session.tell(trial, sps=1.0)
        for again in (
            lambda: session.tell(trial, sps=1.0),
            lambda: session.tell(trial),
            lambda: trial.report(sps=1.0),
            lambda: trial.fail("late"),
        ):
            with pytest.raises(assay.InvalidInputError, match="Trial 0 has ended"):
                again()


def test_value_of_an_ended_trial_is_refused_with_its_reason() -> None:
    with assay.Session(SPACE, runs=9) as session:
        told = session.ask()
        assert told is not None
        session.tell(told, sps=1.0)
        for again in (
            lambda: session.tell(told, sps=2.0),
            lambda: told.report(sps=2.0),
            lambda: told.fail("late"),
        ):
            with pytest.raises(assay.InvalidInputError, match="its values were told"):
                again()
        open_ = session.ask()
        assert open_ is not None
    with pytest.raises(assay.InvalidInputError, match="its session is closed"):
        session.tell(open_, sps=2.0)
    assert [sample.metrics for sample in samples_of(session)] == [{"sps": 1.0}]


@pytest.mark.parametrize("reason", [True, False, 3])
def test_reason_of_a_failure_is_a_text(reason: Any) -> None:
    with assay.Session(SPACE, runs=9) as session:
        trial = session.ask()
        assert trial is not None
        with pytest.raises(assay.InvalidInputError, match="reason: invalid value"):
            session.tell(trial, failed=reason, sps=1.0)
        session.tell(trial, sps=1.0)
    assert samples_of(session)[0].message is None


def test_trial_of_another_session_is_refused() -> None:
    with assay.Session(SPACE, runs=9) as session:
        trial = session.ask()
    other = assay.Session(SPACE, runs=9)
    for foreign in (trial, None, {"batch": 64}, 3):
        with pytest.raises(assay.InvalidInputError, match="did not deal that trial"):
            other.tell(foreign, sps=1.0)  # type: ignore[arg-type]


def test_other_thread_is_refused() -> None:
    errors: list[str] = []

    def use(call: Callable[[], object]) -> None:
        try:
            call()
        except assay.NotPossibleError as error:
            errors.append(error.cause)

    with assay.Session(SPACE, runs=9) as session:
        trial = session.ask()
        assert trial is not None
        for call in (session.ask, lambda: trial.report(sps=1.0), lambda: trial.fail("x")):
            thread = threading.Thread(target=use, args=(call,))
            thread.start()
            thread.join()
    assert len(errors) == 3
    assert all("another thread" in error for error in errors)


def test_second_study_of_the_process_is_refused_meanwhile() -> None:
    with assay.Session(SPACE, runs=9) as session:
        session.ask()
        with pytest.raises(assay.NotPossibleError, match="Another study of this process"):
            assay.Session(SPACE).ask()
    with assay.Session(SPACE, runs=9) as session:
        assert session.ask() is not None


def test_session_that_is_left_early_says_so_far() -> None:
    with assay.Session(SPACE, runs=20) as session:
        trial = session.ask()
        assert trial is not None
        session.tell(trial, sps=1.0)
    assert str(session.result).startswith("So far the default")
