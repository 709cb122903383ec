"""Built-in profiles set existing settings to valid values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.machine.apply import _answer, _print_results, _Result
from assay.cli.machine.profile import place_of, settings_of
from assay.cli.machine.profile_file import profile_names
from assay.cli.show.json_output import json_text
from assay.errors import InvalidInputError
from assay.machine.reader import read_machine
from assay.machine.root import Root
from assay.records import to_builtins
from assay.settings.base import Refused
from assay.settings.registry import builtin
from json_schemas import assert_valid


def test_there_are_three() -> None:
    assert set(profile_names()) >= {"hpc", "latency", "measuring"}


@pytest.mark.parametrize("name", profile_names())
def test_each_sets_values_of_its_settings(name: str) -> None:
    machine = read_machine(Root(Path("/nonexistent")))
    registry = builtin()
    configuration = settings_of(name, registry, machine)
    assert configuration
    for setting, value in configuration.items():
        assert value in registry.get(setting).domain(machine), setting
        # Of a machine without any of the files everything is refused, and nothing is wrong.
        answer = registry.get(setting).resolve(configuration, machine)
        assert isinstance(answer, Refused) and "cannot be" not in answer.reason


def test_a_name_that_is_none() -> None:
    with pytest.raises(InvalidInputError) as error:
        settings_of("mesuring", builtin(), read_machine(Root(Path("/nonexistent"))))
    assert error.value.remedy == "Did you mean measuring?"


def test_reason_is_printed_once_and_wrapped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rest = "Guests have none: the host decides."
    told = [_Result(f"cpu.{name}", "x", "refused", f"There is no {name}. {rest}") for name in "ab"]
    _print_results([*told, _Result("vm.thp", "never", "granted", None, "always")], dry_run=False)
    out = capsys.readouterr().out
    assert (out.count(rest), out.count("There is no ")) == (1, 2)
    assert "vm.thp=never  granted (was always)" in out
    _print_results([_Result("cpu.a", "x", "refused", "word " * 40)], dry_run=True)
    _, *others = capsys.readouterr().out.splitlines()
    assert others and all(line.startswith("    ") and len(line) <= 80 for line in others)


def test_the_place_of_a_setting_is_that_in_its_file(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('[set]\n"vm.thp" = "never"\n"vm.swappiness" = 1\n')
    path = str(tmp_path / "own.toml")
    assert place_of(path, "vm.swappiness") == f"{path}:3:1"
    assert place_of("measuring", "vm.swappiness") == "measuring"


def test_apply_document_matches_its_schema() -> None:
    results = [
        _Result("vm.thp", "never", "granted", None, "always"),
        _Result("vm.swappiness", 57, "degraded", "it reads 60", "60"),
        _Result("vm.zone_reclaim", True, "kept"),
    ]
    document = json.loads(json_text(to_builtins(_answer("measuring", results))))
    assert_valid("machine-apply", document)
    assert document["schema"] == 2
    first = {"name": "vm.thp", "value": "never", "status": "granted", "original_value": "always"}
    assert document["settings"][0] == first
