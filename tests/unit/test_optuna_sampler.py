"""Optuna: trials that assay's search proposes, and finished studies as a warm start."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import assay
import assay.optuna

optuna = pytest.importorskip("optuna")


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "studies.db"))
    optuna.logging.set_verbosity(optuna.logging.ERROR)


@pytest.fixture
def sampler() -> Iterator[assay.optuna.AssaySampler]:
    """Provide a sampler that is closed after the test."""
    found = assay.optuna.AssaySampler(n_trials=10)
    yield found
    found.close()


def noisy(gain: float, sd: float = 0.01) -> Callable[[optuna.Trial], float]:
    """Return an objective in which a batch of 64 is better by a gain."""
    rng = random.Random(0)

    def objective(trial: optuna.Trial) -> float:
        batch = trial.suggest_categorical("batch", [32, 64])
        return 300.0 * (1.0 + gain * (batch == 64)) * (1.0 + rng.gauss(0.0, sd))

    return objective


def maximised(sampler: assay.optuna.AssaySampler, objective: object) -> optuna.Study:
    study = optuna.create_study(sampler=sampler, direction="maximize")
    study.optimize(objective, n_trials=200)
    return study


@pytest.mark.parametrize(
    ("study", "step"),
    [
        ("x", r"optuna.load_study\(study_name='x', storage=URL\)"),
        ("sqlite:///secret@x.db", r"URL of a storage(?s:.*)optuna.load_study"),
        (None, "object that optuna.create_study"),
        (3, "Invalid study of Optuna: 3"),
    ],
)
def test_value_that_is_no_study_is_refused_with_the_next_step(study: object, step: str) -> None:
    with pytest.raises(assay.InvalidInputError, match=step) as caught:
        assay.optuna.read_study(study)  # type: ignore[arg-type]
    assert "secret" not in str(caught.value)


def test_sampler_repeats_the_default_and_ends_with_its_budget() -> None:
    sampler = assay.optuna.AssaySampler(n_trials=20)
    study = maximised(sampler, noisy(0.3))
    batches = [trial.params["batch"] for trial in study.trials]
    assert len(batches) == 20
    assert min(batches.count(32), batches.count(64)) >= 8
    result = sampler.result()
    assert result.id == sampler.study_id
    assert result.verdict == "unproven"
    assert dict(result.recommendation.settings) == {"batch": 64}
    assert sampler.claims[0].blocks == 1


def test_kinds_of_parameters_keep_their_domains() -> None:
    def objective(trial: optuna.Trial) -> float:
        value = 1.0
        value += trial.suggest_int("n", 2, 10, step=2)
        value += trial.suggest_int("workers", 1, 64, log=True)
        value += trial.suggest_float("lr", 1e-4, 1e-1, log=True)
        value += trial.suggest_float("x", 0.0, 1.0, step=0.25)
        value += 5 * (trial.suggest_categorical("mode", ["a", None, 2.5, True]) is None)
        trial.suggest_int("fixed", 3, 3)
        return value

    study = maximised(assay.optuna.AssaySampler(n_trials=30), objective)
    assert len(study.trials) == 30
    for trial in study.trials:
        assert trial.params["n"] in {2, 4, 6, 8, 10}
        assert trial.params["x"] in {0.0, 0.25, 0.5, 0.75, 1.0}
        assert 1e-4 <= trial.params["lr"] <= 1e-1
    assert {type(trial.params["mode"]) for trial in study.trials} >= {str, type(None)}


def test_first_trial_has_the_given_default() -> None:
    sampler = assay.optuna.AssaySampler(n_trials=8, default={"batch": 64})
    study = maximised(sampler, noisy(0.0))
    assert study.trials[0].params == {"batch": 64}
    assert sampler.result().spec.space.parameters[0].default == 64


def test_parameter_that_appears_later_is_sampled_independently() -> None:
    def objective(trial: optuna.Trial) -> float:
        batch = trial.suggest_categorical("batch", [32, 64])
        extra = trial.suggest_int("extra", 1, 9) if batch == 64 else 1
        return float(batch + extra)

    sampler = assay.optuna.AssaySampler(n_trials=20)
    study = maximised(sampler, objective)
    assert len({trial.params.get("extra") for trial in study.trials}) > 3
    assert [p.name for p in sampler.result().spec.space.parameters] == ["batch"]


def test_enqueued_and_pruned_trials_do_not_disturb_the_session() -> None:
    def objective(trial: optuna.Trial) -> float:
        batch = trial.suggest_categorical("batch", [32, 64, 128])
        if trial.number == 5:
            raise optuna.TrialPruned
        return 100.0 + batch

    sampler = assay.optuna.AssaySampler(n_trials=30)
    study = optuna.create_study(sampler=sampler, direction="maximize")
    study.optimize(objective, n_trials=3)
    study.enqueue_trial({"batch": 128})
    study.optimize(objective, n_trials=100)
    result = sampler.result()
    values = {(s.launch.arm, v) for s in result.samples if (v := s.metrics.get("value"))}
    assert values == {("default", 132.0), ("batch=64", 164.0), ("batch=128", 228.0)}
    assert [s.message for s in result.samples if s.message] == ["trial 5: pruned"]


def test_ask_and_tell_of_optuna() -> None:
    sampler = assay.optuna.AssaySampler(n_trials=10)
    study = optuna.create_study(sampler=sampler)
    for _ in range(10):
        trial = study.ask()
        study.tell(trial, float(trial.suggest_int("n", 1, 4)))
    assert sampler.result().spec.workload.objective.goal == "lower"


def test_two_open_trials_are_refused(sampler: assay.optuna.AssaySampler) -> None:
    study = optuna.create_study(sampler=sampler)
    first = study.ask()
    study.tell(first, float(first.suggest_int("n", 1, 4)))
    study.ask().suggest_int("n", 1, 4)
    with pytest.raises(assay.NotPossibleError, match="one trial at a time"):
        study.ask().suggest_int("n", 1, 4)


def test_other_threads_are_refused() -> None:
    study = optuna.create_study(sampler=assay.optuna.AssaySampler(n_trials=10))
    errors: list[BaseException] = []

    def work() -> None:
        try:
            study.ask().suggest_int("n", 1, 4)
        except assay.NotPossibleError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "AssaySampler needs n_jobs=1: parallel trials disturb" in str(errors[0])


@pytest.mark.parametrize("n_trials", [0, -1, "x", 2.0, True])
def test_invalid_number_of_trials_is_refused_by_its_own_name(n_trials: int) -> None:
    with pytest.raises(assay.InvalidInputError, match=r"n_trials: .* is not a number of trials"):
        assay.optuna.AssaySampler(n_trials=n_trials)


def test_values_without_a_ratio_and_several_objectives_are_refused() -> None:
    study = optuna.create_study(sampler=assay.optuna.AssaySampler())
    with pytest.raises(assay.InvalidInputError, match="compares ratios"):
        study.optimize(lambda trial: -float(trial.suggest_int("n", 1, 4)), n_trials=3)
    several = optuna.create_study(
        sampler=assay.optuna.AssaySampler(), directions=["minimize", "maximize"]
    )
    with pytest.raises(assay.InvalidInputError, match="2 objectives"):
        several.optimize(lambda trial: (float(trial.suggest_int("n", 1, 4)), 1.0), n_trials=3)


def test_result_without_a_complete_trial_is_refused() -> None:
    with pytest.raises(assay.NotPossibleError, match="no complete trial"):
        assay.optuna.AssaySampler().result()


@pytest.mark.slow
def test_six_processes_prove_a_gain(tmp_path: Path) -> None:
    script = tmp_path / "search.py"
    script.write_text(
        "import random, sys\nimport assay.optuna, optuna\n"
        "sampler = assay.optuna.AssaySampler(study=(sys.argv + [None])[1], n_trials=10)\n"
        "study = optuna.create_study(sampler=sampler, direction='maximize')\n"
        "study.optimize(lambda trial: (1.5 if trial.suggest_categorical('b', [1, 2]) == 2 else 1.0)"
        " * random.uniform(0.99, 1.01))\n"
        "print(sampler.result().id)\n"
    )
    study: list[str] = []
    for _ in range(6):
        done = subprocess.run(
            [sys.executable, str(script), *study], capture_output=True, text=True, check=True
        )
        study = [done.stdout.strip()]
    assert assay.load_study(study[0]).verdict == "proven"


# --- warm start -----------------------------------------------------------------------------------


def finished(direction: str = "minimize") -> optuna.Study:
    study = optuna.create_study(
        study_name="old", direction=direction, sampler=optuna.samplers.RandomSampler(seed=1)
    )
    study.optimize(
        lambda trial: 20.0 - trial.suggest_int("s", 0, 9) - 2 * trial.suggest_int("k", 0, 3),
        n_trials=40,
    )
    return study


def test_finished_study_guides_a_session() -> None:
    history = assay.optuna.read_study(finished())
    session = assay.Session(
        {"s": list(range(10)), "k": [0, 1, 2, 3]},
        history=history,
        metric="y",
        goal="lower",
        runs=24,
    )
    for trial in session:
        trial.report(20.0 - float(trial["s"]) - 2 * float(trial["k"]))
    result = session.result
    (earlier,) = result.spec.earlier_studies
    assert earlier.study == "optuna:old"
    assert earlier.known_configurations[0].configuration.get("k") == 3
    assert result.conclusion is not None
    assert "None of its values is evidence" in (result.conclusion.warm_start or "")
    assert result.recommendation.settings["s"] == 9


def test_names_and_prefix_translate_parameters() -> None:
    history = assay.optuna.read_study(finished(), {"s": "threads"}, prefix="arg.")
    assert set(history.trials[0].configuration) == {"threads", "arg.k"}


@pytest.mark.parametrize(
    ("space", "goal", "message"),
    [({"q": [1, 2]}, "lower", "fewer than 2"), ({"s": [0, 1]}, "higher", "searches for a lower")],
)
def test_unsuitable_history_is_refused(
    space: dict[str, list[int]], goal: str, message: str
) -> None:
    history = assay.optuna.read_study(finished())
    session = assay.Session(space, history=history, metric="y", goal=goal, runs=8)
    with pytest.raises(assay.InvalidInputError, match=message):
        for trial in session:
            trial.report(1.0)


def test_study_without_ratios_or_trials_is_refused() -> None:
    empty = optuna.create_study()
    with pytest.raises(assay.InvalidInputError, match="no finished trial"):
        assay.optuna.read_study(empty)
    empty.optimize(lambda trial: -1.0 * trial.suggest_int("n", 1, 4), n_trials=2)
    with pytest.raises(assay.InvalidInputError, match="compares ratios"):
        assay.optuna.read_study(empty)
