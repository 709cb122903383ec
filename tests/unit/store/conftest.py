from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

import assay

pytest.register_assert_rewrite("assay.testing.store_contracts")

_NOBODY = 65534


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "assay.db"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Create a directory that other users can enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


@pytest.fixture
def unprivileged() -> Callable[[], AbstractContextManager[None]]:
    """Return a context without root privileges, in which file permissions are enforced."""

    @contextmanager
    def as_nobody() -> Iterator[None]:
        if os.geteuid() != 0:
            yield
            return
        os.seteuid(_NOBODY)
        try:
            yield
        finally:
            os.seteuid(0)

    return as_nobody


class Scripts:
    """Starter of Python programs that import the same assay as the test."""

    def __init__(self) -> None:
        source = str(Path(assay.__file__).parents[1])
        path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
        self._env = os.environ | {"PYTHONPATH": path}
        self._started: list[subprocess.Popen[str]] = []

    def start(self, text: str, *args: str | Path) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", text, *map(str, args)],
            env=self._env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def run(self, text: str, *args: str | Path) -> str:
        """Return the output of a program, which must succeed."""
        process = self.start(text, *args)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        return out

    def end(self) -> None:
        for process in self._started:
            process.kill()
            process.communicate()


@pytest.fixture
def scripts() -> Iterator[Scripts]:
    scripts = Scripts()
    yield scripts
    scripts.end()
