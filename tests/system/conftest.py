"""Fixtures for tests that launch real programs through assay-exec."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "native"


@pytest.fixture(scope="session")
def programs() -> Iterator[Path]:
    """Give the folder of the compiled test programs, which every user may enter."""
    compiler = shutil.which("g++") or shutil.which("c++") or pytest.skip("no C++ compiler")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for source in PROGRAMS.glob("*.cpp"):
            command = [
                compiler,
                "-std=c++20",
                "-O1",
                "-pthread",
                "-o",
                folder / source.stem,
                source,
            ]
            subprocess.run(command, check=True)
        yield folder
