"""The tutorial notebook runs, and its outputs become a page of the site."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from tools.docs import notebooks

import assay

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "docs" / "tutorial" / "notebook.ipynb"


@pytest.fixture(scope="module")
def executed(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> dict[str, Any]:
    """Return the notebook after a run in a folder of its own; the site shows these outputs."""
    packaged = Path(assay.__file__).parent / "_native" / "assay-exec"
    with pytest.MonkeyPatch.context() as patch:
        if "ASSAY_EXEC" not in os.environ and not packaged.exists():
            patch.setenv("ASSAY_EXEC", str(request.getfixturevalue("assay_exec")))
        patch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        patch.setenv("PYTHONPATH", str(Path(assay.__file__).parents[1]))
        found = notebooks.execute(SOURCE, tmp_path_factory.mktemp("notebook"))
    notebooks.store(found, notebooks.cache_path(SOURCE, ROOT / "build" / "notebooks"))
    return found


def outputs(notebook: dict[str, Any], cell: str) -> str:
    """Return the outputs of a cell as text."""
    (found,) = (one for one in notebook["cells"] if one["id"] == cell)
    return "".join(
        output.get("text", "") or output.get("data", {}).get("text/plain", "")
        for output in found["outputs"]
    )


def test_cells_print_the_answer_of_the_text(executed: dict[str, Any]) -> None:
    assert "arg.batch=64" in outputs(executed, "search")
    assert "{'arg.batch': 64}" in outputs(executed, "recommendation")
    assert outputs(executed, "show-command").startswith("assay run arg.batch=64 -- python3")
    assert "RunResult ok" in outputs(executed, "run-winner")
    assert "continues it" in outputs(executed, "cancel-study")
    assert re.fullmatch(r"\('interrupted', \d+, 'done', \d+\)", outputs(executed, "resume"))
    assert outputs(executed, "measured").startswith("sps: ")


def test_result_and_figure_show_themselves(executed: dict[str, Any]) -> None:
    data = {
        cell["id"]: cell["outputs"][-1].get("data", {})
        for cell in executed["cells"]
        if cell.get("outputs")
    }
    assert "assay-result" in data["result"]["text/html"]
    assert data["progress-figure"]["image/png"]
    assert "<table" in data["rows"]["text/html"]


def test_no_cell_warns(executed: dict[str, Any]) -> None:
    streams = [
        output
        for cell in executed["cells"]
        for output in cell.get("outputs", ())
        if output["output_type"] == "stream" and output["name"] == "stderr"
    ]
    assert streams == []


def test_page_has_all_outputs(executed: dict[str, Any]) -> None:
    page = notebooks.page(executed, SOURCE.name)
    assert set(page.files) == {"notebook-result.html", "notebook-progress-figure.png"}
    assert all(f'"{name}"' in page.markdown or f"({name})" in page.markdown for name in page.files)
    assert "<progress" not in page.markdown
    assert page.markdown.count("```") % 2 == 0


def test_notebook_is_stored_without_outputs() -> None:
    notebook = json.loads(SOURCE.read_text())
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    page = notebooks.page(notebook, SOURCE.name)
    assert page.files == {}
    assert page.markdown.startswith("# Tutorial")
