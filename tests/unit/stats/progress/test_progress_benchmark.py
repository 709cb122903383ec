"""Tests of the benchmark of reported values: targets, page, stored searches, Optuna's side."""

import json

import pytest
from benchmarks.progress.jobs import JOBS
from benchmarks.progress.page import stored, text
from benchmarks.progress.parts import PARTS, Section, shown_pytorch
from benchmarks.progress.results import Results
from benchmarks.progress.search import OURS, PEERS, Cell, Job, carry_out, targets, versions
from benchmarks.progress.simulated_search import JOB, Effects, whole_launch_s
from benchmarks.progress.simulation import simulate
from benchmarks.progress.targets import Target


@pytest.mark.parametrize(
    ("excess", "error", "result"),
    [
        (-0.1, 0.0, "*met*"),
        (0.1, 0.05, "*met* within two standard errors"),
        (0.11, 0.05, "*missed*"),
        (None, 0.0, "*open*"),
    ],
)
def test_verdict_on_a_target_takes_the_error_into_account(excess, error, result):
    assert Target("time", "at most 1", "1.1", excess, error).result == result


def test_reason_stands_only_beside_a_miss():
    assert Target("time", "at most 1", "0.9", -0.1, reason="noise").cells[-1] == ""
    assert Target("time", "at most 1", "1.1", 0.1, reason="noise").cells[-1] == "noise"


def test_page_has_the_sections_that_were_measured():
    known = {"search": stored(Section([Target("regret", "low", "1 %", 0.5)], "a table"))}
    page = text(known)
    assert "## Search among 60 configurations" in page
    assert f"## {PARTS['simulation'].title}" not in page
    assert f"{PARTS['simulation'].title}, {PARTS['pytorch'].title}." in page
    assert "| regret | low | 1 % | *missed* |" in page


def test_missing_study_of_pytorch_is_an_open_target(tmp_path):
    (target,) = shown_pytorch(tmp_path / "none.json").targets
    assert target.result == "*open*"


def test_newest_study_of_a_pytorch_model_counts(tmp_path):
    path = tmp_path / "results.json"
    document = {
        "model": "conv",
        "date": "2026-11-28",
        "machine": {},
        "budget": "15m",
        "launches": 30,
        "status": "unproven",
        "whole": None,
    }
    proven = {
        **document,
        "status": "proven",
        "whole": {"confirmation_s": 4000.0, "study_s": 9000.0},
    }
    path.write_text(json.dumps([document, proven]))
    (target,) = shown_pytorch(path).targets
    assert target.result == "*met*"
    assert target.figure == "proven, whole launches 67 min (with their search 150 min)"


def test_simulation_without_time_begins_no_part(tmp_path):
    results = Results(tmp_path / "results.json")
    assert not simulate(results, [JOBS[3]], studies=5, seed=1, minutes=-1.0)
    assert results.parts == {}


def test_stored_searches_are_not_run_again(tmp_path):
    cell, known = Cell("flat", 10), versions()
    results = Results(tmp_path / "results.json")
    for seed in range(2):
        for method, regret in zip((OURS, *PEERS), (0.1, 9.0, 8.0, 4.0, 6.0, 0.3), strict=True):
            if method in known:
                key = Job(cell, method, seed).key(known)
                results.add({key: {"regret": regret + 0.01 * seed, "claims": False}})
    carry_out(Results(results.path), [cell], seeds=2, processes=1)
    assert Results(results.path).parts == results.parts
    if len(known) > 1:
        assert [one.result for one in targets(results, [cell])] == ["*met*", "*met*"]


@pytest.mark.parametrize("method", PEERS)
def test_optuna_finds_a_configuration_that_is_much_faster(method):
    pytest.importorskip("optuna")
    from benchmarks.progress.pruners import recommended

    effects = Effects((3,), seed=1, sd=0.5)
    found = recommended(method, JOB, (3,), effects.factor, 12 * whole_launch_s(JOB), seed=1)
    assert effects.regret(found) == pytest.approx(0.0, abs=1e-9)
