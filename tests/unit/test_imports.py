"""What must not be imported where: start-up stays quick, the terminal's faces stay thin."""

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


def imported_by(code: str) -> set[str]:
    """Top-level modules that a fresh interpreter holds after running ``code``."""
    script = (
        "import sys\ntry:\n"
        + "".join(f"    {line}\n" for line in code.splitlines())
        + "except SystemExit:\n    pass\n"
        "print('\\n'.join(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    return set(answer.stdout.split())


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["tune", "--help"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    loaded = imported_by(f"from assay.cli.main import main\nmain({words!r})")
    assert "argparse" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_statistics_import_no_scipy() -> None:
    loaded = imported_by("import assay.stats.paired, assay.stats.verdict, assay.stats.summary")
    assert loaded.isdisjoint({"scipy", "numpy", "sqlalchemy", "optuna"})


def test_a_store_is_named_without_its_database() -> None:
    assert imported_by("import assay.store").isdisjoint({"sqlalchemy", "alembic"})


def test_the_list_can_fail() -> None:
    assert "sqlite3" in imported_by("import sqlite3")
    assert SRC.is_dir()
