"""Hooks of mkdocs: add generated pages, and render links to files outside of the site as text."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
# mkdocs loads hooks by path, so the checkout is not on the search path.
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tools.docs import generated  # noqa: E402

LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(((?:\.\./)+[^)\s#]+)(?:#[^)\s]*)?\)")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add every generated page."""
    for path, content in generated.pages(Path(config.docs_dir)).items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Replace links to files of the repository by the path of the file.

    The site may be read without the repository, where such a link would lead nowhere.
    """
    folder = Path(config.docs_dir, page.file.src_uri).parent

    def shown(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(folder / match[2]))
        if target.is_relative_to(config.docs_dir) or not target.is_relative_to(ROOT):
            return match[0]
        return f"{match[1]} (`{target.relative_to(ROOT)}`)"

    return LINK.sub(shown, markdown)
