"""A recorded machine in a folder, and a folder for the journal."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.host.journal import STATE_VARIABLE
from host.trees import plant


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Provide a recorded tree."""
    base = tmp_path / "tree"
    plant(base)
    return base


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide a folder for the journal."""
    folder = tmp_path / "state"
    monkeypatch.setenv(STATE_VARIABLE, str(folder))
    return folder
