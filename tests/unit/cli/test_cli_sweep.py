"""Sweep files: their meaning, and errors with positions."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.api.files.sweep_file import SCHEMA_FILE, json_schema, shipped_schema
from assay.api.studies.sweep_specification import read_sweep
from assay.cli.arguments.sweep import sweep_request
from assay.cli.parsing.parser import parse
from assay.cli.show.design import announced, design_lines
from assay.cli.verbs.sweep import run
from assay.errors import InvalidInputError
from assay.machine.document import Cpu, Machine, Node, Rights
from assay.records import Budget, DesignKind, Goal, Progress, Statistic, StudySpec, Until
from assay.settings.registry import builtin

ROOT = Path(__file__).resolve().parents[3]
MACHINE = Machine(
    arch="x86_64",
    kernel="6.1.0",
    kernel_version=(6, 1),
    model="test",
    cpus=tuple(Cpu(id=i, core=i, siblings=(i,)) for i in range(4)),
    allowed_cpus=(0, 1, 2, 3),
    nodes=(Node(id=0, cpus=(0, 1, 2, 3), memory_bytes=2**33),),
    rights=Rights(uid=0),
)
PLAIN = """\
[workload]
command = "app {n} {m}"

[settings]
"arg.n" = [1, 2, 3]
arg.m = "1..8:log2"
"""
TWO = PLAIN.replace("[1, 2, 3]", "[1, 2]")


def read(tmp_path: Path, text: str, *options: str) -> StudySpec:
    path = tmp_path / "f.toml"
    path.write_text(text)
    request = sweep_request(parse(["sweep", str(path), *options]))
    file = read_sweep(request.file)
    assert file.argv
    return file.specification(request, builtin(), MACHINE, lambda c: c.get("nice") != 19)


def names(spec: StudySpec) -> list[str]:
    return [arm.name for arm in spec.arms]


def test_a_grid_is_every_combination_and_the_first_values_are_the_baseline(tmp_path: Path) -> None:
    spec = read(tmp_path, PLAIN)
    assert len(spec.arms) == 12
    assert names(spec)[0] == "arg.m=1 arg.n=1"
    assert dict(spec.arms[-1].configuration) == {"arg.n": 3, "arg.m": 8}
    assert spec.workload.argv == ("app", "{n}", "{m}")
    assert spec.workload.placeholders == {"n": "1", "m": "1"}
    assert spec.budget.time_s == 600


def test_a_default_that_is_no_cell_stands_beside_them(tmp_path: Path) -> None:
    spec = read(tmp_path, '[workload]\ncommand = "app"\n[settings]\nnice = [5, 10]\n')
    assert names(spec) == ["default", "nice=5", "nice=10"]


def test_conditions_constraints_and_refusals_take_cells_out(tmp_path: Path) -> None:
    text = """\
constraints = ["arg.n * arg.m <= 16"]
[workload]
command = "app {n} {m}"
[settings]
"arg.n" = [1, 2, 3]
arg.m = "1..8:log2"
nice = { domain = [5, 19], condition = "arg.n == 1" }
"""
    spec = read(tmp_path, text)
    assert spec.design is not None
    found = names(spec)
    assert "arg.m=1 arg.n=1 nice=5" in found
    assert "arg.m=8 arg.n=2" in found
    assert not any("nice=19" in name for name in found)
    assert "arg.m=8 arg.n=3" not in found
    assert len(set(found)) == len(found)
    assert spec.design.notes == (
        "5 of 16 cells violate a constraint, or are not available on this machine",
    )


def test_every_key_arrives_where_the_option_of_that_name_does(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("x")
    text = f"""\
