"""The sweeps below examples/sweep, each for real with as few launches as show something."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "examples" / "sweep").glob("*.toml"))
NUMBERS = "".join(f"{n * 7919 % 20011}\n" for n in range(20000))


@pytest.fixture
def env(tmp_path: Path, assay_exec: Path) -> dict[str, str]:
    folder = tmp_path / "build" / "examples"
    folder.mkdir(parents=True)
    (folder / "numbers.txt").write_text(NUMBERS)
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    return {
        **os.environ,
        "PYTHONPATH": path,
        "ASSAY_EXEC": str(assay_exec),
        "ASSAY_DB": str(tmp_path / "studies.db"),
        "ASSAY_DISTURBED_ABOVE": "never",
    }


def assay(folder: Path, env: dict[str, str], *words: str | Path) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-m", "assay", *map(str, words), "--json"],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.system
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_experiment_runs(file: Path, tmp_path: Path, env: dict[str, str]) -> None:
    plan = assay(tmp_path, env, "sweep", file, "--dry-run")
    launches = plan["launches"]
    assert isinstance(launches, int)
    found = assay(tmp_path, env, "sweep", file, "--runs", str(launches), "--budget", "5m")
    assert [c["settings"] for c in found["cells"]] == [c["settings"] for c in plan["cells"]]  # type: ignore[attr-defined]
    assert all("wall_s" in c["summary"] for c in found["cells"])  # type: ignore[attr-defined]
    assert not [note for note in found["notes"] if "failed" in note]  # type: ignore[attr-defined]
    assert bool(found["effects"]) is ("factors" in file.stem)


def test_experiments_exist() -> None:
    assert len(FILES) == 3
    listed = (ROOT / "examples" / "sweep" / "README.md").read_text()
    assert all(f"`{file.name}`" in listed for file in FILES)
