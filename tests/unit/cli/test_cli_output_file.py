"""Output files: the checks before the first launch."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.cli.arguments.run import run_request
from assay.cli.arguments.study_groups import export_paths
from assay.cli.parsing.parser import parse
from assay.errors import InvalidInputError, NotPossibleError


def _requested(option: str, path: Path) -> None:
    if option == "--record":
        run_request(parse(["run", option, str(path), "--", "true"]))
    else:
        export_paths(parse(["tune", option, str(path), "--", "true"]))


OPTIONS = pytest.mark.parametrize("option", ["--record", "--export"])


@OPTIONS
def test_usable_file_is_accepted(option: str, tmp_path: Path) -> None:
    _requested(option, tmp_path / "new.json")


@OPTIONS
def test_missing_folder_is_refused(option: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=f"{option} .*: there is no folder {tmp_path}/no"):
        _requested(option, tmp_path / "no" / "r.json")


@OPTIONS
def test_folder_without_permission_is_refused(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []

    def refuse(path: Path, *_: object, **__: object) -> bool:
        asked.append(path)
        return False

    monkeypatch.setattr(os, "access", refuse)
    with pytest.raises(NotPossibleError, match=f"{option} .*: no permission to write to"):
        _requested(option, tmp_path / "r.json")
    assert asked == [Path(os.path.realpath(tmp_path))]


def test_special_file_needs_no_folder_with_permission(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "access", lambda path, *_, **__: path == Path("/dev/null"))
    _requested("--record", Path("/dev/null"))


def test_record_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"--record .*: that is a folder"):
        _requested("--record", tmp_path)


def test_record_on_standard_output_is_accepted() -> None:
    assert run_request(parse(["run", "--record", "-", "--", "true"])).record == "-"
