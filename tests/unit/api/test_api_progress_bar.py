"""Progress: one line that is updated in a notebook or on a terminal."""

from __future__ import annotations

import sys
import types
import warnings
from typing import Any

import pytest

import assay
from assay.api.progress_bar import (
    NoDisplay,
    NotebookDisplay,
    NotebookObserver,
    ProgressBar,
    find_display,
)
from assay.records import Budget, Configuration, Kind, Launch, Stage, StudySpec, Workload

SPEC = StudySpec(kind=Kind.MEASURE, workload=Workload(argv=("a",)), budget=Budget(launches=10))
LAUNCH = Launch(
    configuration=Configuration(), arm="default", stage=Stage.CONFIRM, block=0, position=0
)


class Recorder:
    """Display that keeps what it shows, as a handle of IPython and as a display of assay."""

    def __init__(self) -> None:
        self.shown: list[tuple[float | None, str]] = []
        self.updates: list[Any] = []

    def show(self, share: float | None, text: str) -> None:
        self.shown.append((share, text))

    def close(self) -> None:
        self.shown.append((None, ""))

    def update(self, value: Any) -> None:
        self.updates.append(value)


def test_bar_shows_stage_launches_and_rest_of_the_budget() -> None:
    display = Recorder()
    bar = ProgressBar(display, SPEC, 4)
    bar.started("abc")
    bar.launching(LAUNCH, Budget(launches=5))
    bar.launching(LAUNCH, Budget(launches=4))  # within the same second
    assert display.shown == [(0.5, "confirming, 4 launches, 5 left")]
    assert bar.study_id == "abc"


def test_notebook_line_is_updated_in_place_and_escaped() -> None:
    handle = Recorder()
    made: list[Any] = []

    def display(value: Any, *, display_id: bool) -> Recorder:
        made.append((value, display_id))
        return handle

    line = NotebookDisplay(display)
    line.show(0.25, "<script>alert(1)</script>")
    line.show(None, "inspecting")
    line.close()
    assert len(made) == 1
    first, second, last = handle.updates
    assert "<script>" not in first._repr_html_()
    assert 'value="0.250"' in first._repr_html_()
    assert "[#####" in repr(first)
    assert "value" not in second._repr_html_()
    assert (last._repr_html_(), repr(last)) == ("", "")


@pytest.mark.parametrize("kernel", [None, object()])
def test_display_is_that_of_a_notebook_if_there_is_a_kernel(
    kernel: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, part = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    package.get_ipython = lambda: types.SimpleNamespace(kernel=kernel)  # type: ignore[attr-defined]
    part.display = lambda value, display_id: Recorder()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", part)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(find_display(), NotebookDisplay if kernel else NoDisplay)


def test_announcements_are_warnings() -> None:
    observer = NotebookObserver(visible=False)
    with pytest.warns(assay.AssayWarning, match="needs 2 boots"):
        observer.boots_announced("needs 2 boots")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with observer.inspecting(), observer.building(("make",)):
            pass
        with observer.listening(SPEC) as listener:
            listener.started("xyz")
    assert observer.study_id == "xyz"
