"""Report of a sweep of many cells: the page draws some, and its data contain all."""

import json
import re

import pytest
from test_reporting_cells import sweep_over

from assay.records import Choices, Parameter
from assay.reporting.arms import MAX_DRAWN_ROWS, arm_rows
from assay.reporting.figures import figures
from assay.reporting.html import render
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


def data_of(page):
    import base64
    import gzip

    block = re.search(r'<script [^>]*id="assay-figures"[^>]*>(.*?)</script>', page, re.DOTALL)
    packed = "gzip" in block[0][:80]
    return json.loads(gzip.decompress(base64.b64decode(block[1])) if packed else block[1])
