"""Fixtures for tests that launch real programs through assay-exec."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from launching import CGROUPS, MAY_CHANGE_HOST, SESSION, Launcher, Record, groups_named

from native_build import cached_programs

PROGRAMS = Path(__file__).parent / "native"
LONGEST = (
    *("test_kernels.py", "test_tier_replay.py", "test_tier_run.py", "test_cli.py"),
    "test_session_processes.py",
)
"""Files whose tests take longest."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first: workers take files in this order."""
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.fixture(scope="session")
def programs() -> Iterator[Path]:
    """Provide the folder of the compiled test programs, which every user may enter."""
    sources = sorted(PROGRAMS.glob("*.cpp"))
    built = cached_programs(sources, "-std=c++20", "-O1", "-pthread")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for source, program in zip(sources, built, strict=True):
            shutil.copy(program, folder / source.stem)
        yield folder


@pytest.fixture(scope="session")
def exec_path(assay_exec: Path, programs: Path) -> Path:
    """Provide a copy that every user may run."""
    copy = programs / "assay-exec"
    shutil.copy(assay_exec, copy)
    copy.chmod(0o755)
    return copy


@pytest.fixture
def launcher(exec_path: Path, tmp_path: Path) -> Iterator[Launcher]:
    """Provide a launcher, and prove afterwards that it left no control group behind."""
    yield Launcher(exec_path, tmp_path)
    if MAY_CHANGE_HOST:
        left = groups_named(SESSION)
        for group in sorted(left, reverse=True):
            with contextlib.suppress(OSError):  # or every later test would fail with this one
                Path(group).rmdir()
        assert not left


@pytest.fixture
def v1_root(tmp_path: Path) -> str:
    """Provide a root that looks like a host with v1 hierarchies only."""
    root = tmp_path / "v1"
    root.mkdir()
    found = [
        name
        for name in ("memory", "freezer", "cpuacct", "pids")
        if (CGROUPS / name / "tasks").exists()
    ]
    if "freezer" not in found:
        pytest.skip("this host has no v1 freezer")
    for name in found:
        (root / name).symlink_to(CGROUPS / name)
    return str(root)


@pytest.fixture
def v2_root() -> str:
    """Return the v2 hierarchy of this host, as if it were the only one."""
    for place in (CGROUPS / "unified", CGROUPS):
        if (place / "cgroup.procs").exists() and not (place / "tasks").exists():
            return str(place)
    pytest.skip("this host has no v2 hierarchy")


@pytest.fixture(params=["own", "v1", "v2"])
def hierarchy(request: pytest.FixtureRequest) -> Record:
    """Provide the keys for a control group of each kind."""
    keys: Record = {"containment": "cgroup"}
    if request.param != "own":
        keys["cgroup_root"] = request.getfixturevalue(f"{request.param}_root")
    return keys
