"""Native programs built apart from the package, most with sanitizers.

They are built below ``.checks/``, where later tests and the next run reuse unchanged objects. Below
``build/``, other tests would take them for the installed programs.
"""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def native_build(targets: Sequence[str], sanitizers: str = "", *words: str) -> Path:
    """Return the folder of a build with these targets.

    Args:
        sanitizers: as ASSAY_SANITIZE has them; none by default.
        words: more for CMake; with them the folder is another.
    """
    name = sanitizers.replace(",", "-") or "plain"
    folder = ROOT / ".checks" / (f"{name}-other" if words else name)
    build_in(folder, targets, f"-DASSAY_SANITIZE={sanitizers}", *words)
    return folder


def compiled(target: Path, sources: Sequence[str], *flags: str) -> Path:
    """A small program of the pager's sources, in a second or two and without CMake.

    Args:
        sources: below ``native/tier``.
    """
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    native = ROOT / "native"
    files = [native / "tier" / name for name in sources]
    command = ["g++", "-std=c++20", "-O0", *flags, f"-I{native}", "-o", target, *files]
    subprocess.run(command, check=True, timeout=120)
    return target


def cached_programs(sources: Sequence[Path], *flags: str) -> list[Path]:
    """Compile programs of one source each, unless an earlier run or another worker did so.

    Args:
        sources: each becomes a program named after it.
        flags: words for the compiler.

    Returns:
        The programs, in the order of the sources.
    """
    compiler = shutil.which("g++") or shutil.which("c++") or pytest.skip("no C++ compiler")
    version = subprocess.run([compiler, "--version"], capture_output=True, check=True).stdout

    def program(source: Path) -> Path:
        words = [compiler, *flags, str(source)]
        digest = hashlib.sha256(version + _with_headers(source) + repr(words).encode()).hexdigest()
        target = folder / f"{source.stem}-{digest[:16]}"
        if not target.exists():
            new = target.with_suffix(".new")
            subprocess.run([*words, "-o", new], check=True)
            new.rename(target)
        return target

    folder = ROOT / ".checks" / "programs"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock, ThreadPoolExecutor(2) as pool:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return list(pool.map(program, sources))


def _with_headers(source: Path) -> bytes:
    """Return the text of a source, and of the headers that it includes by their relative paths."""
    text = source.read_bytes()
    included = re.findall(rb'^ *# *include "([^"]+)"', text, re.M)
    headers = (source.parent / name.decode() for name in included)
    return text + b"".join(_with_headers(path) for path in headers if path.exists())


def build_in(folder: Path, targets: Sequence[str], *words: str) -> None:
    """Build targets in a folder.

    Args:
        words: more for CMake.
    """
    folder.mkdir(parents=True, exist_ok=True)
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    # Workers of one run of the tests build one after the other.
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in (
            ["cmake", "-S", ROOT / "native", "-B", folder, *generator, *words],
            ["cmake", "--build", folder, "--parallel", "2", "--target", *targets],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
