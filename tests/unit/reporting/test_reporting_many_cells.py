"""Report of a sweep of many cells: the page draws some, and its data contain all."""

import json
import re

import pytest
from test_reporting_cells import sweep_over

from assay.records import Choices, Parameter
from assay.reporting.arms import MAX_DRAWN_ROWS, arm_rows
from assay.reporting.drawn import drawn_launches
from assay.reporting.figures import figures
from assay.reporting.html import render
from assay.reporting.pictures.rows import box_svg
from assay.reporting.trials import trials

CELLS = MAX_DRAWN_ROWS + 20


@pytest.fixture(scope="module")
def report():
    values = Choices(tuple(range(CELLS)))
    return sweep_over(Parameter(name="arg.n", domain=values), blocks=1)


def test_pictures_have_the_first_arms_and_the_number_of_others(report):
    shown = trials(report)
    found = figures(report, shown, arm_rows(report, shown))
    assert len(found.boxes.boxes) == MAX_DRAWN_ROWS
    assert found.boxes.others == 20
    assert len(found.gain.gains) == MAX_DRAWN_ROWS


def test_table_has_the_first_rows_and_scripts_have_all(report):
    page = render(report)
    table = re.search(r'<table id="all">.*?</table>', page, re.DOTALL)[0]
    assert table.count("data-row=") == MAX_DRAWN_ROWS
    assert f"The first {MAX_DRAWN_ROWS:,} of {CELLS:,} arms" in page
    data = data_of(page)
    assert len(data["rows"]) == CELLS
    assert len(data["further"]) == 20
    names = {row["name"] for row in data["rows"]}
    assert {entries[0] for entries in data["further"]} < names


def test_captions_count_the_arms_and_launches_of_the_picture(report, monkeypatch):
    monkeypatch.setattr(drawn_launches, "__defaults__", (200,))
    shown = trials(report)
    found = figures(report, shown, arm_rows(report, shown))
    dots = sum(len(box.dots) for box in found.boxes.boxes)
    assert 0 < dots < found.drawn.count == 200
    page = render(report)
    best = "The best 400 of {} cells are drawn, 25 of them at first; the table has all."
    assert f"{best.format(420)} {dots} of their 400 launches are drawn; tables" in page
    assert best.format(419).replace("25", "24") in page
    assert "200 of 420 launches are drawn, with the lowest and the highest values" in page


def test_static_picture_says_how_many_cells_the_table_has_besides(report):
    shown = trials(report)
    found = figures(report, shown, arm_rows(report, shown))
    picture = box_svg(found.boxes)
    assert f"{CELLS - 25} more arms in the table" in picture
    assert "of the search" not in picture


def data_of(page):
    import base64
    import gzip

    block = re.search(r'<script [^>]*id="assay-figures"[^>]*>(.*?)</script>', page, re.DOTALL)
    packed = "gzip" in block[0][:80]
    return json.loads(gzip.decompress(base64.b64decode(block[1])) if packed else block[1])
