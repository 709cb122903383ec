"""A second study of a program starts from the results of the first, but claims nothing by them."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.system

SPACE = tuple(f"arg.{name}=0.03,0.02,0.01,0" for name in "abc")
PROGRAM = ("--shell", "--", "sleep {a}; sleep {b}; sleep {c}")
BUDGET = ("--runs", "34", "--disturbed-above", "never")


@pytest.fixture(scope="module")
def first(assay_exec: Path, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Return a store with one tune, to which later studies are added."""
    cli = CommandLine(assay_exec, tmp_path_factory.mktemp("warm"))
    answer = cli("tune", *SPACE, *BUDGET, "--seed", "1", "--json", *PROGRAM)
    assert answer.status == 0, answer.err
    document = json.loads(answer.out)
    assert "warm_start" not in document, "none unless it is asked for"
    (cli.folder / "first").write_text(document["study"])
    return cli


def study_of(cli: CommandLine) -> str:
    return (cli.folder / "first").read_text()


@pytest.mark.rotating
def test_second_tune_starts_from_first(first: CommandLine, tmp_path: Path) -> None:
    study = study_of(first)
    answer = first(
        "tune", *SPACE, *BUDGET, "--seed", "2", "--warm-start", study[:5], "--json", *PROGRAM
    )
    assert answer.status == 0, answer.err
    message = [line for line in answer.err.splitlines() if "begins with the results of" in line]
    assert len(message) == 1 and study in message[0], answer.err
    document = json.loads(answer.out)
    result = document["warm_start"]
    (source,) = result["studies"]
    assert source["study"] == study
    assert source["same_workload"] is True
    assert source["configurations"] >= 8
    assert re.match(
        rf"The search began with [1-4] configurations? of study {study}", result["sentence"]
    )
    shown = json.loads(first("study", "show", document["study"], "--json").out)
    known = shown["spec"]["earlier_studies"][0]["known_configurations"]
    best = known[0]["configuration"]
    block = min(s["launch"]["block"] for s in shown["samples"] if s["launch"]["stage"] == "search")
    ran = [s["launch"]["configuration"] for s in shown["samples"] if s["launch"]["block"] == block]
    assert best in ran, "what was best before runs at once"
    claims = document["recommendation"].get("claim")
    assert claims is None or 2 * claims["blocks"] < document["launches"], "of its own alone"
    self_contained(first, document["study"], tmp_path)


def self_contained(cli: CommandLine, study: str, tmp_path: Path) -> None:
    """Report, text and bundle name it; verification of a bundle needs no store."""
    result = "None of its values is evidence"
    assert result in " ".join(cli("study", "show", study).out.split())
    page = tmp_path / "report.html"
    assert cli("report", study, "-o", str(page)).status == 0
    assert result in page.read_text()
    bundle = tmp_path / "study.zip"
    assert cli("study", "export", study, "--bundle", str(bundle)).status == 0
    with zipfile.ZipFile(bundle) as archive:
        assert b'"earlier_studies"' in archive.read("study.json")
    elsewhere = CommandLine(cli.launcher, tmp_path)
    answer = elsewhere("study", "verify", str(bundle))
    assert answer.status == 0, answer.err


@pytest.mark.rotating
def test_matching_study_is_found(first: CommandLine) -> None:
    study = study_of(first)
    answer = first("tune", *SPACE, "--warm-start", "auto", "--dry-run", *PROGRAM)
    assert answer.status == 0, answer.err
    assert study in answer.out and "of this workload" in answer.out
    other = first(
        "tune", "arg.z=1,2,3", "--warm-start", "auto", "--dry-run", "--", "sleep", "0.0{z}"
    )
    assert "no warm start: no earlier study in this store measured these settings" in other.out
    document = json.loads(
        first("tune", *SPACE, "--warm-start", study, "--dry-run", "--json", *PROGRAM).out
    )
    assert document["warm_start"]["studies"][0]["study"] == study


@pytest.mark.rotating
def test_exhausted_space_is_reported(first: CommandLine) -> None:
    answer = first(
        *("tune", SPACE[0], "--runs", "40", "--disturbed-above", "never"),
        *("--warm-start", study_of(first), "--shell", "--", "sleep {a}"),
    )
    assert answer.status == 0, answer.err
    text = " ".join(answer.out.split())
    assert f"All configurations were tried: nothing was taken from study {study_of(first)}" in text


@pytest.mark.rotating
def test_unsuitable_study_is_refused_before_launches(first: CommandLine) -> None:
    measured = first("measure", "--runs", "8", "--json", "--", "true")
    assert measured.status == 0, measured.err
    other = json.loads(measured.out)["study"]
    count = len(json.loads(first("study", "list", "--json").out)["studies"])
    mark = first.folder / "ran"
    touch = ("--shell", "--", f"touch {mark}; sleep {{a}}")
    for words, says in (
        (("--warm-start", "zzzz"), "Unknown study 'zzzz'"),
        (("--warm-start", other), "it is a measure study"),
        (("--warm-start", "auto", "--warm-start", other), "auto excludes other values"),
        (
            ("--warm-start", study_of(first), "--metric", "peak_anon_bytes"),
            "its objective is wall_s",
        ),
    ):
        answer = first("tune", "arg.a=0,0.01", *words, *touch)
        assert answer.status == 2, answer
        assert says in answer.err and "Traceback" not in answer.err
        assert answer.out == ""
    answer = first(
        "tune",
        "arg.q=1,2",
        "--warm-start",
        study_of(first),
        "--shell",
        "--",
        f"touch {mark} # {{q}}",
    )
    assert answer.status == 2
    assert "its settings are not varied here" in answer.err
    assert not mark.exists()
    assert len(json.loads(first("study", "list", "--json").out)["studies"]) == count
