"""Noise floor from stored calibrations of a machine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from assay.records import (
    BuildRecipe,
    Calibration,
    Claim,
    Conclusion,
    Goal,
    Kind,
    Metric,
    Progress,
    Status,
    StudySpec,
    Until,
    Verdict,
    Workload,
)
from assay.store import Store, open_store
from assay.study.noise_floor import calibration_of_other_machine, machine_floor, with_launch_spread
from assay.study.result import stored_result
from assay.testing.store_contracts import make_conclusion, make_stratum, tune_spec

AUTO = Until()
HERE, THERE = "0123456789abcdef", "fedcba9876543210"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "studies.db"), create=True) as opened:
        yield opened


def null_claim(hi: float, **more: object) -> Claim:
    return Claim(
        a="default",
        b="default (again)",
        metric="wall_s",
        ratio=1.0,
        ci=(1 / hi, hi),
        verdict=Verdict.SAME,
        blocks=50,
        margin=0.01,
        alpha=0.05,
        method="mean",
        **more,  # type: ignore[arg-type]
    )


def spec_of(kind: Kind) -> StudySpec:
    return msgspec.structs.replace(tune_spec("./app"), kind=kind)


def calibrated(
    store: Store,
    hi: float,
    at_s: float,
    machine: str = HERE,
    status: Status = Status.DONE,
    workload: Workload | None = None,
    **more: object,
) -> str:
    stratum = msgspec.structs.replace(make_stratum(), machine=machine)
    spec = spec_of(Kind.CALIBRATE)
    spec = msgspec.structs.replace(spec, workload=workload or spec.workload)
    study = store.create_study(spec, stratum, at_s)
    found = Conclusion(kind=Kind.CALIBRATE, metric="wall_s", noise_floor=null_claim(hi, **more))
    store.set_conclusion(study, found)
    store.set_status(study, status)
    return study


def test_no_floor_without_calibration(store: Store) -> None:
    stratum = msgspec.structs.replace(make_stratum(), machine=HERE)
    study = store.create_study(spec_of(Kind.COMPARE), stratum, 1.0)
    store.set_conclusion(study, make_conclusion())
    store.set_status(study, Status.DONE)
    assert machine_floor(store, HERE) is None


def test_newest_calibration_of_same_machine_is_used(store: Store) -> None:
    calibrated(store, 1.05, 100.0)
    newest = calibrated(store, 1.02, 200.0)
    calibrated(store, 1.5, 300.0, machine=THERE)
    found = machine_floor(store, HERE)
    assert found is not None
    assert (found.study, found.started_at, found.ci) == (newest, 200.0, (1 / 1.02, 1.02))
    assert found.command == "./app"
    assert machine_floor(store, "0" * 16) is None


def test_calibrations_of_other_machines_are_not_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = calibrated(store, 1.05, 100.0)
    for number in range(4):
        other = calibrated(store, 1.5, 200.0 + number, machine=THERE)
    reads: list[str] = []
    for name in ("study", "strata"):
        method = getattr(store, name)
        monkeypatch.setattr(
            store, name, lambda study_id, read=method: reads.append(study_id) or read(study_id)
        )
    found = machine_floor(store, HERE)
    assert found is not None and found.study == own
    assert calibration_of_other_machine(store, HERE) is None
    assert calibration_of_other_machine(store, "0" * 16) == other
    assert reads == [own, own]


def test_unfinished_and_withheld_calibrations_are_ignored(store: Store) -> None:
    good = calibrated(store, 1.02, 100.0)
    calibrated(store, 1.5, 200.0, status=Status.INTERRUPTED)
    calibrated(store, 1.5, 300.0, verdict_withheld=True)
    found = machine_floor(store, HERE)
    assert found is not None
    assert found.study == good


def test_calibration_of_other_machine_is_named_and_gives_no_floor(store: Store) -> None:
    other = calibrated(store, 1.02, 100.0, machine=THERE)
    stratum = msgspec.structs.replace(make_stratum(), machine=HERE)
    study = store.create_study(spec_of(Kind.COMPARE), stratum, 200.0)
    claim = msgspec.structs.replace(null_claim(1.2), b="B")
    compared = Conclusion(kind=Kind.COMPARE, metric="wall_s", claims=(claim,))
    store.set_conclusion(study, compared)
    result = stored_result(store, store.study(study))
    assert result is not None and result.floor is None
    assert any(note.startswith(f"calibration {other} is of another") for note in result.notes)
    of_memory = msgspec.structs.replace(claim, metric="peak_anon_bytes")
    store.set_conclusion(study, msgspec.structs.replace(compared, claims=(of_memory,)))
    result = stored_result(store, store.study(study))
    assert result is not None and result.notes == ()
    store.set_conclusion(study, compared)
    calibrated(store, 1.02, 50.0)
    result = stored_result(store, store.study(study))
    assert result is not None and result.floor is not None and result.notes == ()


def test_floor_is_part_of_stored_result(store: Store) -> None:
    calibration = calibrated(store, 1.9, 100.0)
    stratum = msgspec.structs.replace(make_stratum(), machine=HERE)
    study = store.create_study(spec_of(Kind.COMPARE), stratum, 200.0)
    claim = msgspec.structs.replace(
        null_claim(1.2), b="B", ratio=0.8, ci=(0.7, 0.9), verdict=Verdict.FASTER
    )
    conclusion = Conclusion(kind=Kind.COMPARE, metric="wall_s", claims=(claim,), notes=("first",))
    assert stored_result(store, store.study(study)) is None
    store.set_conclusion(study, conclusion)
    result = stored_result(store, store.study(study))
    assert result is not None
    assert result.floor is not None and result.floor.study == calibration
    assert result.conclusion.notes == ("first",), "the verdict document is that of its samples"
    assert len(result.notes) == 2
    own = msgspec.structs.replace(conclusion, noise_floor=null_claim(1.01))
    store.set_conclusion(study, own)
    result = stored_result(store, store.study(study))
    assert result is not None and result.floor is None


def test_verdict_belongs_to_its_own_stratum(store: Store) -> None:
    """The floor of an earlier stratum on another machine applies to neither machine."""
    study = calibrated(store, 1.02, 100.0)
    store.add_stratum(study, msgspec.structs.replace(make_stratum(1), machine=THERE))
    assert machine_floor(store, THERE) is None
    assert stored_result(store, store.study(study)) is None
    found = Conclusion(kind=Kind.CALIBRATE, metric="wall_s", noise_floor=null_claim(1.3))
    store.set_conclusion(study, found)
    floor = machine_floor(store, THERE)
    assert floor is not None and floor.ci == (1 / 1.3, 1.3)
    result = stored_result(store, store.study(study))
    assert result is not None and result.conclusion == found


def test_calibration_of_same_program_is_preferred(store: Store) -> None:
    own = calibrated(store, 1.01, 1.0)
    other = store.create_study(
        msgspec.structs.replace(tune_spec("./other"), kind=Kind.CALIBRATE),
        msgspec.structs.replace(make_stratum(), machine=HERE),
        2.0,
    )
    store.set_conclusion(
        other,
        Conclusion(kind=Kind.CALIBRATE, metric="wall_s", noise_floor=null_claim(1.5)),
    )
    store.set_status(other, Status.DONE)
    found = machine_floor(store, HERE, spec_of(Kind.CALIBRATE).workload)
    assert found is not None and found.study == own
    newest = machine_floor(store, HERE, Workload(argv=("./third",)))
    assert newest is not None and newest.study == other


def test_calibrated_programs_are_identified_by_build(store: Store) -> None:
    """Built programs have the same command: the file in the build directory."""

    def built(source: str) -> Workload:
        recipe = BuildRecipe(argv=("cc", "-o", "{build}/p", source), cwd="/src")
        return Workload(argv=("{build}/p",), build=recipe)

    own = calibrated(store, 1.01, 1.0, workload=built("own.c"))
    other = calibrated(store, 1.5, 2.0, workload=built("other.c"))
    for workload, study in ((built("own.c"), own), (built("other.c"), other)):
        found = machine_floor(store, HERE, workload)
        assert found is not None and found.study == study


def measured_spread(
    store: Store, sd: float, at_s: float, argv: str = "./app", machine: str = HERE
) -> str:
    workload = Workload(argv=(argv,))
    study = calibrated(store, 1.01, at_s, machine=machine, workload=workload)
    found = Conclusion(
        kind=Kind.CALIBRATE,
        metric="wall_s",
        noise_floor=null_claim(1.01),
        calibration=Calibration(
            median=60.0, sd_log=2 * sd, ratio_sd_log=math.sqrt(2.0) * sd, position=1.0
        ),
    )
    store.set_conclusion(study, found)
    return study


def reporting_study(until: Until | None = AUTO) -> StudySpec:
    sps = Metric(name="sps", goal=Goal.HIGHER, progress=Progress(pattern="sps (.*)"))
    return msgspec.structs.replace(
        spec_of(Kind.COMPARE), workload=Workload(argv=("./app",), metrics=(sps,)), until=until
    )


def test_spread_comes_from_the_newest_calibration_with_the_same_program(store: Store) -> None:
    measured_spread(store, 0.02, 100.0)
    newest = measured_spread(store, 0.004, 200.0)
    measured_spread(store, 0.05, 300.0, argv="./other")
    measured_spread(store, 0.06, 400.0, machine=THERE)
    found = with_launch_spread(reporting_study(), store, HERE).launch_spread
    assert found is not None
    assert (found.study, found.started_at) == (newest, 200.0)
    assert found.sd == pytest.approx(0.004)


@pytest.mark.parametrize("until", [None, Until(steady_steps=50.0)])
def test_launches_of_given_length_need_no_spread(store: Store, until: Until | None) -> None:
    measured_spread(store, 0.02, 100.0)
    assert with_launch_spread(reporting_study(until), store, HERE) == reporting_study(until)


def test_no_calibration_gives_no_spread(store: Store) -> None:
    assert with_launch_spread(reporting_study(), store, HERE).launch_spread is None
