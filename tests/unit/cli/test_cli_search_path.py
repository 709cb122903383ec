"""Modules of the user on the search path of assay."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.__main__ import here, own_modules_first

SOURCE = str(Path(assay.__file__).parents[1])


@pytest.mark.parametrize(
    ("variable", "path", "expected"),
    [
        ("", ["/bin", "/lib"], ["/bin", "/lib"]),
        ("/users", ["/bin", "/users", "/lib"], ["/bin", "/lib", "/users"]),
        ("/b/:/a", ["/b", "/a", "/lib"], ["/lib", "/b", "/a"]),
        ("own", ["/srv/own", "/lib"], ["/lib", "/srv/own"]),
        ("", ["/srv", "/lib"], ["/lib", "/srv"]),
        ("", ["", "/lib"], ["/lib", ""]),
        (f"/users:{SOURCE}", ["/users", SOURCE, "/lib"], ["/users", SOURCE, "/lib"]),
    ],
)
def test_own_modules_come_before_those_of_the_user(
    variable: str, path: list[str], expected: list[str]
) -> None:
    assert own_modules_first(path, variable, "/srv") == expected


def test_a_removed_folder_moves_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert here() == ""
    assert own_modules_first(["/users", "/lib"], "/users", here()) == ["/lib", "/users"]
