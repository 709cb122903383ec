"""A search whose space holds preloads, and programs that cannot take one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import CommandLine

from assay.machine.reader import read_machine

pytestmark = pytest.mark.system

SANITIZED = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
    char *volatile block = malloc(1 << 20);
    block[4096] = 1;
    free(block);
    usleep(50000);
    return puts("ran") < 0;
}
"""
ALLOCATORS = ("jemalloc", "tcmalloc", "mimalloc")


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a program with the address sanitizer."""
    compiler = shutil.which("gcc") or pytest.skip("no gcc")
    folder = tmp_path_factory.mktemp("sanitized")
    source, program = folder / "sanitized.c", folder / "sanitized"
    source.write_text(SANITIZED)
    words = [compiler, "-fsanitize=address", "-o", program, source]
    built = subprocess.run(words, capture_output=True, check=False)
    if built.returncode or subprocess.run([program], capture_output=True).returncode:
        pytest.skip("no -fsanitize=address here")
    return program


@pytest.fixture
def preload() -> str:
    """Provide an allocator that this machine has as a library."""
    libraries = read_machine().libraries
    found = [name for name in ALLOCATORS if name in libraries]
    return found[0] if found else pytest.skip("no other allocator is installed")


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.mark.rotating
@pytest.mark.parametrize("through", [(), ("sh", "-c", 'exec "$0"')], ids=["itself", "script"])
def test_unsupported_preload_is_left_out(
    cli: CommandLine, sanitized: Path, preload: str, through: tuple[str, ...]
) -> None:
    words = ("--runs", "24", "--json", "-v", "--", *through, sanitized)
    answer = cli("tune", f"malloc={preload}", "nice=1", *words)
    assert answer.status == 0, answer.err
    (message,) = [line for line in answer.err.splitlines() if f"malloc={preload}  " in line]
    if through:
        assert "sh ran code built with -fsanitize=address" in message
    else:
        assert f"{sanitized} is built with -fsanitize=address" in message
    assert "nothing can be preloaded" in message
    samples = cli.documents()
    assert {sample["outcome"] for sample in samples} == {"ok"}
    asked = {name for sample in samples for name in sample.get("settings", ())}
    assert asked == {"nice"}
    assert "malloc" not in answer.document["recommendation"]["settings"]


@pytest.mark.parametrize("through", [(), ("nice",)], ids=["itself", "wrapped"])
def test_unsupported_preload_alone_is_refused_with_program_name(
    cli: CommandLine, sanitized: Path, preload: str, through: tuple[str, ...]
) -> None:
    answer = cli("tune", f"malloc={preload}", "--runs", "24", "--", *through, sanitized)
    assert answer.status == 3
    assert f"malloc={preload}: {sanitized} is built with -fsanitize=address" in answer.err
