"""The vendored library matches its checksum, and its licence is included."""

import hashlib
from importlib import resources

from assay.reporting.html import ECHARTS

VENDOR = resources.files("assay.reporting") / "vendor"


def test_checksum():
    named, file = (VENDOR / "echarts.min.js.sha256").read_text().split()
    assert file == "echarts.min.js"
    assert hashlib.sha256((VENDOR / file).read_bytes()).hexdigest() == named


def test_version_and_licence_match_report():
    library = (VENDOR / "echarts.min.js").read_text(encoding="utf-8")
    assert f'version="{ECHARTS}"' in library
    assert f"| {ECHARTS} | Apache-2.0" in (VENDOR / "README.md").read_text()
    licence = (VENDOR / "LICENSE.echarts.txt").read_text()
    for words in ("Apache License", "Baidu", "Mike Bostock", "The Apache Software Foundation"):
        assert words in licence


def test_library_can_be_embedded():
    library = (VENDOR / "echarts.min.js").read_text(encoding="utf-8")
    assert "</script" not in library.lower() and "<!--" not in library and "\r" not in library
