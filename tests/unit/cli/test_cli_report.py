"""`assay report`: name of the file."""

from __future__ import annotations

import pytest

from assay.cli.main import main


@pytest.mark.parametrize("name", ["x.pdf", "x.svg.gz", "page.html.gz"])
def test_a_page_is_not_put_into_a_file_of_another_kind(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "last", "-o", name, "--db", "/nonexistent/x.db"]) == 2
    told = capsys.readouterr().err
    assert "a report is a page of HTML" in told
    assert ".html" in told.splitlines()[-1]
