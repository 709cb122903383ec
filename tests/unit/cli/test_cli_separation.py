"""Change to the caller of sudo; tests/system/test_sudo.py tests it with real users."""

from __future__ import annotations

from typing import Any

import pytest

from assay.cli import main
from assay.cli.arguments.common import common_options
from assay.cli.parsing.parser import parse
from assay.cli.process import privileges
from assay.root_helper.helper import RootHelper


class Became(Exception):
    """The rights were given up."""


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Provide the environment of a root that keeps all its rights."""
    env = {"SUDO_UID": "1000", "SUDO_GID": "1000", "ASSAY_EXEC": "/nonexistent/assay-exec"}

    def become(caller: Any) -> None:
        raise Became(caller.uid)

    monkeypatch.setattr(privileges, "drop_rights", become)
    monkeypatch.setattr(main.os, "geteuid", lambda: 0)
    monkeypatch.setattr(main.os, "environ", env)
    return env


def separated(words: list[str]) -> RootHelper | None:
    parsed = parse(words)
    return main._root_helper(parsed, common_options(parsed))


SEPARATED = (
    ["run", "--", "true"],
    ["tune", "--", "true"],
    ["study", "list"],
    ["doctor"],
    ["report", "last"],
    ["machine", "apply", "measuring"],
    ["machine", "restore"],
    ["machine", "show"],
)


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("words", SEPARATED, ids=" ".join)
def test_under_sudo_rights_are_given_up(words: list[str]) -> None:
    with pytest.raises(Became, match="1000"):
        separated(words)


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize(
    "words",
    [
        *([*words[:1], "--as-root", *words[1:]] for words in SEPARATED),
        ["machine", "check"],
        ["machine", "snapshot"],
        ["machine", "noise"],
    ],
    ids=" ".join,
)
def test_they_are_kept(words: list[str]) -> None:
    assert separated(words) is None


@pytest.mark.parametrize(
    ("uid", "variables"),
    [(1000, {"SUDO_UID": "1000"}), (0, {}), (0, {"SUDO_UID": "0", "SUDO_GID": "0"})],
)
def test_there_are_none_to_give_up(
    root: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    uid: int,
    variables: dict[str, str],
) -> None:
    monkeypatch.setattr(main.os, "geteuid", lambda: uid)
    root.clear()
    root.update(variables)
    assert separated(["doctor"]) is None