constraints = ["arg.n < 3"]
[workload]
command = ["app", "{{n}}", "-x"]
metrics = {{ fps = "fps=([0-9.]+)", ms = "ms=(.*)" }}
unit = {{ fps = "1/s" }}
goal = "higher"
objective = "fps:median"
check = "ok"
timeout = 2.5
limits = {{ mem = "2G", procs = 64, cpu = "30s", output = "1G" }}
input = "{tmp_path / "in.txt"}"
[settings]
arg.n = [1, 2, 3]
[design]
kind = "random"
n = 2
repeats = 7
baseline = {{ "arg.n" = 2 }}
[study]
budget = "90s"
runs = 500
precision = 0.02
margin = "3%"
warmup = 2
seed = 9
null = true
disturbed_above = "never"
"""
    spec = read(tmp_path, text)
    objective, ms, wall = spec.workload.metrics
    assert (objective.name, objective.unit, objective.goal) == ("fps", "1/s", Goal.HIGHER)
    assert (ms.name, wall.name) == ("ms", "wall_s")
    assert spec.statistic is Statistic.MEDIAN
    assert (spec.workload.check, spec.workload.timeout_s) == ("ok", 2.5)
    limits = spec.workload.limits
    assert (limits.memory_bytes, limits.processes, limits.cpu_s) == (2**31, 64, 30)
    assert limits.output_bytes == 2**30
    assert spec.workload.stdin == str(tmp_path / "in.txt")
    assert names(spec)[0] == "arg.n=2"
    assert spec.design is not None
    assert (spec.design.kind, spec.design.n, spec.design.repeats) == (DesignKind.RANDOM, 2, 7)
    assert (spec.budget.time_s, spec.budget.launches) == (90, 500)
    assert (spec.precision, spec.margin, spec.warmup, spec.seed) == (0.02, 0.03, 2, 9)
    assert spec.null
    assert spec.disturbed_above is None


def test_the_command_line_wins(tmp_path: Path) -> None:
    text = PLAIN + '[study]\nbudget = "90s"\nruns = 500\nseed = 9\nmargin = "3%"\n'
    options = ["--budget", "30s", "--seed", "2", "--margin", "5%", "--null"]
    spec = read(tmp_path, text, *options, "--disturbed-above", "30%")
    assert (spec.budget.time_s, spec.budget.launches) == (30, 500)
    assert (spec.seed, spec.margin, spec.null, spec.disturbed_above) == (2, 0.05, True, 0.3)
    spec = read(tmp_path, PLAIN, "--runs", "70")
    assert (spec.budget.time_s, spec.budget.launches) == (None, 70)


def test_no_number_of_seconds_is_needed_where_launches_are_given(tmp_path: Path) -> None:
    spec = read(tmp_path, PLAIN + "[study]\nruns = 70\n")
    assert (spec.budget.time_s, spec.budget.launches) == (None, 70)


def test_a_design_follows_from_its_seed(tmp_path: Path) -> None:
    text = PLAIN.replace("[1, 2, 3]", '"1..99"') + '[design]\nkind = "latin-hypercube"\nn = 9\n'
    assert names(read(tmp_path, text)) == names(read(tmp_path, text))
    assert names(read(tmp_path, text)) != names(read(tmp_path, text, "--seed", "1"))


def test_resolution_finds_generators(tmp_path: Path) -> None:
    settings = "".join(f"env.F{i} = [0, 1]\n" for i in range(7))
    text = f'[workload]\ncommand = "app"\n[settings]\n{settings}[design]\nkind = "factorial"\n'
    spec = read(tmp_path, text + "resolution = 4\n")
    assert len(spec.arms) == 16
    assert spec.design is not None
    assert len(spec.design.generators) == 3
    assert spec.design.notes == ("a fraction of 16 out of 128 cells, of resolution IV",)


WRONG: dict[str, tuple[str, str, str, str]] = {
    "no workload": ("", "1:1", "lacks workload", "[workload]"),
    "no settings": ('[workload]\ncommand = "app"\n', "1:1", "lacks settings", "[settings]"),
    "table": (PLAIN + "[desing]\n", "7:2", "no key 'desing'", "design?"),
    "key": (PLAIN + "[study]\nbugdet = 1\n", "8:1", "[study] has no key 'bugdet'", "budget?"),
    "far key": (PLAIN + "[study]\nx = 1\n", "8:1", "no key 'x'", "It takes budget, runs,"),
    "inner key": (PLAIN.replace("\n\n", "\nlimits.proc = 3\n\n"), "3:8", "'proc'", "procs?"),
    "no command": (PLAIN.replace("command", "comand"), "2:1", "'comand'", "command?"),
    "type": (PLAIN + "[design]\nn = 'x'\n", "8:1", "the text 'x'", "n = 20"),
    "truth": (PLAIN + "[study]\nruns = true\n", "8:1", "cannot be true", "runs = 500"),
    "bounds": (PLAIN + "[design]\nrepeats = 0\n", "8:1", "from 1 to", "repeats = 10"),
    "choice": (PLAIN + "[design]\nkind = 'gird'\n", "8:1", "the text 'gird'", "grid?"),
    "element": (
        PLAIN.replace("\n\n", "\nmetrics = ['wall_s', 3]\n\n"),
        "3:22",
        "an element of workload.metrics cannot be 3",
        "metrics = [",
    ),
    "inner choice": (
        PLAIN.replace("\n\n", "\ngoal = { wall_s = 'up' }\n\n"),
        "3:10",
        "workload.goal.wall_s cannot be the text 'up'",
        "",
    ),
    "duration": (PLAIN + "[study]\nbudget = '3x'\n", "8:1", "study.budget: '3x' is no", "90s"),
    "share": (PLAIN + "[study]\nmargin = 1\n", "8:1", "study.margin", "1%"),
    "precision": (PLAIN + "[study]\nprecision = '2'\n", "8:1", "study.precision: '2'", "1%"),
    "disturbed": (PLAIN + "[study]\ndisturbed_above = 'x'\n", "8:1", "disturbed_above: 'x'", ""),
    "timeout": (PLAIN.replace("\n\n", "\ntimeout = '3x'\n\n"), "3:1", "workload.timeout", "90s"),
    "size": (
        PLAIN.replace("\n\n", "\nlimits.mem = '3x'\n\n"),
        "3:8",
        "workload.limits.mem: '3x'",
        "8G",
    ),
    "inline size": (
        PLAIN.replace("\n\n", "\nlimits = { procs = 4, mem = 'lots' }\n\n"),
        "3:23",
        "workload.limits.mem: 'lots'",
        "8G",
    ),
    "negative seed": (
        PLAIN + "[study]\nseed = -1\n",
        "8:1",
        "study.seed cannot be -1: it takes a whole number from 0",
        "seed = 7",
    ),
    "cells": (
        PLAIN + "[design]\nkind = 'latin-hypercube'\nn = 10001\n",
        "9:1",
        "design.n cannot be 10001: it takes a whole number from 2 to 10,000",
        "Write n = 10000, the maximum.",
    ),
    "metric": (PLAIN.replace("\n\n", "\nmetrics = ['wal_s']\n\n"), "3:1", "'wal_s'", "wall_s?"),
    "unit": (
        PLAIN.replace("\n\n", "\nunit = { fps = '1/s' }\n\n"),
        "3:1",
        "Unknown metric: 'fps'",
        'metrics = ["NAME=REGEX"]',
    ),
    "objective": (PLAIN.replace("\n\n", "\nobjective = 'wall_s:mode'\n\n"), "3:1", "'mode'", ""),
    "check": (PLAIN.replace("\n\n", "\ncheck = '('\n\n"), "3:1", "workload.check", ""),
    "input": (PLAIN.replace("\n\n", "\ninput = '/gone'\n\n"), "3:1", "workload.input", ""),
    "shell": (PLAIN.replace("app", "app | app"), "2:1", "unquoted |", "Write shell = true"),
    "list and shell": (
        PLAIN.replace('"app {n} {m}"', '["app"]\nshell = true'),
        "2:1",
        "as one text, not as a list",
        "",
    ),
    "empty command": (PLAIN.replace('"app {n} {m}"', "[]"), "2:1", "The command is missing", ""),
    "place": (PLAIN.replace("{n}", ""), "5:1", 'settings."arg.n": arg.n has no place', "{n}"),
    "setting": (PLAIN + "thraeds = [1]\n", "7:1", "'thraeds'", "threads?"),
    "value": (PLAIN + "malloc = ['glibc', 'jemaloc']\n", "7:1", "'jemaloc'", "jemalloc?"),
    "range": (PLAIN + 'threads = "4..1"\n', "7:1", "reversed", "1..4"),
    "no values": (PLAIN + "threads = []\n", "7:1", "is empty", ""),
    "date": (PLAIN + "threads = 1979-05-27\n", "7:1", "Invalid value: 1979-05-27", ""),
    "twice": (PLAIN + '"arg.m" = [1]\n', "7:1", 'settings."arg.m" is defined twice', ""),
    "domain": (PLAIN + "threads = { domian = 1 }\n", "7:13", "no key 'domian'", "domain"),
    "condition": (
        PLAIN + "nice = { domain = [1], condition = 'argn > 1' }\n",
        "7:24",
        "settings.nice.condition: 'argn > 1' names argn",
        "arg.n?",
    ),
    "condition is no text": (
        PLAIN + "nice = { domain = [1], condition = 3 }\n",
        "7:24",
        "Invalid expression: 3",
        "",
    ),
    "constraint": ("constraints = ['arg.n >']\n" + PLAIN, "1:16", "constraints: 'arg.n >'", ""),
    "names": (
        "constraints = ['arg.n > 1',\n  'argn > 2']\n" + PLAIN,
        "2:3",
        "'argn > 2' names argn",
        "arg.n?",
    ),
    "nothing left": ("constraints = ['arg.n > 5']\n" + PLAIN, "1:1", "The design has no cells", ""),
    "one cell": (
        PLAIN.replace("[1, 2, 3]", "[1]").replace("1..8:log2", "1"),
        "4:2",
        "one cell",
        "",
    ),
    "many cells": (PLAIN.replace("1..8:log2", "1..5000"), "4:2", "more than 10,000 cells", "latin"),
    "fidelity": (f'fidelity = "arg.n"\n{PLAIN}', "1:1", "no fidelity", "[settings]"),
    "very many": (PLAIN.replace("1..8:log2", "1..90000"), "4:2", "270,000 combinations", "latin"),
    "continuous": (PLAIN.replace("1..8:log2", "0.5..1.5"), "6:5", "continuous domain", "step"),
    "no n": (PLAIN + "[design]\nkind = 'random'\n", "7:2", "needs n", "n = 20"),
    "n of a grid": (PLAIN + "[design]\nn = 3\n", "8:1", "does not apply to a grid", "latin"),
    "centre of a grid": (
        PLAIN + "[design]\ncentre = true\n",
        "8:1",
        "does not apply to a grid",
        "factorial",
    ),
    "three levels": (PLAIN + "[design]\nkind = 'factorial'\n", "5:1", "arg.n has 3", "[LOW, HIGH]"),
    "condition of a factorial": (
        TWO + "nice = { domain = [1, 5], condition = 'arg.n > 1' }\n[design]\nkind = 'factorial'\n",
        "7:1",
        "nice has a condition",
        "grid",
    ),
    "broken factorial": (
        "constraints = ['arg.n * arg.m < 9']\n" + TWO + "[design]\nkind = 'factorial'\n",
        "1:1",
        "needs every cell",
        "grid",
    ),
    "generator": (
        TWO + "[design]\nkind = 'factorial'\ngenerators = ['arg.n = arg.q * arg.m']\n",
        "9:1",
        "arg.q",
        "arg.",
    ),
    "both": (
        TWO + "[design]\nkind = 'factorial'\nresolution = 3\ngenerators = ['arg.n = arg.m']\n",
        "9:1",
        "follows from generators",
        "",
    ),
    "no middle": (
        TWO.replace("1..8:log2", "1..2") + "[design]\nkind = 'factorial'\ncentre = true\n",
        "9:1",
        "No setting has a value between",
        "",
    ),
    "limits as a text": (
        PLAIN.replace("\n\n", "\nlimits = 'mem=2G'\n\n"),
        "3:1",
        "workload.limits cannot be the text 'mem=2G': it takes a table",
        'Write limits = { mem = "2G" }, or a table [workload.limits].',
    ),
    "empty check": (PLAIN.replace("\n\n", "\ncheck = ''\n\n"), "3:1", "check cannot be empty", ""),
    "empty timeout": (PLAIN.replace("\n\n", "\ntimeout = ''\n\n"), "3:1", "be empty", "30s"),
    "empty metric": (
        PLAIN.replace("\n\n", "\nmetrics = ['wall_s', '']\n\n"),
        "3:22",
        "an element of workload.metrics cannot be empty",
        "metrics = [",
    ),
    "empty expression": (
        PLAIN.replace("\n\n", "\nmetrics = { fps = '' }\n\n"),
        "3:13",
        "workload.metrics.fps cannot be empty",
        "",
    ),
    "empty constraint": ("constraints = ['']\n" + PLAIN, "1:16", "constraints cannot be empty", ""),
    "empty value": (
        PLAIN + "env.A = ['1', '', '2,3']\n",
        "7:5",
        "Value 2 of the list is an empty text",
        """'1,"","2,3"'""",
    ),
    "hook that is not there": (
        PLAIN.replace("\n\n", "\nprepare = 'no-such'\n\n"),
        "3:1",
        "workload.prepare: The command 'no-such' was not found",
        "PATH",
    ),
    "baseline": (PLAIN + "[design.baseline]\nthraeds = 1\n", "8:1", "'thraeds'", "threads?"),
    "baseline value": (
        PLAIN + "[design]\nbaseline.arg.n = [2]\n",
        "8:14",
        "Invalid value: [2]",
        "",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_error_names_its_position(name: str, tmp_path: Path) -> None:
    text, place, cause, remedy = WRONG[name]
    with pytest.raises(InvalidInputError) as caught:
        read(tmp_path, text)
    assert caught.value.cause.startswith(f"{tmp_path}/f.toml:{place}: "), caught.value.cause
    assert cause in caught.value.cause
    assert remedy in (caught.value.remedy or "")
    assert "--" not in str(caught.value), "an option of the command line in the words of a file"


def test_a_program_that_is_not_there_is_pointed_at(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text(PLAIN)
    with pytest.raises(
        InvalidInputError, match=r"f\.toml:2:1: workload\.command: The command 'app'"
    ):
        run(parse(["sweep", str(path)]))


@pytest.mark.parametrize(
    ("words", "match"),
    [(["sweep"], "sweep file is missing"), (["sweep", "f.toml", "--", "ls"], "no command")],
)
def test_words_that_are_no_file(words: list[str], match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        run(parse(words))


def test_dry_run_fits_the_terminal(tmp_path: Path) -> None:
    lines = list(announced(read(tmp_path, PLAIN), 40))
    assert " ".join(line.strip() for line in lines).startswith("assay: 12 cells: 1 warm-up of each")
    assert len(lines) > 1
    assert max(map(len, lines)) <= 40


def test_dry_run_says_whether_the_budget_suffices(tmp_path: Path) -> None:
    spec = read(tmp_path, PLAIN)
    spec = msgspec.structs.replace(spec, budget=Budget(time_s=600.0))
    db = str(tmp_path / "none.db")
    assert "if a launch takes up to 5.00 ms on average" in list(design_lines(db, spec, 60_000))[-1]
    (*_, last) = design_lines(db, spec, 210_000)
    assert last == (
        "which does not fit into the 10 min 0 s of the budget: assay itself takes about 17 min 30 s"
    )


# --- progress ---------------------------------------------------------------------------------


def test_progress_of_a_sweep_is_that_of_the_options(tmp_path: Path) -> None:
    text = """\
