"""Arguments near the kernel's limit: launches do not depend on the size that assay samples."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine

from rotation import others_in_turns

STACK_KIB = 1024
LIMIT = STACK_KIB * 1024 // 4
"""A quarter of the stack (execve(2)); a small one keeps the command lines short."""
WORD = "word" * 4
TAKES = len(WORD) + 1 + 8


@pytest.mark.parametrize("below", others_in_turns(60, 150))
def test_argument_list_near_limit_fails_no_launch(
    assay_exec: Path, tmp_path: Path, below: int
) -> None:
    shell = ("sh", "-c", f'ulimit -S -s {STACK_KIB}; exec "$@"', "sh")
    cli = CommandLine(assay_exec, tmp_path, prefix=shell)
    environment = sum(len(f"{name}={value}".encode()) + 1 + 8 for name, value in cli.env.items())
    words = [WORD] * ((LIMIT - environment) // TAKES - below)
    answer = cli("measure", "--runs", "12", "--", "true", *words)
    assert answer.status == 0, answer.err
    documents = cli.documents()
    assert len(documents) > 8
    assert {one["outcome"] for one in documents} == {"ok"}
