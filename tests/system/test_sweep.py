"""``assay sweep`` from the outside: files, results, interruption, resumption."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine

from cases import cases
from rotation import rows_in_turns

pytestmark = pytest.mark.system

GRID = """\
[workload]
command = ["sh", "-c", "echo figure=$(( {n} * 100 + {m} ))"]
metrics = ["figure=figure=([0-9]+)"]
check = "figure="

[settings]
"arg.n" = [1, 2]
arg.m = [10, 20, 30]

[study]
runs = 200
seed = 3
"""
SLOW = """\
[workload]
command = ["sh", "-c", "setsid sleep 99 & exec sleep {t}"]

[settings]
"arg.t" = [0.004, 0.008, 0.012]
nice = [0, 5]

[design]
repeats = 4
"""
"""Each launch leaves a process behind in a session of its own, as daemons do."""


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


def write(cli: CommandLine, text: str, name: str = "f.toml") -> str:
    (cli.folder / name).write_text(text)
    return name


def swept(cli: CommandLine, text: str, *options: str) -> dict[str, Any]:
    answer = cli("sweep", write(cli, text), "--json", "-q", *options)
    assert answer.status == 0, answer.err
    return answer.document


@pytest.mark.rotating
def test_grid_file_gives_verdicts(cli: CommandLine) -> None:
    document = swept(cli, GRID)
    cells = {json.dumps(c["settings"], sort_keys=True): c for c in document["cells"]}
    assert len(cells) == 6
    for n in (1, 2):
        for m in (10, 20, 30):
            cell = cells[json.dumps({"arg.m": m, "arg.n": n})]
            summary = cell["summary"]["figure"]
            assert summary["median"] == n * 100 + m
            assert summary["n"] == document["blocks"]
    first = document["cells"][0]
    assert first["settings"] == {"arg.n": 1, "arg.m": 10}
    assert len(document["claims"]) == 5
    for claim in document["claims"]:
        assert claim["a"] == first["name"]
        assert claim["verdict"] == "slower"
    assert document["effects"] == []
    assert document["stop_reason"].startswith("Every cell was decided")


@pytest.mark.rotating
def test_factorial_design_reports_effects(cli: CommandLine) -> None:
    text = GRID.replace("[10, 20, 30]", '"10..30"') + (
        '[design]\nkind = "factorial"\ncentre = true\nrepeats = 12\n'
    )
    document = swept(cli, text)
    found = {tuple(e.get("factors", [])): e for e in document["effects"]}
    assert set(found) == {("arg.n",), ("arg.m",), ("arg.n", "arg.m"), ()}
    ratio = ((210 * 230) / (110 * 130)) ** 0.5
    assert found["arg.n",]["ratio"] == pytest.approx(ratio, rel=1e-6)
    assert found["arg.n",]["verdict"] == "slower"
    assert {cell["settings"].get("arg.m") for cell in document["cells"]} == {10, 20, 30}


@pytest.mark.rotating
def test_answer_is_printed_and_exported(cli: CommandLine) -> None:
    exports = [word for name in ("r.md", "r.csv", "r.json") for word in ("--export", name)]
    answer = cli("sweep", write(cli, GRID), *exports)
    assert answer.status == 0, answer.err
    assert "6 cells: 1 warm-up of each, then 9 blocks or more" in answer.err
    lines = answer.out.splitlines()
    assert lines[0] == "No cell was shown to be better than arg.m=10 arg.n=1."
    assert lines[1] == "Of 5 cells compared with arg.m=10 arg.n=1: 5 worse."
    head = next(at for at, line in enumerate(lines) if line.split()[:2] == ["arg.n", "arg.m"])
    rows = [line.split()[:2] for line in lines[head + 1 : head + 7]]
    assert rows == [[str(n), str(m)] for n in (1, 2) for m in (10, 20, 30)]
    assert "baseline" in lines[head + 1]
    table = list(csv.DictReader(io.StringIO((cli.folder / "r.csv").read_text())))
    assert [row["median"] for row in table] == [
        f"{n * 100 + m}.0" for n in (1, 2) for m in (10, 20, 30)
    ]
    assert "| arg.n | arg.m | n |" in (cli.folder / "r.md").read_text()
    study = json.loads((cli.folder / "r.json").read_text())["study"]
    report = cli("report", study, "-o", "r.html")
    assert report.status == 0, report.err
    page = (cli.folder / "r.html").read_text()
    assert '<section id="heat"' in page
    shown = cli("study", "show", study)
    assert lines[0] in shown.out


@pytest.mark.slow
def test_separate_baseline_is_named_by_its_settings(cli: CommandLine) -> None:
    text = GRID.split("[settings]")[0] + (
        '[settings]\narg.n = "1..9"\narg.m = "10..900"\n'
        '[design]\nkind = "latin-hypercube"\nn = 4\nrepeats = 2\n'
    )
    message = "The baseline, default, is arg.n=1, arg.m=10."
    where = {"name": "default", "settings": {"arg.n": 1, "arg.m": 10}}
    name = write(cli, text)
    assert message in cli("sweep", name, "--dry-run").out
    assert cli("sweep", name, "--dry-run", "--json").document["baseline"] == where
    answer = cli("sweep", name, "-q", "--export", "cells.md")
    assert answer.status == 0, answer.err
    assert message in answer.out
    assert cli("study", "resume", "last", "--json").document["baseline"] == where
    assert "The baseline, default, is" in (cli.folder / "cells.md").read_text()
    assert cli("report", "last", "-o", "page.html").status == 0
    assert message in (cli.folder / "page.html").read_text()


@pytest.mark.rotating
def test_dry_run_shows_all_cells_and_launches_nothing(cli: CommandLine) -> None:
    name = write(cli, GRID)
    answer = cli("sweep", name, "--dry-run")
    assert answer.status == 0, answer.err
    assert answer.out.splitlines()[:3] == [
        "6 cells:",
        "  arg.m=10 arg.n=1   (baseline)",
        "  arg.m=20 arg.n=1",
    ]
    assert "at least 60 launches" in answer.out
    assert "which fits into the 200 launches of the budget" in answer.out
    assert not cli.store.exists()
    document = cli("sweep", name, "--dry-run", "--json").document
    assert len(document["cells"]) == 6
    assert document["launches"] == 60
    assert cli("sweep", name, "-q").status == 0
    again = cli("sweep", name, "--dry-run", "--budget", "1h")
    assert "as in the last study of this command" in again.out


@pytest.mark.rotating
def test_insufficient_blocks_are_reported_in_advance(cli: CommandLine) -> None:
    name = write(cli, GRID + "[design]\nkind = 'grid'\nrepeats = 2\n")
    message = "too few for a verdict on each of 6 cells"
    assert message in " ".join(cli("sweep", name, "--dry-run").out.split())
    (note,) = cli("sweep", name, "--dry-run", "--json").document["notes"]
    assert message in note


@pytest.mark.rotating
def test_invalid_options_are_reported_before_launches(cli: CommandLine) -> None:
    answer = cli("sweep", write(cli, GRID), "--runs", "59")
    assert answer.status == 3
    assert "6 cells take 60 launches at least" in answer.err
    assert "--runs 60" in answer.err
    assert not cli.store.exists()
    slow = GRID.replace("echo", "sleep 0.3; echo").replace("runs = 200", 'budget = "6s"')
    answer = cli("sweep", write(cli, slow))
    assert answer.status == 3
    assert "The budget is too small: 9 blocks of 6 launches do not fit." in answer.err
    assert len(cli.samples()) == 2


@pytest.mark.parametrize(
    ("text", "place"),
    rows_in_turns(
        (GRID.replace('"sh", ', '"nosuchprogram", '), "2:1: workload.command: The command"),
        (GRID.replace("runs", "rusn"), "11:1: [study] has no key 'rusn'"),
        (GRID.replace("[1, 2]", "[1, 2"), "8:1: this is not TOML"),
        (GRID + "[desing]\n", "13:2: There is no key 'desing'"),
    ),
)
def test_invalid_file_is_reported_with_location(cli: CommandLine, text: str, place: str) -> None:
    answer = cli("sweep", write(cli, text))
    assert answer.status == 2
    assert answer.err.startswith(f"assay: f.toml:{place}")
    assert not cli.store.exists()


@pytest.mark.rotating
def test_cell_without_figure_is_excluded(cli: CommandLine) -> None:
    script = "[ {n}{m} = 230 ] && exit 3; [ {n}{m} = 220 ] && exit 0; echo figure={n}{m}"
    text = GRID.replace("echo figure=$(( {n} * 100 + {m} ))", script).replace(
        'check = "figure="\n', ""
    )
    document = swept(cli, text)
    empty = [c["settings"] for c in document["cells"] if "figure" not in c["summary"]]
    assert empty == [{"arg.n": 2, "arg.m": 20}, {"arg.n": 2, "arg.m": 30}]
    assert len(document["claims"]) == 3
    assert any("2 of" in note and "failed" in note for note in document["notes"])


@pytest.mark.rotating
def test_timeouts_are_stored_as_bounds(cli: CommandLine) -> None:
    text = """\
