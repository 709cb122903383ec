"""Completion scripts, executed by the shells themselves."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from assay.cli.completion import SHELLS, completion
from assay.cli.parsing.grammar import VERBS

BASH = """
source {script}
COMP_WORDS=({words}) COMP_CWORD={at}
_assay 2>/dev/null
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
autoload -Uz compinit && compinit -D
source {script}
(( $+functions[_shtab_assay] && $+functions[_assay] )) && print ${{_comps[assay]}}
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    pytest.importorskip("shtab")
    folder = tmp_path_factory.mktemp("completion")
    found = {}
    for shell in SHELLS:
        found[shell] = folder / f"assay.{shell}"
        found[shell].write_text(completion(shell))
    return found


def answer(shell: str, text: str, cwd: Path | None = None) -> list[str]:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    options = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    command = [shell, *options, "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=cwd)
    return done.stdout.split("\n")[:-1]


def in_bash(scripts: dict[str, Path], line: str, cwd: Path | None = None) -> list[str]:
    """Return the completions of the last word of a command line."""
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    text = BASH.format(script=scripts["bash"], words=quoted, at=len(words) - 1)
    return [word for word in answer("bash", text, cwd) if word]


def in_fish(scripts: dict[str, Path], line: str, cwd: Path | None = None) -> list[str]:
    text = f"source {scripts['fish']}; complete -C '{line}'"
    return [found.split("\t")[0] for found in answer("fish", text, cwd)]


@pytest.fixture(params=[in_bash, in_fish], ids=["bash", "fish"])
def completed(request: pytest.FixtureRequest, scripts: dict[str, Path]):
    return lambda line, cwd=None: request.param(scripts, line, cwd)


def test_verbs_are_completed(completed) -> None:
    assert set(completed("assay ")) == set(VERBS)
    assert set(completed("assay t")) == {"tune", "tier"}


def test_options_of_a_verb_are_completed(completed) -> None:
    assert "--warm-start" in completed("assay tune --wa")
    assert "--warm-start" not in completed("assay run --wa")


def test_choices_are_completed(completed) -> None:
    assert {"show", "check"} <= set(completed("assay machine "))
    assert completed("assay machine show --color al") == ["always"]


def test_settings_are_completed(completed) -> None:
    assert {"malloc=", "malloc.arenas="} <= set(completed("assay run --with mall"))


def test_files_are_completed(completed, tmp_path: Path) -> None:
    (tmp_path / "experiment.toml").touch()
    assert completed("assay sweep exp", tmp_path) == ["experiment.toml"]


def test_words_after_two_dashes_belong_to_the_command(completed, tmp_path: Path) -> None:
    (tmp_path / "input.dat").touch()
    assert completed("assay run -- cat inp", tmp_path) == ["input.dat"]


def test_zsh_loads_the_completion(scripts: dict[str, Path]) -> None:
    assert answer("zsh", ZSH.format(script=scripts["zsh"])) == ["_assay"]