[workload]
command = "app"
progress = ["sps=samples/s: ([0-9.]+)", "loss"]
progress_file = "log.csv"
until = "steady:200"
goal = { sps = "higher" }
require = ["loss<=2"]
[settings]
nice = [0, 5]
"""
    spec = read(tmp_path, text)
    sps, loss, _ = spec.workload.metrics
    assert sps.progress == Progress(pattern="samples/s: ([0-9.]+)", file="log.csv")
    assert loss.progress == Progress(file="log.csv")
    assert spec.until == Until(steady_steps=200.0)


@pytest.mark.parametrize(
    ("keys", "line", "message", "remedy"),
    [
        ('progress = ["tqm"]', 3, "Unknown format of progress", "Did you mean tqdm"),
        ('progress_file = "log.csv"', 3, "has no metric", 'progress = ["NAME"]'),
        (
            'until = "auto"',
            3,
            "the objective wall_s needs whole launches",
            'progress = ["sps=samples/s: ([0-9.]+)"]',
        ),
        ('progress = ["tqdm"]\nuntil = "200"', 4, "invalid value '200'", 'until = "steady:200"'),
    ],
)
def test_invalid_progress_names_its_line(
    tmp_path: Path, keys: str, line: int, message: str, remedy: str
) -> None:
    text = f'[workload]\ncommand = "app"\n{keys}\n[settings]\nnice = [0, 5]\n'
    with pytest.raises(InvalidInputError) as refused:
        read(tmp_path, text)
    assert message in refused.value.cause
    assert f":{line}:" in refused.value.cause or f"line {line}" in refused.value.cause
    assert remedy in str(refused.value.remedy)


# --- schema ---------------------------------------------------------------------------------------


def test_the_shipped_schema_is_that_of_the_code() -> None:
    """``ASSAY_GOLDEN=update`` updates the file."""
    if os.environ.get("ASSAY_GOLDEN") == "update":
        path = ROOT / "src" / "assay" / "api" / "files" / SCHEMA_FILE
        path.write_text(json.dumps(json_schema(), indent=1) + "\n")
    assert shipped_schema() == json.loads(json.dumps(json_schema()))


def keys_of(schema: dict[str, Any]) -> set[str]:
    """Every key that a table of the schema may have, as ``TABLE.KEY``."""
    tables = schema["$defs"]
    found = set()
    for name, table in tables.items():
        for key in table["properties"]:
            found.add(f"{name.removesuffix('Table').lower()}.{key}")
    return found


def test_every_key_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "sweep-file.md").read_text()
    sections = re.split(r"^## ", page, flags=re.MULTILINE)
    for key in sorted(keys_of(json_schema())):
        table, _, name = key.partition(".")
        if table in ("sweep", "limits"):
            assert f"`{name}" in page or f"`[{name}]`" in page, key
            continue
        section = next(s for s in sections if s.startswith(f"`[{table}]`"))
        assert re.search(rf"^\| `{name}` \|", section, re.MULTILINE), key


def test_the_schema_says_what_each_key_is_for() -> None:
    for name, table in json_schema()["$defs"].items():
        assert table["additionalProperties"] is False
        for key, described in table["properties"].items():
            assert described.get("description"), f"{name}.{key}"


def test_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(parse(["sweep", "--schema"])) == 0
    assert json.loads(capsys.readouterr().out) == shipped_schema()
