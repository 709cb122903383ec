"""Results: verdicts, rows, data frames, pictures, reports, and notebooks with hostile text."""

from __future__ import annotations

import base64
import builtins
import json
import pickle
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import report_studies
from matplotlib.figure import Figure

import assay
from assay.records import Kind
from assay.reporting.inputs import ReportInput
from assay.study.result import StudyResult

STUDIES = ("tune", "compare", "measure", "sweep", "keep_default", "interrupted", "all_failed")


def result_of(report: ReportInput) -> assay.Result:
    """Return the public result of a simulated study."""
    found = (
        None
        if report.conclusion is None
        else StudyResult(report.study_id, report.spec, report.conclusion, report.elapsed_s)
    )
    return assay.Result(report, found)


def made(name: str) -> assay.Result:
    report: Callable[[], ReportInput] = getattr(report_studies, name)
    return result_of(report())


class Elements(HTMLParser):
    """Elements of a document with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("name", STUDIES)
def test_result_shows_itself_as_text_and_in_a_notebook(name: str) -> None:
    result = made(name)
    assert repr(result).startswith(f"<assay.Result {result.kind} {result.id}, ")
    assert str(result)
    document = result._repr_html_()
    tags = [tag for tag, _ in Elements(document).found]
    assert "script" not in tags
    (frame,) = (attributes for tag, attributes in Elements(document).found if tag == "iframe")
    assert frame["sandbox"] == "allow-scripts"
    assert (frame["srcdoc"] or "").startswith("<!doctype html>")


def test_hostile_text_of_a_workload_is_escaped() -> None:
    result = made("hostile")
    outside = re.sub(r'srcdoc="[^"]*"', "", result._repr_html_())
    elements = Elements(outside).found
    assert {tag for tag, _ in elements} <= {
        *("div", "p", "strong", "table", "caption", "thead", "tbody", "tr", "th", "td"),
        *("img", "details", "summary", "iframe"),
    }
    assert all(not name.startswith("on") for _, attributes in elements for name in attributes)
    sources = [attributes["src"] or "" for tag, attributes in elements if tag == "img"]
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)


def test_tune_has_a_recommendation_and_a_command() -> None:
    result = made("tune")
    assert result.recommendation.settings
    assert result.verdict == result.recommendation.status == "proven"
    assert result.command.startswith("assay run ")
    assert result.script
    assert result.kind is Kind.TUNE


def test_default_needs_no_settings_in_its_command() -> None:
    result = made("keep_default")
    assert result.verdict == "default"
    assert not result.command.startswith("assay run")


def test_comparison_has_claims_but_no_recommendation() -> None:
    result = made("compare")
    assert result.verdict == result.claims[0].verdict
    with pytest.raises(assay.NotPossibleError, match="no recommendation"):
        _ = result.recommendation


def test_measurement_has_no_verdict() -> None:
    result = made("measure")
    assert result.verdict is None
    assert result.arms[0].summary


def test_unfinished_study_says_so() -> None:
    result = made("interrupted")
    assert result.conclusion is None
    assert result.verdict is None
    assert result.claims == ()
    assert "no conclusion yet" in str(result)
    with pytest.raises(assay.NotPossibleError, match="no conclusion yet"):
        result.to_json()


@pytest.mark.parametrize("name", STUDIES)
def test_rows_have_one_entry_for_each_sample(name: str) -> None:
    result = made(name)
    assert len(result.rows) == len(result.samples)
    assert len({tuple(row) for row in result.rows}) == 1
    for row, sample in zip(result.rows, result.samples, strict=True):
        assert row["arm"] == sample.launch.arm
        assert row["outcome"] == sample.outcome
        objective = result.spec.workload.objective.name
        assert row[objective] == sample.metrics.get(objective, row[objective])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frame_has_the_rows_and_columns(library: str) -> None:
    pytest.importorskip(library)
    result = made("tune")
    frame = result.to_frame(library)
    assert len(frame) == len(result.samples)
    assert list(frame.columns) == list(result.rows[0])


def test_frame_without_a_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_frames(name: str, *arguments: Any, **options: Any) -> Any:
        if name in ("pandas", "polars"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    for name in ("pandas", "polars"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    monkeypatch.setattr(builtins, "__import__", without_frames)
    with pytest.raises(assay.NotPossibleError, match=r"assay\[frames\]"):
        made("measure").to_frame()
    with pytest.raises(assay.NotPossibleError, match="polars is not"):
        made("measure").to_frame("polars")
    with pytest.raises(assay.InvalidInputError, match="Unknown library"):
        made("measure").to_frame("excel")


@pytest.mark.parametrize(
    ("name", "picture"),
    [("tune", "gain"), ("tune", "launches"), ("compare", "arms"), ("sweep", None), ("tune", None)],
)
def test_figure_is_one_of_matplotlib(name: str, picture: str | None) -> None:
    figure = made(name).figure(picture)
    assert isinstance(figure, Figure)
    assert figure.axes


def test_figure_shows_itself_in_a_notebook_without_pyplot() -> None:
    figure = made("tune").figure()
    png, size = figure._repr_png_()  # type: ignore[attr-defined]
    assert png.startswith(b"\x89PNG")
    assert size["width"] > size["height"] > 0
    assert pickle.loads(pickle.dumps(figure)).axes


def test_reported_values_have_a_figure_and_are_shown_in_a_notebook() -> None:
    result = made("progress")
    assert result.figure("progress").axes
    assert "of each launch, by step" in pictures_of(result)
    assert "of each launch, by step" not in pictures_of(made("tune"))


def pictures_of(result: assay.Result) -> str:
    """Return the pictures that a notebook shows, as SVG."""
    outside = re.sub(r'srcdoc="[^"]*"', "", result._repr_html_())
    sources = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', outside)
    return "".join(base64.b64decode(source).decode() for source in sources)


def test_unknown_figure_names_the_known_ones() -> None:
    with pytest.raises(assay.InvalidInputError, match="Did you mean arms"):
        made("compare").figure("arm")
    with pytest.raises(assay.NotPossibleError, match="no picture"):
        made("all_failed").figure()


@pytest.mark.parametrize("suffix", [".html", ".svg", ".png"])
def test_report_is_written_in_the_form_of_its_suffix(suffix: str, tmp_path: Path) -> None:
    path = made("compare").report(tmp_path / f"report{suffix}")
    assert path.stat().st_size > 1000


def test_report_with_an_unknown_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(assay.InvalidInputError, match="unknown suffix"):
        made("compare").report(tmp_path / "report.pdf")


def test_document_is_that_of_the_command_line() -> None:
    result = made("compare")
    document = json.loads(result.to_json())
    assert document["study"] == result.id
    assert [claim["verdict"] for claim in document["claims"]] == [c.verdict for c in result.claims]
    assert set(result.to_dict()) == {"study", "spec", "conclusion", "samples"}
