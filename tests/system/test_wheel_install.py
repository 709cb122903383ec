"""The wheel installs and works in fresh distributions that have no compiler.

Root makes them with mmdebstrap, below ``.checks/``, where the next run finds them.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.system, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[2]
CHECKS = ROOT / ".checks" / "wheel"
RELEASES = {"bookworm": "3.11", "trixie": "3.13"}
"""Debian 12 and 13, with the version of Python that each has."""
PLATFORMS = (
    "manylinux_2_36",
    "manylinux_2_28",
    "manylinux_2_27",
    "manylinux_2_17",
    "manylinux2014",
)
MAX_INSTALL_S = 60
"""Several times the usual time: a build from source would take minutes."""


def locked(name: str) -> Iterator[Path]:
    """Provide a folder that one process at a time fills."""
    folder = CHECKS / name
    folder.mkdir(parents=True, exist_ok=True)
    with (CHECKS / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


@pytest.fixture(scope="module")
def wheel() -> Iterator[Path]:
    """Provide the portable wheel of this checkout."""
    for folder in locked("built"):
        shutil.rmtree(folder)
        tool = ROOT / "tools" / "portable_wheel.py"
        subprocess.run([sys.executable, tool, folder], check=True, timeout=1800)
        (found,) = folder.glob("*.whl")
        yield found


@pytest.fixture(params=RELEASES)
def release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def packages(wheel: Path, release: str) -> Iterator[Path]:
    """Provide a folder with the wheel and its dependencies, all of them built."""
    for folder in locked(f"packages-{release}"):
        for old in folder.glob("assay-*.whl"):
            old.unlink()
        platforms = [f"--platform={name}_{os.uname().machine}" for name in PLATFORMS]
        words = [
            *(sys.executable, "-m", "pip", "download", "-q", "--only-binary=:all:", *platforms),
            *("--python-version", RELEASES[release], "--find-links", folder, "-d", folder, wheel),
        ]
        subprocess.run(words, check=True, timeout=600)
        yield folder


@pytest.fixture
def distribution(release: str) -> Iterator[Path]:
    """Provide the root folder of a fresh distribution with Python and without a compiler."""
    if os.geteuid() != 0 or not shutil.which("mmdebstrap") or not shutil.which("unshare"):
        pytest.skip("needs root, mmdebstrap and unshare")
    for folder in locked(release):
        archive = folder / "root.tar"
        if not archive.exists():
            words = [
                *("mmdebstrap", "--variant=apt", "--include=python3-venv"),
                *(
                    "--aptopt=Acquire::Check-Valid-Until false",
                    "--aptopt=Acquire::Check-Date false",
                ),
                *(release, folder / "new.tar"),
            ]
            done = subprocess.run(words, capture_output=True, text=True, timeout=1200)
            if done.returncode != 0:
                pytest.skip(f"mmdebstrap cannot fetch {release}: {done.stderr[-300:]}")
            (folder / "new.tar").rename(archive)
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            # Device nodes cannot be made everywhere; the host's /dev is mounted instead.
            words = ["tar", "-C", root, "--exclude=./dev/*", "-xf", archive]
            subprocess.run(words, check=True)
            yield root


def run_in(root: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script in the distribution, with the host's devices and kernel files."""
    mounts = "mount -t proc proc $0/proc && mount --rbind /sys $0/sys && mount --rbind /dev $0/dev"
    inner = 'exec chroot "$0" /bin/sh -euc "$1"'
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", f"{mounts} && {inner}", root, script],
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin:/opt/assay/bin", "HOME": "/root"},
        capture_output=True,
        text=True,
        timeout=900,
    )


def test_wheel_installs_and_works_without_compiler(
    distribution: Path, packages: Path, release: str
) -> None:
    shutil.copytree(packages, distribution / "packages")
    absent = run_in(distribution, "! command -v cc gcc g++ clang cmake")
    assert absent.returncode == 0, absent.stdout
    made = run_in(distribution, "python3 -m venv /opt/assay")
    assert made.returncode == 0, made.stderr
    start, before = time.monotonic(), os.times()
    pip = (
        "/opt/assay/bin/pip install -q --no-index --find-links /packages --only-binary=:all: assay"
    )
    installed = run_in(distribution, pip)
    wall_s, after = time.monotonic() - start, os.times()
    assert installed.returncode == 0, installed.stderr
    cpu_s = (after.children_user + after.children_system) - (
        before.children_user + before.children_system
    )
    print(f"{release}: installed in {wall_s:.1f} s, {cpu_s:.1f} s of CPU time")
    assert cpu_s < MAX_INSTALL_S

    case = "assay case run horner degree=64 --size tiny --variant powers --variant horner"
    measured = run_in(distribution, f"cd /root; {case} --runs 14 --disturbed-above never")
    assert measured.returncode == 0, measured.stderr
    assert "powers" in measured.stdout
    noise = run_in(distribution, "assay machine noise --seconds 1")
    assert noise.returncode == 0, noise.stderr
    assert "selfish" in noise.stdout
    # Its status shows whether this kernel supports the tier.
    tier = run_in(distribution, "assay tier doctor")
    assert "page faults" in tier.stdout, tier.stderr
