"""Rejected specifications create no study."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

import msgspec
import pytest

from assay.errors import InvalidInputError
from assay.launch.driver import Driver, find_launcher
from assay.machine.reader import read_machine
from assay.records import Arm, Bound, Configuration, Kind, Requirement
from assay.settings.registry import builtin
from assay.store import open_store
from assay.study.laboratory import Laboratory
from assay.study.listener import Listener
from assay.study.session import begin
from assay.testing.store_contracts import tune_spec

FIRST = tune_spec("./app").workload.objective.name
ONE = Arm(name="default", configuration=Configuration())
BOUND = Requirement(metric="wall_s", bound=Bound.AT_MOST, limit=1.0)


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("needs at least two arms", {"kind": Kind.COMPARE, "arms": (ONE,)}),
        ("needs at least two cells", {"kind": Kind.SWEEP, "arms": (ONE,)}),
        (
            "--require is for one objective",
            {"kind": Kind.TUNE, "objectives": (FIRST,), "requirements": (BOUND,)},
        ),
    ],
)
def test_rejected_study_is_not_stored(tmp_path: Path, told: str, asked: dict[str, object]) -> None:
    lab = Laboratory(
        machine=read_machine(),
        registry=builtin(),
        driver=Driver(find_launcher(os.environ), os.environ),
    )
    spec = msgspec.structs.replace(tune_spec("./app"), **asked)
    with open_store(str(tmp_path / "x.db"), create=True) as store:
        with pytest.raises(InvalidInputError, match=told):
            begin(lab, store, spec, cast(Listener, None))
        assert store.studies() == []
