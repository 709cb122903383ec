"""Shell functions and builtins run; for other missing commands the message names the word."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command_line import CommandLine

from rotation import others_in_turns, rows_in_turns

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


@needs_bash
@pytest.mark.parametrize("text", others_in_turns("f", "times", "let x=1", "type true"))
def test_shell_runs_functions_and_builtins(assay_exec: Path, tmp_path: Path, text: str) -> None:
    cli = CommandLine(assay_exec, tmp_path, more={"BASH_FUNC_f%%": "() { echo from f; }"})
    answer = cli("measure", "--runs", "2", "--", "bash", "-c", text)
    assert answer.status == 0, answer.err
    assert {one["outcome"] for one in cli.documents()} == {"ok"}


@pytest.mark.parametrize(
    ("words", "status"),
    rows_in_turns((("nice", "-n", "5"), 2), (("env", "A=1", "nice"), 2), (("xargs",), 1)),
)
def test_missing_command_is_named(
    assay_exec: Path, tmp_path: Path, words: tuple[str, ...], status: int
) -> None:
    """If the wrapper is unknown, the program itself reports the error."""
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    cli = CommandLine(assay_exec, tmp_path)
    answer = cli("measure", "--runs", "2", "--", *words, "no-such-program")
    assert answer.status == status
    assert "no-such-program" in answer.err
    assert "'nice' was not found" not in answer.err
