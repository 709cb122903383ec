"""Golden reports: reviewed text and figure data of complete reports.

``ASSAY_GOLDEN=update`` rewrites them; review the difference before committing it. Pictures are not
stored: they depend on the version of Matplotlib, and are drawn from the figure data stored here.
"""

import json
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import report_studies as studies  # noqa: E402

from assay.reporting.html import render  # noqa: E402

CASES = {
    "tune": lambda: studies.tune(8, confirm_blocks=6),
    "compare": lambda: studies.compare(blocks=6),
    "measure": lambda: studies.measure(launches=6),
    "sweep": lambda: studies.sweep(),
    "progress": lambda: studies.progress(blocks=3),
    "interrupted": lambda: studies.interrupted(),
}
BLOCKS = {
    "section",
    "p",
    "h1",
    "h2",
    "h3",
    "tr",
    "li",
    "dt",
    "dd",
    "caption",
    "nav",
    "footer",
    "div",
    "summary",
    "pre",
}


class Words(HTMLParser):
    """Parser of visible text: one block per line, cells of a row separated by bars."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.lines, self.line, self.skip, self.data, self.block = [], [], 0, {}, None

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "style", "svg", "title"):
            self.skip += 1
            self.block = dict(attributes).get("id")
        elif tag in BLOCKS:
            self.end_line()
        elif tag in ("td", "th"):
            self.line.append(" | ")

    def handle_endtag(self, tag):
        if tag in ("script", "style", "svg", "title"):
            self.skip -= 1
            self.block = None
        elif tag in BLOCKS:
            self.end_line()

    def handle_data(self, data):
        if not self.skip:
            self.line.append(data)
        elif self.block:
            self.data[self.block] = data

    def end_line(self):
        text = " ".join("".join(self.line).split()).strip("| ")
        if text:
            self.lines.append(text)
        self.line = []


def rounded(value):
    """Round numbers to six significant digits, which a re-analysis must reproduce."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return value


def documents(name):
    page = Words()
    page.feed(render(CASES[name]()))
    page.end_line()
    figures = rounded(json.loads(page.data["assay-figures"]))
    lines = json.dumps(figures, indent=1, sort_keys=True)
    short = re.sub(r"\{[^{}\[\]]*\}|\[[^{}\[\]]*\]", lambda m: " ".join(m[0].split()), lines)
    return {"txt": "\n".join(page.lines) + "\n", "json": short + "\n"}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("ending", ["txt", "json"])
def test_report_matches_golden_file(name, ending):
    found = documents(name)[ending]
    golden = HERE / f"report_{name}.{ending}"
    if os.environ.get("ASSAY_GOLDEN") == "update":
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8")
