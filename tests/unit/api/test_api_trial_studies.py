"""Sessions: interruption, continuation by later processes, and results."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from matplotlib.text import Text
from trial_sessions import SPACE, run, samples_of, status_of

import assay
from assay.cli.main import main
from assay.records import Configuration, Goal, ImportedTrials, Status, TriedConfiguration


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "studies.db"))


# --- interruption and continuation ----------------------------------------------------------------


def test_interrupt_leaves_a_study_that_can_be_continued() -> None:
    session = assay.Session(SPACE, runs=20)
    with pytest.raises(KeyboardInterrupt):
        for trial in session:
            trial.report(sps=1.0)
            if trial.number == 5:
                raise KeyboardInterrupt
    assert status_of(session) is Status.INTERRUPTED
    assert len(samples_of(session)) == 5  # the open trial does not count
    assert session.result.status is Status.INTERRUPTED
    again = assay.Session(study=session.id, runs=6)
    assert run(again) == 6
    assert len(samples_of(session)) == 11


def test_session_that_cannot_continue_a_study_lets_another_one_begin() -> None:
    run(assay.Session(SPACE, runs=6))
    failed = assay.Session(study="absent")
    for _ in range(2):
        with pytest.raises(assay.InvalidInputError, match="absent"):
            failed.ask()
    assert run(assay.Session(SPACE, runs=6)) == 6


def test_variables_that_a_trial_sets_do_not_change_the_conditions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = assay.Session(SPACE, runs=8)
    for trial in first:
        monkeypatch.setenv("SET_BY_AN_IMPORT", "1")
        trial.report(sps=1.0)
    monkeypatch.delenv("SET_BY_AN_IMPORT")
    assert run(assay.Session(study=first.id, runs=6)) == 6


def test_same_process_that_continues_a_study_is_one_observation() -> None:
    first = assay.Session(SPACE, runs=14)
    run(first, 1.5)
    for _ in range(7):
        run(assay.Session(study=first.id, runs=14), 1.5)
    assert {sample.launch.process for sample in samples_of(first)} == {0}
    result = assay.load_study("last")
    assert result.claims[0].blocks == 1
    assert result.verdict == "unproven"


def test_loop_that_is_left_early_releases_the_study() -> None:
    session = assay.Session(SPACE, runs=20)
    for trial in session:
        trial.report(sps=1.0)
        if trial.number == 3:
            break
    assert status_of(session) is Status.INTERRUPTED
    assert len(session.result.samples) == 3


def test_continued_study_keeps_its_space_and_budget() -> None:
    first = assay.Session(SPACE, runs=10)
    run(first)
    with pytest.raises(assay.InvalidInputError, match=r"space: given batch=32,128, but"):
        assay.Session({"batch": [32, 128]}, study=first.id).ask()
    assert run(assay.Session(SPACE, study=first.id)) == 10


KEYWORDS: dict[str, Any] = {
    "progress": assay.Progress("sps", goal="higher", unit="samples/s"),
    "default": {"batch": 64},
    "constraints": "batch >= 32",
    "history": ImportedTrials(
        name="optuna:earlier",
        goal=Goal.HIGHER,
        trials=tuple(
            TriedConfiguration(configuration=Configuration({"batch": batch}), value=value)
            for batch, value in ((32, 1.0), (64, 2.0))
        ),
    ),
    "margin": 0.02,
    "seed": 3,
}


def run_series(session: assay.Session) -> int:
    """Run a session whose trials report series; return the number of its trials."""
    count = 0
    for trial in session:
        for step in range(30):
            trial.report(step=step, sps=float(trial["batch"]))
        count += 1
    return count


def test_continued_study_accepts_the_keywords_of_its_first_process() -> None:
    first = assay.Session(SPACE, runs=8, **KEYWORDS)
    run_series(first)
    assert run_series(assay.Session(SPACE, study=first.id, runs=8, **KEYWORDS)) == 8
    assert run_series(assay.Session(study=first.id, runs=8, **KEYWORDS)) == 8
    assert run_series(assay.Session(SPACE, study=first.id, runs=8)) == 8


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"progress": None, "metric": "loss"}, "metric: given loss, but study .* has sps"),
        ({"progress": assay.Progress("sps", key="x")}, "given a Progress with key 'x', but"),
        ({"goal": "lower"}, "goal: given lower, but study .* has higher"),
        ({"unit": "s"}, "unit: given s, but study .* has samples/s"),
        ({"default": {"batch": 32}}, "default: given batch=32, but study .* has batch=64"),
        ({"constraints": "batch <= 64"}, "given batch <= 64, but study .* has batch >= 32"),
        ({"margin": 0.01}, "margin: given 0.01, but study .* has 0.02"),
        ({"seed": 0}, "seed: given 0, but study .* has 3"),
        (
            {"history": msgspec.structs.replace(KEYWORDS["history"], name="optuna:new")},
            "given optuna:new with 2 trials, but study .* has optuna:earlier with 2",
        ),
    ],
)
def test_continued_study_refuses_changed_keywords(changed: dict[str, Any], message: str) -> None:
    first = assay.Session(SPACE, runs=8, **KEYWORDS)
    run_series(first)
    with pytest.raises(assay.InvalidInputError, match=message):
        assay.Session(SPACE, study=first.id, **(KEYWORDS | changed)).ask()


def test_forked_child_is_refused_and_writes_nothing() -> None:
    session = assay.Session(SPACE, runs=12)
    for trial in session:
        if trial.number == 2:
            reading, writing = os.pipe()
            pid = os.fork()
            if pid == 0:  # the child must neither report, nor continue the loop, nor store
                try:
                    trial.report(sps=1.0)
                except assay.NotPossibleError:
                    session.close()
                    os.write(writing, b"refused")
                os._exit(0)
            os.close(writing)
            os.waitpid(pid, 0)
            assert os.read(reading, 100) == b"refused"
            os.close(reading)
        trial.report(sps=1.0)
    assert len(samples_of(session)) == 12
    assert status_of(session) is Status.DONE


# --- results --------------------------------------------------------------------------------------


def test_result_is_that_of_any_search() -> None:
    session = assay.Session(SPACE, runs=20)
    run(session, 1.5)
    result = session.result
    assert result.kind == "tune"
    assert result.verdict == "unproven"
    assert dict(result.recommendation.settings) == {"batch": 64}
    assert result.recommendation.proof is None
    assert len(result.rows) == 20
    assert "batch=64" in result._repr_html_()
    assert any("each process counts as one block" in note for note in result.notes)


def test_texts_of_a_session_speak_of_trials(capsys: pytest.CaptureFixture[str]) -> None:
    session = assay.Session({"batch": [32, 64, 128]}, runs=40)
    for trial in session:
        if trial["batch"] == 128:
            trial.fail("the kernel launch failed")
        else:
            trial.report(sps=100.0 + trial["batch"], loss=1.0)
    result = session.result
    assert result.notes
    shown = [repr(result), str(result), *result.notes]
    shown += [_without_code(result._repr_html_()), _without_code(_page(result))]
    assert main(["study", "show", result.id]) == 0
    shown.append(capsys.readouterr().out)
    assert main(["study", "list"]) == 0
    shown.append(capsys.readouterr().out)
    for text in shown:
        assert re.findall(r"(?i)\blaunch\w*", text.replace("the kernel launch failed", "")) == []
    texts = [text.get_text() for text in result.figure("launches").findobj(Text)]
    assert "trial" in texts
    assert any("trials failed" in note and "kernel launch" in note for note in result.notes)


def _page(result: assay.Result) -> str:
    return result.report(Path(os.environ["ASSAY_DB"]).parent / "report.html").read_text()


def _without_code(page: str) -> str:
    """Return the visible text of a page."""
    page = re.sub(r'srcdoc="[^"]*"', "", page)
    page = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"<[^>]*>", "\n", page)


def test_continued_study_may_be_given_as_its_result() -> None:
    first = assay.Session(SPACE, runs=9)
    run(first)
    second = assay.Session(study=first.result, runs=9)
    run(second)
    assert second.id == first.id


def test_result_before_the_end_is_refused() -> None:
    with assay.Session(SPACE, runs=9) as session:
        session.ask()
        with pytest.raises(assay.NotPossibleError, match="still runs"):
            _ = session.result
    with pytest.raises(assay.NotPossibleError, match="no ended trial with a value"):
        _ = session.result


@pytest.mark.parametrize("call", [assay.resume, assay.confirm, lambda name: assay.run(study=name)])
def test_study_of_a_session_cannot_be_launched(call: Callable[[str], object]) -> None:
    session = assay.Session(SPACE, runs=20)
    run(session, 1.5)
    assert session.id is not None
    with pytest.raises(assay.NotPossibleError, match="is a session"):
        call(session.id)
