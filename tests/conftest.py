"""Fixtures that several folders of tests share."""

import os
import shutil
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[1] / "build"


@pytest.fixture(scope="session")
def assay_exec() -> Path:
    """The launcher under test: $ASSAY_EXEC, the last one built here, or the installed one."""
    if chosen := os.environ.get("ASSAY_EXEC"):
        return Path(chosen).resolve(strict=True)
    built = [path for path in BUILD.rglob("assay-exec") if os.access(path, os.X_OK)]
    if built:
        return max(built, key=lambda path: path.stat().st_mtime)
    if installed := shutil.which("assay-exec"):
        return Path(installed)
    pytest.skip("assay-exec is not built: run cmake, or set ASSAY_EXEC")
