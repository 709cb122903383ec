"""Fixtures for tests that boot guests."""

from pathlib import Path

import pytest

from .guest import UnavailableError, compile_program, find_busybox, find_kernel

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="session")
def guest_kernel() -> Path:
    """A kernel for guests; skips where guests cannot be had."""
    try:
        find_busybox()
        return find_kernel()
    except UnavailableError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def guest_programs() -> dict[str, Path | bytes]:
    """The programs of this folder, compiled, by their paths in the guest."""
    try:
        return {f"/bin/{p.stem}": compile_program(p) for p in sorted(PROGRAMS.glob("*.cpp"))}
    except UnavailableError as missing:
        pytest.skip(str(missing))
