"""Notebooks of the documentation: execution, and pages with their outputs."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

CELL_TIMEOUT_S = 300
FRAME_HEIGHT_PX = 1080
"""Height of the frame of an output with pictures."""
STYLE = (
    ":root{color-scheme:light dark}body{font:14px sans-serif;margin:8px}"
    "td,th{padding:2px 8px;text-align:right}td:first-child,th:first-child{text-align:left}"
)
"""Style of a frame, in place of that of a notebook."""
STYLED = re.compile(r"<style.*?</style>|\s(?:class|border|style)=\"[^\"]*\"", re.DOTALL)


class NotebookPage(NamedTuple):
    """Page of a notebook.

    Attributes:
        markdown: text of the page.
        files: contents of further files by name, in the folder of the page.
    """

    markdown: str
    files: dict[str, bytes]


def notebooks(docs: Path) -> list[Path]:
    """Return the notebooks of a folder."""
    return sorted(docs.rglob("*.ipynb"))


def execute(source: Path, folder: Path) -> Any:
    """Return a notebook with its outputs.

    Args:
        source: path of the notebook.
        folder: folder in which the cells run, and that keeps their studies.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(source, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT_S,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    return client.execute(
        env={
            **os.environ,
            "ASSAY_DB": str(folder / "studies.db"),
            "ASSAY_DISTURBED_ABOVE": "never",
            # Debuggers warn about frozen modules in the output of cells.
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        }
    )


def cached(source: Path, cache: Path) -> Any:
    """Return a notebook with its outputs, from an earlier execution if there is one.

    Args:
        source: path of the notebook.
        cache: folder of executed notebooks.

    Raises:
        ImportError: a package is missing that executes notebooks.
        NotPossibleError: the launcher is missing.
    """
    import nbclient  # noqa: F401 - its absence is noticed before a kernel starts
    import nbformat

    from assay.launch.driver import find_launcher

    find_launcher(os.environ)
    path = cache_path(source, cache)
    with _locked(cache):
        if not path.exists():
            with tempfile.TemporaryDirectory() as folder:
                store(execute(source, Path(folder)), path)
    return nbformat.read(path, as_version=4)


def cache_path(source: Path, cache: Path) -> Path:
    """Return the path of an executed notebook, which depends on its content."""
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    return cache / f"{source.stem}-{digest}.ipynb"


def store(notebook: Any, path: Path) -> None:
    """Write an executed notebook as a whole or not at all."""
    import nbformat

    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        nbformat.write(notebook, file)
    Path(file.name).replace(path)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def page(notebook: Any, name: str) -> NotebookPage:
    """Return the page of a notebook.

    Args:
        notebook: notebook, with or without outputs.
        name: file name of the notebook, which the page offers for download.
    """
    files: dict[str, bytes] = {}
    parts: list[str] = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            continue
        parts.append(f"```python\n{text}\n```")
        for output in _merged(cell.get("outputs", ())):
            parts += _output(output, f"{Path(name).stem}-{cell['id']}", files)
    link = f'<a href="{name}" download>Download this page as a notebook</a>'
    return NotebookPage("\n\n".join([parts[0], link, *parts[1:]]) + "\n", files)


def _merged(outputs: Iterable[Any]) -> list[Any]:
    """Return outputs with neighbouring texts as one."""
    found: list[Any] = []
    for output in filter(_is_shown, outputs):
        if found and output["output_type"] == found[-1]["output_type"] == "stream":
            found[-1] = {**found[-1], "text": found[-1]["text"] + output["text"]}
        else:
            found.append(output)
    return found


def _is_shown(output: Any) -> bool:
    """Return whether an output is not a bar of progress, which is empty at the end."""
    data = output.get("data", {})
    if "data" not in output:
        return True
    return bool(data.get("text/plain")) and "<progress" not in data.get("text/html", "")


def _output(output: Any, name: str, files: dict[str, bytes]) -> list[str]:
    """Return an output as Markdown; pictures and results become files."""
    if output["output_type"] == "stream":
        return [_text(output["text"])]
    if output["output_type"] == "error":
        return [_text(f"{output['ename']}: {output['evalue']}")]
    data = output["data"]
    if "image/png" in data:
        files[f"{name}.png"] = base64.b64decode(data["image/png"])
        return [f"![Output of the cell]({name}.png)"]
    markup = data.get("text/html", "")
    if "<iframe" in markup:
        head = f"<!doctype html><meta charset=utf-8><title>{name}</title><style>{STYLE}</style>"
        files[f"{name}.html"] = (head + markup).encode("utf-8", errors="replace")
        style = f"width:100%;height:{FRAME_HEIGHT_PX}px;border:0"
        return [f'<iframe src="{name}.html" title="Output of the cell" style="{style}"></iframe>']
    if "<table" in markup:
        return [re.sub(r"\n\s*", "", STYLED.sub("", markup))]
    return [_text(data["text/plain"])]


def _text(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"
