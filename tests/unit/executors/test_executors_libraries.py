"""Libraries that a program loads while it runs, and what is said once they are others."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from assay.executors.evidence.libraries import libraries_changed, libraries_evidence
from assay.records import DEFAULT, Evidence, Launch, Outcome, RunFacts, Sample, Stage
from assay.records.facts import ReadBack
from assay.study.result import library_notes

SURVEY = Launch(configuration=DEFAULT, arm="default", stage=Stage.SURVEY, block=0, position=0)


def seen_of(*maps: Path | str, stage: Stage = Stage.SURVEY) -> Evidence | None:
    launch = msgspec.structs.replace(SURVEY, stage=stage)
    facts = RunFacts(outcome="exited", readback=ReadBack(maps=tuple(map(str, maps))))
    return libraries_evidence(launch, facts)


@pytest.fixture
def libraries(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "a folder"
    folder.mkdir()
    paths = [folder / "libplug.so", folder / "libblas.so.3.1"]
    for path in paths:
        path.write_text("one")
        os.utime(path, ns=(10**18, 10**18))
    return paths


def samples_with(evidence: Evidence | None) -> list[Sample]:
    kept = (evidence,) if evidence else ()
    other = Evidence(kind="containment", note="a 1 2")
    return [Sample(launch=SURVEY, outcome=Outcome.OK, evidence=(other, *kept))]


def test_shared_objects_of_the_first_launch_are_kept(libraries: list[Path]) -> None:
    data = libraries[0].with_name("data.bin")
    data.touch()
    gone = "/tmp/_unpacked/libonce.so"
    found = seen_of(*libraries, data, gone, f"{libraries[0]} (deleted)", "/dev/zero")
    assert found is not None
    assert found.value == 2.0
    for path in libraries:
        assert f"{path} 3 {10**18}" in (found.note or "").splitlines()


def test_other_launches_read_only_some_maps_and_keep_none(libraries: list[Path]) -> None:
    assert seen_of(*libraries, stage=Stage.CONFIRM) is None
    assert seen_of() is None
    assert libraries_evidence(SURVEY, RunFacts(outcome="exited")) is None


@pytest.mark.parametrize("change", ["size", "time", "gone"])
def test_changed_source_message_has_next_step(change: str, libraries: list[Path]) -> None:
    samples = samples_with(seen_of(*libraries))
    assert libraries_changed(samples) == []
    assert library_notes(samples) == ()
    match change:
        case "size":
            libraries[1].write_text("longer")
        case "time":
            os.utime(libraries[1], ns=(10**18, 10**18 + 1))
        case "gone":
            libraries[1].unlink()
    assert libraries_changed(samples) == [str(libraries[1])]
    (note,) = library_notes(samples)
    assert str(libraries[1]) in note
    assert "--new-stratum" in note
    libraries[0].write_text("another")
    (note,) = library_notes(samples)
    assert f"{libraries[1]} and 1 more" in note


def test_a_library_that_any_launch_saw_otherwise_has_changed(libraries: list[Path]) -> None:
    before = samples_with(seen_of(*libraries))
    libraries[0].write_text("another")
    after = samples_with(seen_of(*libraries))
    assert libraries_changed(after) == []
    for both in ([*before, *after], [*after, *before]):
        assert libraries_changed(both) == [str(libraries[0])]
