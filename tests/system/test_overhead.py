"""`assay study calibrate --overhead`: the costs are measured, stored, and shown of this machine."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.api.composition import laboratory, program_of
from assay.api.context import Context
from assay.cli.main import main
from assay.executors.overhead import MIN_ROUNDS, Program
from assay.records import Stage
from assay.store import open_store
from assay.study.overhead import calibrate


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "assay.db"


def calibrated(db: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Calibrate with a short program; return the document."""
    words = ["study", "calibrate", "--overhead", "--budget", "1ms", "--db", str(db), "--json"]
    assert main([*words, "--", "/bin/true"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def shown_by_doctor(db: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["doctor", "--db", str(db)]) == 0
    return capsys.readouterr().out


@pytest.mark.rotating
def test_costs_are_measured_and_shown_with_date(
    db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = calibrated(db, capsys)
    measured = {cost["observation"] for cost in document["costs"]}
    assert {"memory", "scheduling", "readback"} <= measured
    named = measured | document.get("unavailable", {}).keys()
    assert {"containment", "counters", "preload jemalloc", "import hook"} <= named
    assert not measured & document.get("unavailable", {}).keys()
    for cost in document["costs"]:
        assert cost["pairs"] >= 10
        assert cost["wall"]["low"] <= cost["wall"]["share"] <= cost["wall"]["high"]
    text = shown_by_doctor(db, capsys)
    assert "measured 20" in text
    assert "by assay" in text
    assert "memory " in text
    assert main(["doctor", "--db", str(db), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["overhead"] == [document]


@pytest.mark.rotating
def test_costs_of_other_machine_are_not_shown(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calibrated(db, capsys)
    with sqlite3.connect(db) as connection:
        connection.execute("UPDATE overhead SET machine = 'another'")
    assert "cost not measured here" in shown_by_doctor(db, capsys)


def test_doctor_creates_no_store(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "cost not measured here" in shown_by_doctor(db, capsys)
    assert not db.exists()


def test_failing_program_is_reported_with_status(
    db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["study", "calibrate", "--overhead", "--budget", "1ms", "--db", str(db)]
    assert main([*words, "--", "/bin/false"]) != 0
    assert "status 1" in capsys.readouterr().err
    assert "cost not measured here" in shown_by_doctor(db, capsys)


@pytest.mark.parametrize("rounds", [3, 12])
def test_interrupt_reports_partial_costs(rounds: int) -> None:
    """Before the tenth round there is no result."""

    def message(made: int) -> None:
        if made == rounds:
            raise KeyboardInterrupt

    program = Program("true", ("/bin/true",))
    lab = laboratory(
        Context(prepare=lambda reads, *, launches=True: None), program_of(program.argv)
    )
    if rounds < MIN_ROUNDS:
        with pytest.raises(KeyboardInterrupt):
            calibrate(lab, [program], budget_s=600.0, report=message)
    else:
        found = calibrate(lab, [program], budget_s=600.0, report=message)
        assert min(cost.pairs for cost in found.costs) == rounds
        assert found.other_load is not None
        assert 0.0 <= found.other_load <= 1.0


@pytest.mark.parametrize("more", [["--runs", "5"], ["--observe", "none"]])
def test_inapplicable_options_are_refused(
    db: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    words = ["study", "calibrate", "--overhead", "--db", str(db), *more, "--", "/bin/true"]
    assert main(words) == 2
    assert more[0] in capsys.readouterr().err


@pytest.mark.rotating
def test_counted_launches_omit_expensive_observations(
    db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calibrated(db, capsys)
    with sqlite3.connect(db) as connection:
        ((text,),) = connection.execute("SELECT document FROM overhead").fetchall()
        document = json.loads(text)
        (cost,) = (one for one in document["costs"] if one["observation"] == "memory")
        cost |= {"program": "spin", "wall": {"share": 0.02, "low": 0.01, "high": 0.03}}
        connection.execute("UPDATE overhead SET document = ?", (json.dumps(document),))
    assert "off in launches that count" in shown_by_doctor(db, capsys)
    holding = [sys.executable, "-c", "x = bytearray(20 << 20); import time; time.sleep(0.1)"]
    words = ["measure", "--runs", "4", "--db", str(db)]
    assert main([*words, "--", "/bin/true"]) == 0
    assert main([*words, "--metric", "peak_anon_bytes", "--", *holding]) == 0
    with open_store(str(db), create=False) as store:
        plain, of_memory = store.studies()
        for head, on in ((plain, ["scheduling"]), (of_memory, ["memory", "scheduling"])):
            samples = store.samples(head.id)
            counted = [list(s.observations) for s in samples if s.launch.stage is Stage.CONFIRM]
            assert counted == [on] * 3
            surveyed = [s.observations for s in samples if s.launch.stage is Stage.SURVEY]
            assert surveyed and all("memory" in names for names in surveyed)
