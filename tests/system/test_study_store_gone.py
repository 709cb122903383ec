"""A store that is deleted while a study runs."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.system


@pytest.mark.rotating
@pytest.mark.parametrize("what", ["file", "folder"])
def test_deleted_store_ends_study_with_message(assay_exec: Path, tmp_path: Path, what: str) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    store = folder / "studies.db"
    cli = CommandLine(assay_exec, tmp_path, more={"ASSAY_DB": str(store)})
    hooks = ("--prepare", "sh -c 'echo x >> prepared'", "--cleanup", "touch cleaned")
    with cli.begun("measure", "--budget", "60s", *hooks, "--", "sleep", "0.05") as process:
        while not (tmp_path / "prepared").exists():
            assert process.poll() is None
            time.sleep(0.005)
        if what == "file":
            store.unlink()
        else:
            shutil.rmtree(folder)
        assert process.wait(30) == 3
    message = (tmp_path / "begun.err").read_text()
    assert "was deleted or moved while assay used it" in message
    assert "measured again" in message
    assert "Traceback" not in message
    assert (tmp_path / "cleaned").exists()
    assert not store.exists()
    assert folder.exists() is (what == "file")
