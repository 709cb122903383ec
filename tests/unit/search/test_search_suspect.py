"""Suspect launches in an answer."""

import msgspec

from assay.records import DEFAULT, Evidence, Launch, Outcome, Sample, Stage
from assay.search.history.disturbance import OutsideLoad
from assay.wording.suspect import suspect_notes

LAUNCH = Launch(configuration=DEFAULT, arm="default", stage=Stage.CONFIRM, block=0, position=0)
SOUND = Sample(
    launch=LAUNCH,
    outcome=Outcome.OK,
    wall_s=1.0,
    evidence=(
        Evidence(kind="foreign_load", value=0.5, unit="s", external=True),
        Evidence(kind="host_cpus", value=2.0),
    ),
)
IMPOSSIBLE = msgspec.structs.replace(
    SOUND,
    evidence=(Evidence(kind="foreign_load", value=-0.5, unit="s"), *SOUND.evidence[1:]),
    contradictions=("its CPUs were busy for less",),
)


def test_study_without_suspect_launches_has_no_note() -> None:
    assert suspect_notes([], 2) == []


def test_note_counts_suspect_launches_and_quotes_the_last() -> None:
    (note,) = suspect_notes([IMPOSSIBLE], 3)
    assert note.startswith("1 of 3 launches is suspect")
    assert note.endswith("the last: its CPUs were busy for less")


def test_impossible_load_does_not_hide_other_load() -> None:
    """A negative load of one launch would cancel that of another in their block."""
    alone = OutsideLoad().with_launch(SOUND)
    assert OutsideLoad().with_launch(SOUND).with_launch(IMPOSSIBLE).share == alone.share > 0.2
