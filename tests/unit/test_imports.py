"""Forbidden imports: start-up stays quick, and the command line stays thin."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"
HEAVY = (
    "alembic",
    "matplotlib",
    "msgspec",
    "numpy",
    "optuna",
    "threadpoolctl",
    "pandas",
    "pydantic",
    "rich",
    "scipy",
    "sqlalchemy",
    "sqlite3",
)


OF_STUDIES = (
    "bundle",
    "executors.executor",
    "executors.local",
    "reporting",
    "root_helper",
    "search",
    "stats",
    "store",
    "study.session",
    "wording",
)
"""Packages of assay that a launch does not need."""
JOURNAL = {"assay.host", "assay.host.journal"}
"""Modules that look for changes which an earlier assay left behind."""
SLOW_TO_LOAD = (
    "asyncio",
    "ctypes",
    "hashlib",
    "multiprocessing",
    "random",
    "shutil",
    "socket",
    "subprocess",
)
"""Modules of the standard library."""


def imported_by(code: str) -> set[str]:
    """Return the top-level modules of a fresh interpreter after running ``code``."""
    return {name.partition(".")[0] for name in modules_after(code)}


def modules_after(code: str) -> set[str]:
    """Return all its modules; nothing is launched."""
    script = (
        "import sys\ntry:\n"
        + "".join(f"    {line}\n" for line in code.splitlines())
        + "except SystemExit:\n    pass\n"
        "print('\\n'.join(sys.modules))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "ASSAY_EXEC": "/bin/true"},
    )
    return set(answer.stdout.split())


def within(loaded: set[str], *packages: str) -> set[str]:
    """Return the modules that are one of the packages or lie below it."""
    return {
        name for name in loaded for one in packages if name == one or name.startswith(f"{one}.")
    }


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["tune", "--help"]])
def test_help_imports_no_large_module(words: list[str]) -> None:
    loaded = imported_by(f"from assay.cli.main import main\nmain({words!r})")
    assert "argparse" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_plain_run_inspects_neither_program_nor_host() -> None:
    loaded = modules_after("from assay.cli.main import main\nmain(['run', '--', 'true'])")
    assert "assay.launch.driver" in loaded
    assert not within(loaded, *HEAVY) - within(loaded, "msgspec")
    assert not within(loaded, *SLOW_TO_LOAD)
    assert not within(loaded, *(f"assay.{name}" for name in OF_STUDIES))
    assert not within(loaded, "assay.machine", "assay.settings.registry")
    assert within(loaded, "assay.host") <= JOURNAL


def test_run_with_setting_imports_no_study_and_inspects_no_program() -> None:
    words = ["run", "--with", "nice=5", "--", "true"]
    loaded = modules_after(f"from assay.cli.main import main\nmain({words!r})")
    assert {"assay.settings.registry", "assay.launch.driver"} <= loaded
    assert not within(loaded, *HEAVY) - within(loaded, "msgspec")
    assert not within(loaded, *SLOW_TO_LOAD)
    assert not within(loaded, *(f"assay.{name}" for name in OF_STUDIES))
    assert not within(loaded, "assay.machine.programs.program")
    assert within(loaded, "assay.host") <= JOURNAL


def test_recommendation_runs_without_search_modules() -> None:
    loaded = modules_after(
        "import assay.cli.verbs.run, assay.api.launches.configured, assay.store.sqlite"
    )
    assert within(loaded, "sqlalchemy")
    assert not within(loaded, *HEAVY) - within(loaded, "msgspec", "sqlalchemy", "sqlite3")
    assert not within(loaded, "assay.search", "assay.stats", "assay.reporting", "assay.bundle")


def test_package_and_writer_import_little_of_the_standard_library() -> None:
    """A training script imports assay for one function, in at most 20 ms."""
    before = modules_after("pass")
    package = modules_after("import assay") - before
    assert package == {"assay"}
    writer = modules_after("import assay\nassay.progress(step=1)") - before
    assert within(writer, "assay") == {"assay", "assay.writers", "assay.writers.assay_progress"}
    assert not within(writer, *HEAVY, *SLOW_TO_LOAD, "re", "json", "threading", "typing")


def test_statistics_import_no_scipy() -> None:
    loaded = imported_by("import assay.stats.paired, assay.stats.verdict, assay.stats.summary")
    assert loaded.isdisjoint({"scipy", "numpy", "sqlalchemy", "optuna"})


def test_store_is_named_without_database_modules() -> None:
    assert imported_by("import assay.store").isdisjoint({"sqlalchemy", "alembic"})


def test_import_list_can_fail() -> None:
    assert "sqlite3" in imported_by("import sqlite3")
    assert SRC.is_dir()


@pytest.mark.rotating
def test_denormal_numbers_survive_imports_of_assay() -> None:
    """A library linked with -ffast-math would switch them off for the whole process (GCC 55522)."""
    modules = sorted(
        ".".join(path.relative_to(SRC).with_suffix("").parts)
        for path in (SRC / "assay").rglob("*.py")
        if path.name not in ("__init__.py", "__main__.py", "env.py")
        and "migrations" not in path.parts
    )
    script = (
        "import importlib, sys\n"
        f"for name in {modules!r}:\n    importlib.import_module(name)\n"
        "import numpy\n"
        "least = numpy.array([5e-324])\n"
        "assert (least * 1.0 == least).all() and 1e-310 / 2.0 > 0.0\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
