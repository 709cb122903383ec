"""Requests: who reads parsed arguments, and the checks of values."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import assay
import assay.cli
import assay.requests
from assay.cli.arguments.compare import compare_request
from assay.cli.arguments.measure import measure_request
from assay.cli.arguments.run import run_request
from assay.cli.arguments.study import confirm_request, resume_request
from assay.cli.arguments.sweep import sweep_request
from assay.cli.arguments.tune import tune_request
from assay.cli.parsing.parser import parse
from assay.errors import InvalidInputError
from assay.records import Budget, Reservation, Statistic
from assay.records.codec import Record
from assay.requests.compare import ComparedCommand, CompareRequest
from assay.requests.measure import MeasureRequest
from assay.requests.noise import MachineNoiseRequest
from assay.requests.run import RunRequest
from assay.requests.sweep import SweepRequest
from assay.requests.tune import TuneRequest
from assay.requests.workload import BuildRequest, WorkloadRequest

SOURCE = Path(assay.__file__).parent
READERS = (SOURCE / "cli" / "parsing", SOURCE / "cli" / "arguments")
"""Folders of the modules that read parsed arguments."""
PARSERS = {SOURCE / "cli" / "completion.py", SOURCE / "testing" / "replay" / "__main__.py"}
"""Modules that import argparse for other reasons: parsers of their own, and completion."""
WORKLOAD = WorkloadRequest(argv=("./app",))


def other_modules(name: str) -> Iterator[tuple[Path, ast.Module]]:
    """Yield the modules that may not read parsed arguments, and that contain a name."""
    for path in sorted(SOURCE.rglob("*.py")):
        if any(path.is_relative_to(folder) for folder in READERS):
            continue
        if name in (text := path.read_text()):
            yield path, ast.parse(text)


def test_only_readers_name_a_namespace() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path, tree in other_modules("Namespace")
        if path not in PARSERS
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr == "Namespace")
        or (isinstance(node, ast.Name) and node.id == "Namespace")
    ]
    assert found == []


def test_only_parsers_import_argparse() -> None:
    found = {
        path
        for path, tree in other_modules("argparse")
        for node in ast.walk(tree)
        if (isinstance(node, ast.Import) and any(one.name == "argparse" for one in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "argparse")
    }
    assert found == PARSERS


def test_only_readers_read_the_arguments_of_a_command_line() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path, tree in other_modules("parsed")
        if path.is_relative_to(SOURCE / "cli")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr == "arguments"
        and isinstance(node.value, ast.Name)
        and node.value.id == "parsed"
    ]
    assert found == []


def request_types() -> list[type[Record]]:
    modules = [
        importlib.import_module(f"assay.requests.{one.name}")
        for one in pkgutil.iter_modules(assay.requests.__path__)
    ]
    return sorted(
        {
            value
            for module in modules
            for value in vars(module).values()
            if isinstance(value, type)
            and issubclass(value, Record)
            and value.__module__ == module.__name__
        },
        key=lambda kind: kind.__name__,
    )


@pytest.mark.parametrize("kind", request_types(), ids=lambda kind: kind.__name__)
def test_every_field_of_a_request_is_described(kind: type[Record]) -> None:
    inherited = {name for base in kind.__mro__[1:] for name in getattr(base, "__annotations__", {})}
    text = kind.__doc__ or ""
    for name in set(kind.__struct_fields__) - inherited:
        assert f" {name}: " in text or f" {name}, " in text or f", {name}: " in text, name


@pytest.mark.parametrize("kind", request_types(), ids=lambda kind: kind.__name__)
def test_requests_are_frozen(kind: type[Record]) -> None:
    assert kind.__struct_config__.frozen


def test_line_of_tune_becomes_a_request() -> None:
    words = [
        *("tune", "nice=0,5", "--budget", "2m", "--runs", "50", "--margin", "2%", "--seed", "3"),
        *("--constraint", "nice < 9", "--parallel", "2", "--observe", "none", "--dry-run"),
        *("--timeout", "30s", "--limit", "mem=2G", "--reserve", "cpus=2"),
        *("--disturbed-above", "never", "--", "./app", "-x"),
    ]
    request = tune_request(parse(words))
    assert request == TuneRequest(
        workload=WorkloadRequest(
            argv=("./app", "-x"),
            timeout_s=30.0,
            limits=msgspec.structs.replace(WORKLOAD.limits, memory_bytes=2 << 30),
        ),
        settings=("nice=0,5",),
        budget=Budget(time_s=120.0, launches=50),
        margin=0.02,
        seed=3,
        constraints=("nice < 9",),
        parallel=2,
        observe=(),
        dry_run=True,
        reserve=Reservation(specification="cpus=2"),
        disturbed_above=None,
    )


def test_defaults_of_a_request_are_those_of_the_command_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ASSAY_DISTURBED_ABOVE", raising=False)
    assert tune_request(parse(["tune", "--", "./app"])) == TuneRequest(workload=WORKLOAD)
    assert measure_request(parse(["measure", "--", "./app"])) == MeasureRequest(workload=WORKLOAD)
    assert run_request(parse(["run", "--", "./app"])) == RunRequest(argv=("./app",))
    assert sweep_request(parse(["sweep", "f.toml"])) == SweepRequest(file="f.toml")
    assert compare_request(parse(["compare", "./a 1", "./b"])) == CompareRequest(
        workload=WorkloadRequest(argv=("./a", "1")),
        commands=(
            ComparedCommand(name="./a 1", argv=("./a", "1")),
            ComparedCommand(name="./b", argv=("./b",)),
        ),
    )


def test_command_after_from_replaces_that_of_the_study() -> None:
    assert run_request(parse(["run", "--from", "last"])).argv is None
    assert run_request(parse(["run", "--from", "last", "--", "./app"])).argv == ("./app",)


def test_overrides_of_a_sweep_are_absent_unless_given() -> None:
    request = sweep_request(parse(["sweep", "f.toml"]))
    assert request.disturbed_above is msgspec.UNSET
    given = sweep_request(parse(["sweep", "f.toml", "--disturbed-above", "never", "--runs", "9"]))
    assert given.disturbed_above is None
    assert given.budget == Budget(launches=9)


def test_budget_of_a_resumed_study_is_absent_unless_given() -> None:
    assert resume_request(parse(["study", "resume", "last"])).budget is None
    assert resume_request(parse(["study", "resume", "last", "--runs", "5"])).budget == Budget(
        launches=5
    )
    assert confirm_request(parse(["study", "confirm", "last"])).budget == Budget(time_s=600.0)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: WorkloadRequest(argv=()), "workload.argv is empty"),
        (lambda: WorkloadRequest(argv=("a",), metrics=()), "workload.metrics is empty"),
        (lambda: WorkloadRequest(argv=("a",), timeout_s=0.0), "workload.timeout_s"),
        (lambda: WorkloadRequest(argv=("a",), grace_s=1e6), "workload.grace_s"),
        (
            lambda: WorkloadRequest(
                argv=("a",), grace_s=0.0, hooks=msgspec.structs.replace(WORKLOAD.hooks, stop=("s",))
            ),
            "would never run",
        ),
        (lambda: BuildRequest(argv=()), "build.argv is empty"),
        (lambda: BuildRequest(argv=("make",), timeout_s=-1.0), "build.timeout_s"),
        (lambda: TuneRequest(workload=WORKLOAD, budget=Budget(time_s=0.0)), "budget.time_s"),
        (lambda: TuneRequest(workload=WORKLOAD, budget=Budget(launches=0)), "budget.launches"),
        (lambda: TuneRequest(workload=WORKLOAD, margin=1.5), "margin: invalid share"),
        (lambda: TuneRequest(workload=WORKLOAD, seed=-1), "seed: invalid value"),
        (lambda: TuneRequest(workload=WORKLOAD, parallel=1), "parallel: invalid value"),
        (lambda: TuneRequest(workload=WORKLOAD, disturbed_above=2.0), "disturbed_above"),
        (lambda: TuneRequest(workload=WORKLOAD, objectives=("fps",)), "unknown metric 'fps'"),
        (lambda: TuneRequest(workload=WORKLOAD, objectives=("wall_s",) * 4), "too many"),
        (lambda: CompareRequest(workload=WORKLOAD), "commands or arms"),
        (
            lambda: CompareRequest(
                workload=WORKLOAD, commands=(ComparedCommand(name="a", argv=("a",)),)
            ),
            "only one",
        ),
        (lambda: MeasureRequest(workload=WORKLOAD, precision=0.0), "precision: invalid share"),
        (lambda: MeasureRequest(workload=WORKLOAD, warmup=-1), "warmup: invalid value"),
        (lambda: SweepRequest(file="f", margin=-0.1), "margin: invalid share"),
        (lambda: RunRequest(), "argv is empty"),
        (lambda: RunRequest(argv=("a",), point="1"), "point needs a study"),
        (lambda: MachineNoiseRequest(measurements=()), "measurements is empty"),
    ],
)
def test_invalid_values_of_a_request_raise(make: Any, match: str) -> None:
    with pytest.raises(InvalidInputError, match=match) as caught:
        make()
    assert caught.value.remedy


def test_margin_of_a_request_depends_on_the_statistic() -> None:
    assert TuneRequest(workload=WORKLOAD).equivalence_margin == 0.01
    spread = TuneRequest(workload=WORKLOAD, statistic=Statistic.SPREAD)
    assert spread.equivalence_margin == 0.25
    assert msgspec.structs.replace(spread, margin=0.1).equivalence_margin == 0.1


def test_every_command_line_is_named_parsed() -> None:
    """Variables of type ``Parsed`` have one name, which the test above looks for."""
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}: {node.arg}"
        for path, tree in other_modules("Parsed")
        for node in ast.walk(tree)
        if isinstance(node, ast.arg)
        and isinstance(node.annotation, ast.Name)
        and node.annotation.id == "Parsed"
        and node.arg != "parsed"
    ]
    assert found == []
