"""A study whose newest stratum has no verdict yet: that of an earlier one never stands for it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from assay.cli.main import main
from assay.records import Budget, Conclusion, Outcome, Sample, Status
from assay.search.conclusion.conclude import conclude
from assay.search.history.remaining_budget import LAUNCH_OVERHEAD_S
from assay.search.space.search_space import SearchSpace
from assay.store import StudyRecord, open_store
from assay.testing.search_contracts import RandomSearcher, SimulatedProgram
from assay.testing.store_contracts import make_stratum
from assay.units import show_duration

sys.path.insert(0, str(Path(__file__).parents[1] / "search"))
from simulated_studies import compare, factors

LATER = 5
"""Samples of the stratum that was stopped."""


@dataclass(frozen=True)
class Kept:
    """A study in a store."""

    id: str
    db: Path

    def __call__(self, *words: str) -> int:
        return main([*words, "--db", str(self.db)])


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    """One stratum with its verdict, and another that was stopped."""
    study = compare(
        SimulatedProgram(takes_s=factors(nice={1: 0.5})),
        Budget(launches=60),
        {"nice": 0},
        {"nice": 1},
    )
    path = tmp_path / "studies.db"
    old, new = (
        msgspec.structs.replace(make_stratum(number), model=model)
        for number, model in enumerate(("Old processor", "New processor"))
    )
    with open_store(str(path), create=True) as store:
        found = store.create_study(study.spec, old, 1.7e9)
        for sample in study.samples:
            store.add_sample(found, 0, sample)
        store.set_conclusion(found, study.conclusion)
        store.add_stratum(found, new)
        for sample in study.samples[:LATER]:
            store.add_sample(found, 1, sample)
        store.set_status(found, Status.INTERRUPTED)
    return Kept(found, path)


def test_the_page_is_of_the_newest_alone(kept: Kept, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert kept("report", kept.id, "-o", str(page)) == 0
    text = page.read_text()
    assert "No verdict yet." in text
    assert f"interrupted after {LATER} launches" in text
    assert "New processor" in text


def test_show_of_a_running_study_suggests_no_resuming(
    kept: Kept, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(str(kept.db)) as store:
        store.acquire(kept.id)
        store.set_status(kept.id, Status.RUNNING)
        assert kept("study", "show", kept.id) == 0
    said = capsys.readouterr().out
    assert "no conclusion of stratum 1 yet; the study is running" in said
    assert "study resume" not in said


def test_show_tells_that_there_is_none(kept: Kept, capsys: pytest.CaptureFixture[str]) -> None:
    assert kept("study", "show", kept.id) == 0
    lines = capsys.readouterr().out.splitlines()
    (none,) = [line for line in lines if "no conclusion of stratum 1 yet" in line]
    assert f"assay study resume {kept.id}" in none
    (before,) = [line for line in lines if "earlier stratum:" in line]
    assert lines.index(before) > lines.index(none)
    assert not any("whole picture" in line for line in lines)


@pytest.mark.parametrize("words", [("study", "show"), ("study", "export")])
def test_documents_tell_verdicts_by_their_strata(
    words: tuple[str, ...], kept: Kept, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kept(*words, kept.id, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document.get("conclusion") is None
    assert [found["stratum"] for found in document["conclusions"]] == [0]
    assert [sample["stratum"] for sample in document["samples"]].count(1) == LATER


@pytest.mark.parametrize("later", [0, 1, 4])
def test_launches_since_the_verdict_are_noted(
    later: int, kept: Kept, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(str(kept.db)) as store:
        samples = store.samples(kept.id, 1)[: LATER - later]
        store.acquire(kept.id)
        store.set_conclusion(kept.id, _of_newest(store.study(kept.id), samples))
    rest = "1 later one is" if later == 1 else f"{later} later ones are"
    first = f"{LATER - later} {'launch' if LATER - later == 1 else 'launches'}"
    note = f"the verdict is that of the first {first}; {rest} not in it: "
    note += f"`assay study resume {kept.id}` concludes again"
    page = tmp_path / "page.html"
    assert kept("study", "show", kept.id) == 0
    said = capsys.readouterr().out
    assert (f"note: {note}" in said) == bool(later)
    assert (f"{LATER - later} of {LATER} launches of stratum 1" in said) == bool(later)
    assert kept("report", kept.id, "-o", str(page)) == 0
    assert (note in page.read_text()) == bool(later)
    assert (f"of the verdict, of {LATER} of stratum 1" in page.read_text()) == bool(later)
    capsys.readouterr()
    assert kept("study", "show", kept.id, "--json") == 0
    assert json.loads(capsys.readouterr().out)["notes"] == ([note] if later else [])


def test_the_time_is_that_of_the_study_and_the_launches_those_of_the_stratum(
    kept: Kept, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(str(kept.db)) as store:
        record = store.study(kept.id)
        store.acquire(kept.id)
        store.set_conclusion(kept.id, _of_newest(record, store.samples(kept.id, 1)))
        store.add_elapsed(kept.id, 567.0)
        store.set_status(kept.id, Status.DONE)
    assert kept("study", "show", kept.id) == 0
    said = capsys.readouterr().out
    assert f"{record.launches} launches in 2 strata" in said
    assert f"{LATER} launches of stratum 1, {show_duration(567.0)} over all strata" in said
    assert kept("study", "resume", kept.id) == 0
    assert "the study had already ended, so nothing was launched" in capsys.readouterr().out
    page = tmp_path / "page.html"
    assert kept("report", kept.id, "-o", str(page)) == 0
    text = page.read_text()
    assert "of stratum 1" in text
    assert "over all 2 strata" in text


def _of_newest(record: StudyRecord, samples: list[Sample]) -> Conclusion:
    return conclude(record.spec, samples, SearchSpace(record.spec.space), RandomSearcher(), None)


def test_a_study_that_was_killed_tells_the_time_of_its_launches(
    kept: Kept, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its end was never written down."""
    with open_store(str(kept.db)) as store:
        samples = [s for stratum in (0, 1) for s in store.samples(kept.id, stratum)]
        assert store.study(kept.id).elapsed_s == 0.0
    wall_s = sum(s.wall_s or 0.0 for s in samples)
    assert kept("study", "show", kept.id) == 0
    head = capsys.readouterr().out.splitlines()[0]
    assert not head.endswith(", 0 s")
    assert head.endswith(f", {show_duration(wall_s + LAUNCH_OVERHEAD_S * len(samples))}")


def test_a_study_that_failed_says_why_and_does_not_advise_to_go_on(
    kept: Kept, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(str(kept.db)) as store:
        store.acquire(kept.id)
        (last, *_) = store.samples(kept.id, 1)
        launch = msgspec.structs.replace(last.launch, block=99)
        failed = msgspec.structs.replace(
            last, launch=launch, outcome=Outcome.FAILED, message="exit status 7", started_at=2e9
        )
        store.add_sample(kept.id, 1, failed)
        store.set_status(kept.id, Status.FAILED)
    assert kept("study", "show", kept.id) == 0
    said = capsys.readouterr().out
    assert "failed, without a conclusion. The last launch: exit status 7 (arm '" in said
    assert "Run it by hand first" in said
    assert "study resume" not in said
    page = tmp_path / "page.html"
    assert kept("report", kept.id, "-o", str(page)) == 0
    text = page.read_text()
    assert "The last launch without a value: exit status 7 (arm " in text
    assert "continues the study" not in text
