"""Progress: one line that is updated in a notebook or on a terminal."""

from __future__ import annotations

import sys
import threading
import types
import warnings
from typing import Any

import pytest

import assay
from assay.api.displays import NoDisplay, NotebookDisplay, find_display
from assay.api.progress_bar import NotebookObserver, ProgressBar
from assay.executors.progress.live import LatestReport
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
    bar.launching(LAUNCH, Budget(launches=4))  # drawn by the next update
    assert display.shown == [(0.5, "confirming, 4 launches, 5 left")]
    assert bar.study_id == "abc"


def test_bar_shows_the_newest_value_of_a_long_launch() -> None:
    display = Recorder()
    bar = ProgressBar(display, SPEC, 0)
    bar.watching(lambda: LatestReport("sps", 310.2, "samples/s", 120))
    bar.draw()  # nothing is known yet
    bar.launching(LAUNCH, Budget(launches=10))
    bar.draw()
    assert display.shown[-1] == (
        0.0,
        "confirming, sps 310 samples/s at step 120, 0 launches, 10 left",
    )


def test_remaining_time_counts_down_during_a_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [100.0]
    monkeypatch.setattr("assay.api.progress_bar.time.monotonic", lambda: now_s[0])
    display = Recorder()
    timed = StudySpec(kind=Kind.MEASURE, workload=Workload(argv=("a",)), budget=Budget(time_s=40))
    bar = ProgressBar(display, timed, 0)
    bar.launching(LAUNCH, Budget(time_s=40))
    now_s[0] += 10
    bar.draw()
    now_s[0] += 100
    bar.draw()
    assert display.shown == [
        (0.0, "confirming, 0 launches, 40.0 s left"),
        (0.25, "confirming, 0 launches, 30.0 s left"),
        (1.0, "confirming, 0 launches, 0 s left"),
    ]


def test_resumed_study_has_a_share_of_its_new_budget() -> None:
    display = Recorder()
    bar = ProgressBar(display, SPEC, 10)
    bar.launching(LAUNCH, Budget(launches=40))
    bar.launching(LAUNCH, Budget(launches=10))
    bar.draw()
    assert [share for share, _ in display.shown] == [0.0, 0.75]


def test_bar_names_the_build_and_the_end_of_the_program() -> None:
    display = Recorder()
    bar = ProgressBar(display, SPEC, 0)
    with bar.building(("make",)):
        pass
    bar.launching(LAUNCH, Budget(launches=10))
    bar.ending(10.0)
    assert [text for _, text in display.shown] == [
        "building the program",
        "confirming, 0 launches, 10 left",
        "ending the program, which takes up to 10.0 s, 0 launches, 10 left",
    ]


def test_finding_about_a_running_launch_is_a_warning() -> None:
    with pytest.warns(assay.AssayWarning, match="no value for 30 s"):
        ProgressBar(Recorder(), SPEC, 0).noticed("sps: no value for 30 s")


def test_thread_updates_the_display_until_the_end() -> None:
    display = Recorder()
    bar = ProgressBar(display, SPEC, 0)
    updated = threading.Event()

    def latest() -> None:
        if threading.current_thread().name == "assay-progress":
            updated.set()

    bar.watching(latest)
    with bar.updating():
        bar.launching(LAUNCH, Budget(launches=10))
        assert updated.wait(60)
    assert display.shown[-1] == (None, "")


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
