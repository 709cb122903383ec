"""Recorded machines, and small synthetic trees."""

import hashlib
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from assay.machine.root import Root

TESTS = Path(__file__).resolve().parents[2]
RECORDED = TESTS / "fixtures" / "hwloc"

# Most of a recorded tree is not needed here, and unpacking it takes seconds.
_LEFT_OUT = re.compile(
    r"/sys/(?:bus|block|class|firmware|kernel/iommu_groups)|/sys/devices/(?!cpu|system)|/run/|/cpuid/"
    r"|/proc/device-tree|/sys/devices/system/(?:memory|machinecheck|clockevents|edac|cpu/cpuidle)"
    r"|/(?:power|cpuidle|thermal_throttle|microcode|acpi_cppc|hypervisor_\w+|ondemand|stats)(?:/|$)"
    r"|/index[01](?:/|$)|/index\d/(?:coherency|number|physical|size|ways|attributes|cache_disable)"
    r"|/cpufreq/(?!cpuinfo|policy|boost|base)\w|/node\d+/(?:memory\d|hugepages|cpu\d|vmstat|numastat)"
)

Tree = Callable[[Mapping[str, str]], Root]


@pytest.fixture(scope="session")
def unpacked(request: pytest.FixtureRequest) -> Callable[[Path], Root]:
    """Return the machine of an archive, unpacked once for all runs."""
    folder = Path(request.config.cache.mkdir("recorded-machines"))
    return lambda archive: _unpack(archive, folder)


@pytest.fixture(scope="session")
def recorded(unpacked: Callable[[Path], Root]) -> Callable[[str], Root]:
    """Return a recorded machine by name."""
    return lambda name: unpacked(RECORDED / f"{name}.tar.bz2")


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Write files below a root; a text that starts with ``->`` is the target of a link."""

    def write(files: Mapping[str, str]) -> Root:
        base = tmp_path / "root"
        base.mkdir(exist_ok=True)
        for name, text in files.items():
            place = base / name.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            if text.startswith("->"):
                place.symlink_to(text[2:])
            else:
                place.write_text(text)
        return Root(base)

    return write


@pytest.fixture(scope="session")
def compiler() -> Callable[..., Path]:
    """Compile a C++ text to a file."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++")

    def build(target: Path, source: str, *options: str) -> Path:
        target.parent.mkdir(parents=True, exist_ok=True)
        command = ["g++", "-O0", "-x", "c++", "-", "-x", "none", "-o", str(target), *options]
        subprocess.run(command, input=source.encode(), check=True, timeout=60)
        return target

    return build


def _unpack(archive: Path, folder: Path) -> Root:
    """Return the needed parts of an archive, under a name that changes with its content."""
    digest = hashlib.sha256(archive.read_bytes() + _LEFT_OUT.pattern.encode()).hexdigest()[:16]
    target = folder / digest
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            with tarfile.open(archive) as tar:
                # Python 3.11.2 of Debian 12 has no filters.
                tar.extraction_filter = getattr(tarfile, "tar_filter", None)
                tar.extractall(scratch, members=_wanted(tar))
            (top,) = Path(scratch).iterdir()
            try:
                top.rename(target)
            except OSError:
                assert target.exists()  # another worker was faster
    return Root(target)


def _wanted(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for member in tar:
        if not _LEFT_OUT.search("/" + member.name.partition("/")[2]):
            yield member
