"""Hooks of mkdocs: add generated pages, and render links to files outside of the site as text."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

LOG = logging.getLogger("mkdocs.plugins.notebooks")
ROOT = Path(__file__).resolve().parents[2]
# mkdocs loads hooks by path, so the checkout is not on the search path.
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tools.docs import generated, notebooks  # noqa: E402

from assay.errors import NotPossibleError  # noqa: E402

FENCE = re.compile(r"^( *```)(\w+) ([^\n`]+)$", re.MULTILINE)
FILE = re.compile(r"(?:^| )file=(\S+)")
ROW = re.compile(r"^\|.*$", re.MULTILINE)
SPAN = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(([^)\s#:]+)(?:#[^)\s]*)?\)")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add every generated page."""
    for path, content in generated.pages(Path(config.docs_dir)).items():
        files.append(File.generated(config, path, content=content))
    for source in notebooks.notebooks(Path(config.docs_dir)):
        folder = source.relative_to(config.docs_dir).parent
        made = notebooks.page(_with_outputs(source), source.name)
        contents: dict[str, str | bytes] = {f"{source.stem}.md": made.markdown, **made.files}
        for name, content in contents.items():
            files.append(File.generated(config, (folder / name).as_posix(), content=content))
    return files


def _with_outputs(source: Path) -> dict[str, Any]:
    """Return a notebook with its outputs, or without them if it cannot run here."""
    try:
        return notebooks.cached(source, ROOT / "build" / "notebooks")
    except (ImportError, NotPossibleError) as error:
        LOG.info("%s: the cells have no outputs (%s)", source.name, error)
        return json.loads(source.read_text())


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Prepare a page of the repository for the site.

    Markers are replaced by generated tables. In code within tables, a pipe loses its backslash,
    which code forges need and mkdocs would show. The search of the site lists pages of verbs first.
    Links to files of the repository become the path of the file, since the site may be read
    without the repository. Options of fenced blocks are for the tests; a file name is shown.
    """
    folder = Path(config.docs_dir, page.file.src_uri).parent

    def shown(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(folder / match[2]))
        if target.is_relative_to(config.docs_dir) and not target.is_dir():
            return match[0].replace(".ipynb", ".md")
        return f"{match[1]} (`{target.relative_to(ROOT)}`)"

    if page.file.src_uri.startswith(f"{generated.VERBS}/"):
        page.meta["search"] = {"boost": 2}
    text = ROW.sub(_row, FENCE.sub(_fence, generated.expand(markdown)))
    return LINK.sub(shown, text)


def _row(match: re.Match[str]) -> str:
    return SPAN.sub(lambda span: span[0].replace("\\|", "|"), match[0])


def _fence(match: re.Match[str]) -> str:
    """Return the first line of a fenced block without options that mkdocs does not know."""
    file = FILE.search(match[3])
    title = f' title="{file[1]}"' if file else ""
    return f"{match[1]}{match[2]}{title}"
