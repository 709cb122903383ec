"""Fixtures for tests that boot guests."""

import re
from pathlib import Path
from typing import Any

import pytest

from .guest import (
    UnavailableError,
    compile_program,
    find_busybox,
    find_kernel,
    find_newer_kernel,
)

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
OF_GUESTS = ("agent", "send", "tree")
"""Programs that guests themselves need; the others are launched by tests."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Assign whole guests to each worker of pytest-xdist: else each would boot a shared guest."""
    from xdist.scheduler import LoadScopeScheduling

    class ByGuest(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return guest_of(nodeid)

    return ByGuest(config, log)


def guest_of(nodeid: str) -> str:
    """Return a name for the guest of a test; tests with the same name share it."""
    path, _, test = nodeid.partition("::")
    place = Path(path)
    if place.parent.name != HERE.name:
        return str(place.parent)  # a folder has one guest
    if place.stem == "test_guest":
        return nodeid
    mode = re.search(r"\[(?:.*-)?(v1|v2|hybrid|none)\]$", test)
    return f"{path} {mode[1]}" if mode else path


@pytest.fixture(scope="session")
def guest_kernel() -> Path:
    """Return a kernel for guests; skip the test if guests are not available."""
    try:
        find_busybox()
        return find_kernel()
    except UnavailableError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def newer_kernel(guest_kernel: Path) -> Path:
    """Return a kernel of 6.9 or later for guests; skip the test without one."""
    try:
        return find_newer_kernel()
    except UnavailableError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def tree_program(guest_kernel: Path) -> Path:
    """Return the program that gathers a guest's files."""
    try:
        return compile_program(PROGRAMS / "tree.cpp")
    except UnavailableError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def guest_programs() -> dict[str, Path | bytes]:
    """Return the compiled programs of this folder, by their paths in the guest."""
    try:
        sources = [p for p in sorted(PROGRAMS.glob("*.cpp")) if p.stem not in OF_GUESTS]
        return {f"/bin/{source.stem}": compile_program(source) for source in sources}
    except UnavailableError as missing:
        pytest.skip(str(missing))
