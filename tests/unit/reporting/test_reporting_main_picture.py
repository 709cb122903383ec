"""The main picture as a separate file."""

from __future__ import annotations

import struct
from xml.etree import ElementTree

import pytest
import report_studies as studies

from assay.errors import NotPossibleError
from assay.reporting.main_picture import main_png, main_svg
from assay.reporting.pictures import theme

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("measure", "Box plots of images_per_s"),
        ("compare", "Box plots of wall time"),
        ("tune", "Box plots of wall time"),
        ("sweep", "wall time in s over"),
    ],
)
def test_svg_is_a_document_with_its_style_ground_and_size(kind: str, title: str) -> None:
    document = main_svg(getattr(studies, kind)())
    assert document.startswith(b"<?xml")
    root = ElementTree.fromstring(document)
    assert root.tag == f"{SVG}svg"
    assert root.findtext(f"{SVG}title", "").startswith(title)
    assert root.get("width") == "880"
    assert root.find(f"{SVG}rect").get("class") == "f-panel"  # type: ignore[union-attr]
    assert "prefers-color-scheme:dark" in root.findtext(f"{SVG}style", "")


def test_png_is_twice_as_large() -> None:
    data = main_png(studies.compare())
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    assert width == 1760 and height > 100
    assert len(data) > 5000


def test_png_shows_each_launch_as_a_dot(monkeypatch: pytest.MonkeyPatch) -> None:
    report = studies.compare()
    with_dots = main_png(report)
    monkeypatch.setattr(theme, "_LENGTH", 0.0)
    assert len(main_png(report)) < 0.95 * len(with_dots)


def test_study_without_value_reports_reason_instead_of_picture() -> None:
    report = studies.all_failed()
    with pytest.raises(NotPossibleError, match="has no picture"):
        main_svg(report)
