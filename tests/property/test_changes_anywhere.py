"""Any changes in any order are undone completely."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.host.changes import ActionStatus, HostChanges
from assay.host.journal import STATE_VARIABLE, open_journal
from assay.host.undo import undo
from assay.records import WriteFile
from assay.testing.recorded_host import RecordedHost

THP = "/sys/kernel/mm/transparent_hugepage/enabled"
FILES = {
    "/proc/sys/kernel/random/boot_id": "b",
    THP: "always [madvise] never",
    "/proc/sys/vm/swappiness": "60",
    "/proc/sys/vm/dirty_ratio": "20",
    "/proc/sys/vm/dirty_bytes": "0",
}


def _zeroes(other: str):  # type: ignore[no-untyped-def]
    def effect(host: RecordedHost, path: str, text: str) -> str:
        host.put(other, "0")
        return text

    return effect


RATIO, BYTES = "/proc/sys/vm/dirty_ratio", "/proc/sys/vm/dirty_bytes"
EFFECTS = {RATIO: _zeroes(BYTES), BYTES: _zeroes(RATIO)}

thp = st.sampled_from(["always", "madvise", "never"]).map(
    lambda word: WriteFile(path=THP, value=word, form="choice")
)
swappiness = st.integers(0, 200).map(
    lambda n: WriteFile(path="/proc/sys/vm/swappiness", value=str(n), form="number")
)
dirty = st.one_of(
    st.integers(1, 100).map(
        lambda n: WriteFile(path=RATIO, value=str(n), form="number", resets=(BYTES,))
    ),
    st.integers(8192, 1 << 30).map(
        lambda n: WriteFile(path=BYTES, value=str(n), form="number", resets=(RATIO,))
    ),
)
wishes = st.lists(
    st.tuples(st.booleans(), st.lists(st.one_of(thp, swappiness, dirty), max_size=3)), max_size=6
)


def _kind(action: WriteFile) -> str:
    return "dirty" if "dirty" in action.path else action.path


@pytest.mark.rotating
@given(wishes)
def test_all_changes_are_undone(steps: list[tuple[bool, list[WriteFile]]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        base = Path(name) / "tree"
        for path, text in FILES.items():
            place = base / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text + "\n")
        before = {path: (base / path.lstrip("/")).read_bytes() for path in FILES}
        host = RecordedHost(base, EFFECTS)
        os.environ[STATE_VARIABLE] = f"{name}/state"
        try:
            with open_journal() as journal:
                for kept, actions in steps:
                    # The lock sees to it: a profile is applied while no study holds anything.
                    owner = "a" if kept else "b"
                    if kept:
                        HostChanges(host, journal, "b").restore()
                    asked = list({_kind(action): action for action in actions}.values())
                    outcomes = HostChanges(host, journal, owner).hold(asked)
                    assert {o.status for o in outcomes} <= {ActionStatus.GRANTED, ActionStatus.KEPT}
                HostChanges(host, journal, "b").restore()
                undo(host, journal, journal.entries, force=True)
                assert not journal.entries
        finally:
            del os.environ[STATE_VARIABLE]
        assert {path: (base / path.lstrip("/")).read_bytes() for path in FILES} == before
