"""Fixtures of several test folders: the programs under test, and permission to change the host."""

import contextlib
import importlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from native_build import build_in
from rotation import rested, rotation_of
from shared_folder import folder_of_run

# A deadline in milliseconds measures the machine's other work; the same examples on every run.
settings.register_profile("assay", deadline=None, derandomize=True)
settings.load_profile("assay")

# A shell without job control starts background work with SIGINT and SIGQUIT ignored, nohup what it
# starts with SIGHUP, and our programs would inherit that: to interrupt them would test nothing.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


def _leave_group() -> None:
    """Make this process the leader of its own group, out of reach of the terminal's signals.

    Some tests stop a process. In a group without a parent in another group of the session, as that
    of a CI job is, the kernel then sends SIGHUP to all of the group as soon as any process ends
    that had such a parent (exit.c, kill_orphaned_pgrp): pytest and its workers among them.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        with contextlib.suppress(OSError):
            os.close(os.open("/dev/tty", os.O_RDWR))
            return
    with contextlib.suppress(PermissionError):  # the leader of a session stays where it is
        os.setpgid(0, 0)


_leave_group()

# Tests run concurrently: load of one must not withhold the verdict of another.
os.environ["ASSAY_DISTURBED_ABOVE"] = "never"

ROOT = Path(__file__).resolve().parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that chooses among the rotating tests."""
    parser.addoption(
        "--rotation",
        type=rotation_of,
        metavar="NUMBER/OF",
        help="of the tests marked rotating only this part (default: all)",
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose among the rotating tests, and skip those that change this host unless requested."""
    if rotation := config.getoption("--rotation"):
        left_out = rested(items, *rotation)
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]
    if os.environ.get("ASSAY_TEST_SYSTEM") == "1":
        return
    skip = pytest.mark.skip(reason="changes control groups of this host: set ASSAY_TEST_SYSTEM=1")
    for item in items:
        if item.get_closest_marker("system"):
            item.add_marker(skip)


@pytest.fixture(scope="session", autouse=True)
def one_blas_thread() -> Iterator[None]:
    """Give each worker one thread of BLAS: threads of two workers wait for each other, busily."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    from threadpoolctl import threadpool_limits

    importlib.import_module("scipy.linalg")  # loads the libraries that are limited
    with threadpool_limits(limits=1):
        yield


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a temporary folder that all workers of this run share."""
    return folder_of_run(tmp_path_factory)


@pytest.fixture(scope="session")
def assay_exec() -> Path:
    """Return the launcher under test: $ASSAY_EXEC, else the one built in this checkout.

    A launcher older than its sources is rebuilt if CMake is available. Without built sources or
    CMake, the installed launcher is used.
    """
    return _native("assay-exec", "launcher", "ASSAY_EXEC")


@pytest.fixture(scope="session")
def assay_noise() -> Path:
    """Provide the noise meter under test: $ASSAY_NOISE, otherwise found like the launcher."""
    return _native("assay-noise", "noise", "ASSAY_NOISE")


@pytest.fixture(scope="session")
def assay_broker() -> Path:
    """Provide the broker under test: $ASSAY_BROKER, otherwise found like the launcher."""
    return _native("assay-broker", "broker", "ASSAY_BROKER")


@pytest.fixture(scope="session")
def assay_kernels(assay_exec: Path) -> tuple[Path, ...]:
    """Provide the programs of the kernels, which are built beside the launcher."""
    found = sorted(assay_exec.parent.glob("assay-kernel-*"))
    if not found and shutil.which("cmake"):
        found = sorted(_build("assay-kernels").parent.glob("assay-kernel-*"))
    programs = tuple(path for path in found if path.is_file() and os.access(path, os.X_OK))
    assert programs, "no kernels are built beside the launcher"
    return programs


@pytest.fixture(scope="session")
def tier_allowed(assay_exec: Path) -> None:
    """Skip the test if the pager is not built, or this kernel or user does not support it."""
    from assay.errors import NotPossibleError
    from assay.tier.doctor import usable
    from assay.tier.probe import probe

    try:
        found = probe({**os.environ, "ASSAY_EXEC": str(assay_exec)})
    except NotPossibleError as error:
        pytest.skip(str(error))
    if not usable(found):
        pytest.skip("this kernel, or these rights, do not allow the tier: `assay tier doctor`")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Provide a folder on a disk: one in this checkout if temporary folders are in memory."""
    kind = subprocess.run(
        ["stat", "-f", "-c", "%T", tmp_path], capture_output=True, text=True, check=True
    ).stdout.strip()
    if kind not in ("tmpfs", "ramfs"):
        yield tmp_path
        return
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        yield Path(folder)


def _native(name: str, folder: str, variable: str) -> Path:
    if chosen := os.environ.get(variable):
        return Path(chosen).resolve(strict=True)
    built = [path for path in ROOT.glob(f"build*/**/{name}") if os.access(path, os.X_OK)]
    sources = [
        path for part in (folder, "common") for path in (ROOT / "native" / part).rglob("*.?pp")
    ]
    newest = max(path.stat().st_mtime for path in sources)
    fresh = [path for path in built if path.stat().st_mtime >= newest]
    if fresh:
        return max(fresh, key=lambda path: path.stat().st_mtime)
    if shutil.which("cmake"):
        return _build(name)
    if built:
        return max(built, key=lambda path: path.stat().st_mtime)
    if installed := shutil.which(name):
        return Path(installed)
    pytest.skip(f"{name} is not built: run cmake, or set {variable}")


def _build(name: str) -> Path:
    folder = ROOT / "build" / "native"
    build_in(folder, [name])
    if name == "assay-kernels":
        return folder / name
    # A program with more than one target has a folder of its own.
    return next(
        path for path in (folder / name, folder / name.partition("-")[2] / name) if path.exists()
    )