[workload]
command = "sleep {t}"
timeout = "100ms"
[settings]
arg.t = [0.001, 9]
[design]
repeats = 8
"""
    document = swept(cli, text)
    assert document["cells"][1]["timeouts"] == 8
    (claim,) = document["claims"]
    assert claim["verdict"] == "slower"
    assert claim["bound_only"]


@pytest.mark.rotating
@pytest.mark.parametrize("after", cases([1, 9], slow=[4, 23]))
def test_interrupted_sweep_resumes(cli: CommandLine, after: int) -> None:
    name = write(cli, SLOW)
    with cli.begun("sweep", name, "--seed", "5") as process:
        cli.wait_for(after)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=20) == 130
    kept = cli.documents()
    assert len(kept) >= after
    answer = cli("study", "resume", "last", "--json")
    assert answer.status == 0, answer.err
    document = answer.document
    assert cli.documents()[: len(kept)] == kept
    places = cli.samples()
    assert len(set(places)) == len(places) == 6 * 5
    assert document["blocks"] == 4
    assert {c["summary"]["wall_s"]["n"] for c in document["cells"]} == {4}
    # A repeated sweep launches nothing: the study is done.
    again = cli("study", "resume", "last", "--json").document
    notes, former = again.pop("notes"), document.pop("notes")
    assert again == document
    assert "since the study was resumed" in former[-1]
    assert notes[:-1] == former[:-1]
    assert "nothing was launched" in notes[-1]
    assert len(cli.samples()) == 30


@pytest.mark.rotating
def test_two_hundred_cells_are_swept(cli: CommandLine) -> None:
    text = """\
[workload]
command = ["sh", "-c", "echo figure=$(( {n} + {m} ))"]
metrics = { figure = "figure=([0-9]+)" }
goal = "higher"
[settings]
arg.n = "1..5000"
arg.m = "1..4096:log"
[design]
kind = "latin-hypercube"
n = 200
repeats = 1
[study]
warmup = 0
"""
    document = swept(cli, text)
    assert len(document["cells"]) > 190
    assert len(cli.samples()) == len(document["cells"]) + 1
    for cell in document["cells"][1:]:
        settings = cell["settings"]
        assert cell["summary"]["figure"]["median"] == settings["arg.n"] + settings["arg.m"]
    answer = cli("study", "show", "last")
    assert "cells more" in answer.out
    assert len(answer.out.splitlines()) < 60
    assert cli("report", "last", "-o", "r.html").status == 0
