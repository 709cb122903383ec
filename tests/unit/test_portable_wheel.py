"""The native programs and their wheel run on every supported distribution."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from wheel.wheelfile import WheelFile

TOOL = Path(__file__).resolve().parents[2] / "tools" / "portable_wheel.py"
SUPPORTED = {"Debian 12": (2, 36), "Ubuntu 24.04": (2, 39), "Debian 13": (2, 41)}
"""Distributions, with the version of glibc that each has."""


def glibc_here() -> tuple[int, int]:
    name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    if name != "glibc":
        pytest.skip("needs glibc")
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    if not shutil.which("objdump"):
        pytest.skip("needs objdump (binutils)")
    spec = importlib.util.spec_from_file_location("portable_wheel", TOOL)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def native(tmp_path: Path, assay_exec: Path, assay_kernels: tuple[Path, ...]) -> Path:
    """Provide a folder with the native programs as in a wheel."""
    folder = tmp_path / "wheel" / "assay" / "_native"
    folder.mkdir(parents=True)
    for path in assay_exec.parent.iterdir():
        if path.is_file() and (path.name.startswith("assay-") or path.suffix == ".so"):
            shutil.copy(path, folder)
    return folder


@pytest.mark.parametrize("distribution", SUPPORTED)
def test_programs_need_glibc_of_supported_distributions(
    tool: ModuleType, native: Path, distribution: str
) -> None:
    if glibc_here() > SUPPORTED[distribution]:
        pytest.skip(f"built with a newer glibc than that of {distribution}")
    assert tool.newest_glibc(native) <= SUPPORTED[distribution]


def test_programs_need_only_glibc_and_libgomp(tool: ModuleType, native: Path) -> None:
    needed = {name for one in tool.programs(native) for name in tool.needs(one).libraries}
    others = {name for name in needed if not tool.ALLOWED.fullmatch(name)}
    assert others <= {tool.OPENMP}, "libstdc++ and libgcc are linked statically"


def test_kernel_takes_the_openmp_runtime_beside_it(tool: ModuleType, native: Path) -> None:
    tool.add_openmp(native)
    runtime = native / "lib" / tool.OPENMP
    if not runtime.exists():
        pytest.skip("the kernels are built without OpenMP")
    kernel = next(one for one in tool.programs(native) if tool.OPENMP in tool.needs(one).libraries)
    env = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    shown = subprocess.run(["ldd", kernel], env=env, capture_output=True, text=True, check=True)
    (line,) = (line for line in shown.stdout.splitlines() if tool.OPENMP in line)
    loaded = Path(line.split("=>")[1].split()[0])
    assert loaded.resolve() == runtime.resolve()
    assert "GCC-exception-3.1" in (native / "lib" / "libgomp.txt").read_text()


def packed(native: Path, folder: Path) -> Path:
    """Pack the native programs into a wheel as pip builds it."""
    root = native.parents[1]
    metadata = root / "assay-9.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: assay\nVersion: 9\n")
    (metadata / "WHEEL").write_text(
        "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-linux_x86_64\n"
    )
    built = folder / "assay-9-py3-none-linux_x86_64.whl"
    with WheelFile(built, "w") as wheel:
        wheel.write_files(root)
    return built


def test_wheel_has_newest_tag_of_its_programs(
    tool: ModuleType, native: Path, tmp_path: Path
) -> None:
    for program in list(tool.programs(native))[2:]:
        program.unlink()
    tag = f"py3-none-{tool.platform_tag(native)}"
    (tmp_path / "new").mkdir()
    repaired = tool.repair(packed(native, tmp_path), tmp_path / "new")
    assert repaired.name == f"assay-9-{tag}.whl"
    with zipfile.ZipFile(repaired) as wheel:
        assert f"\nTag: {tag}\n" in wheel.read("assay-9.dist-info/WHEEL").decode()
    # Reading it checks each digest that the wheel records.
    with WheelFile(repaired) as wheel:
        for name in wheel.namelist():
            wheel.read(name)


def test_program_with_a_further_library_is_refused(
    tool: ModuleType, native: Path, tmp_path: Path
) -> None:
    if not shutil.which("c++"):
        pytest.skip("needs a C++ compiler")
    source = tmp_path / "throws.cpp"
    source.write_text("int main() { throw 1; }\n")
    subprocess.run(["c++", "-o", native / "assay-throws", source], check=True)
    (tmp_path / "new").mkdir()
    with pytest.raises(SystemExit, match=r"assay-throws needs libstdc\+\+\.so\.6"):
        tool.repair(packed(native, tmp_path), tmp_path / "new")
    assert not list((tmp_path / "new").iterdir())


@pytest.mark.parametrize(
    ("symbols", "expected"),
    [
        ((), (0, 0)),
        (("GLIBC_2.2.5", "GLIBC_2.34", "GLIBC_2.9"), (2, 34)),
        (("GLIBCXX_3.4.30", "GOMP_4.5"), (0, 0)),
        (("GLIBC_2.9", "GLIBC_2.10"), (2, 10)),
    ],
)
def test_newest_glibc_version_is_found(
    tool: ModuleType, symbols: tuple[str, ...], expected: tuple[int, int]
) -> None:
    assert tool.Needs((), symbols).glibc == expected
