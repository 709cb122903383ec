"""Warm start: selection of earlier studies and their results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from assay.errors import InvalidInputError
from assay.records import (
    DEFAULT,
    Budget,
    BuildRecipe,
    Choices,
    Configuration,
    Goal,
    Kind,
    Launch,
    Metric,
    Outcome,
    Parameter,
    Sample,
    Space,
    Stage,
    Statistic,
    Status,
    StudySpec,
    Workload,
)
from assay.search.model.warm_start import MAX_CONFIGURATIONS
from assay.search.space.search_space import SearchSpace
from assay.store import Store, StudyRecord, open_store
from assay.study.warm_start import (
    MAX_FOUND_STUDIES,
    MAX_NAMED_STUDIES,
    WarmStartRequest,
    earlier_studies,
    parse_warm_start,
)
from assay.testing.store_contracts import make_stratum

HERE, THERE = "0123456789abcdef", "fedcba9876543210"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "studies.db"), create=True) as opened:
        yield opened


def space_of(*names: str, size: int = 4) -> Space:
    domain = Choices(tuple(range(size)))
    return Space(parameters=tuple(Parameter(name=n, domain=domain, default=0) for n in names))


def spec_of(
    command: str = "app", names: Sequence[str] = ("arg.a",), size: int = 4, **more: object
) -> StudySpec:
    values = {"kind": Kind.TUNE, "workload": Workload(argv=(command,)), **more}
    return StudySpec(budget=Budget(launches=50), space=space_of(*names, size=size), **values)  # type: ignore[arg-type]


def kept(
    store: Store,
    spec: StudySpec,
    status: Status = Status.DONE,
    machine: str = HERE,
    at_s: float = 1.0,
    empty: bool = False,
) -> str:
    """Store a study of one block with all configurations; larger values are faster."""
    stratum = msgspec.structs.replace(make_stratum(), machine=machine)
    study = store.create_study(spec, stratum, at_s)
    every = SearchSpace(spec.space).enumerate(10_000) or []
    for position, configuration in enumerate([] if empty else every):
        wall_s = 1.0 - 0.1 * sum(int(v) for v in configuration.values()) / len(every)
        sample = Sample(
            launch=Launch(
                configuration=configuration,
                arm=str(configuration),
                stage=Stage.SEARCH,
                block=0,
                position=position,
            ),
            outcome=Outcome.OK,
            wall_s=wall_s,
            metrics={"wall_s": wall_s, "fps": 1.0 / wall_s},
        )
        store.add_sample(study, stratum.number, sample)
    store.set_status(study, status)
    store.release(study)
    return study


def found(store: Store, spec: StudySpec, *texts: str, machine: str = HERE) -> list[str]:
    wanted = parse_warm_start(store, texts, spec)
    told = earlier_studies(store, wanted, spec, SearchSpace(spec.space), machine)
    return [one.study for one in told]


def test_no_warm_start_by_default(store: Store) -> None:
    kept(store, spec_of())
    assert parse_warm_start(store, [], spec_of()) == WarmStartRequest()
    assert found(store, spec_of()) == found(store, spec_of(), "none") == []


def test_named_study_provides_its_results(store: Store) -> None:
    study = kept(store, spec_of())
    spec = spec_of()
    wanted = parse_warm_start(store, [study[:5], "last", study], spec)
    (one,) = earlier_studies(store, wanted, spec, SearchSpace(spec.space), HERE)
    assert (one.study, one.command, one.same_workload, one.launches) == (study, "app", True, 4)
    assert [k.configuration.get("arg.a", 0) for k in one.known_configurations] == [3, 2, 1, 0]
    assert one.known_configurations[-1].configuration == DEFAULT
    assert one.known_configurations[-1].log_ratio == 0.0


def test_conflicting_values_are_rejected(store: Store) -> None:
    study = kept(store, spec_of())
    for alone in ("auto", "none"):
        with pytest.raises(InvalidInputError, match=f"--warm-start {alone} excludes other values"):
            parse_warm_start(store, [alone, study], spec_of())
    with pytest.raises(InvalidInputError, match="Unknown study 'zzz'"):
        parse_warm_start(store, ["zzz"], spec_of())


def test_too_many_named_studies_are_rejected(store: Store) -> None:
    ids = [kept(store, spec_of(), at_s=float(i)) for i in range(MAX_NAMED_STUDIES + 1)]
    with pytest.raises(
        InvalidInputError,
        match=f"at most {MAX_NAMED_STUDIES} studies, but {MAX_NAMED_STUDIES + 1}",
    ):
        parse_warm_start(store, ids, spec_of())
    assert found(store, spec_of(), *ids[1:]) == ids[1:]


@pytest.mark.parametrize("kind", [Kind.MEASURE, Kind.COMPARE, Kind.CALIBRATE])
def test_study_of_other_kind_is_rejected(store: Store, kind: Kind) -> None:
    study = kept(store, spec_of(kind=kind))
    with pytest.raises(InvalidInputError, match=f"it is a {kind} study; only tune and sweep"):
        parse_warm_start(store, [study], spec_of())
    assert found(store, spec_of(), "auto") == []


def test_study_with_other_objective_is_rejected(store: Store) -> None:
    fps = Workload(argv=("app",), metrics=(Metric(name="fps", goal=Goal.HIGHER, pattern="x"),))
    study = kept(store, spec_of(workload=fps))
    spread = kept(store, spec_of(statistic=Statistic.SPREAD))
    for other, says in ((study, r"fps \(higher is better\)"), (spread, "the spread of wall_s")):
        with pytest.raises(InvalidInputError, match=f"objective is {says}"):
            parse_warm_start(store, [other], spec_of())
    assert found(store, spec_of(), "auto") == []
    assert found(store, spec_of(workload=fps), "auto") == [study]
    assert found(store, spec_of(workload=fps, statistic=Statistic.MEDIAN), study) == [study]


def test_study_without_results_for_space_is_rejected(store: Store) -> None:
    study, empty = kept(store, spec_of()), kept(store, spec_of(), empty=True)
    other = spec_of(names=("arg.b",))
    with pytest.raises(InvalidInputError, match="its settings are not varied here"):
        found(store, other, study)
    with pytest.raises(InvalidInputError, match="it has no launches"):
        found(store, spec_of(), empty)
    values = Space(parameters=(Parameter(name="arg.a", domain=Choices((7, 8)), default=7),))
    with pytest.raises(InvalidInputError, match="of its configurations none is in this space"):
        found(store, msgspec.structs.replace(other, space=values), study)
    assert found(store, other, "auto") == []


def test_auto_selects_same_workload_or_machine(store: Store) -> None:
    neighbour = kept(store, spec_of("other"), at_s=1.0)
    kept(store, spec_of("other"), machine=THERE, at_s=2.0)
    assert found(store, spec_of(), "auto") == [neighbour]
    same = kept(store, spec_of(), machine=THERE, at_s=3.0)
    assert found(store, spec_of(), "auto") == [same], "the workload counts for more"
    assert found(store, spec_of("third"), "auto", machine="elsewhere") == []


def test_auto_selects_newest_finished_studies(store: Store) -> None:
    ids = [kept(store, spec_of(), at_s=float(i)) for i in range(MAX_FOUND_STUDIES + 1)]
    kept(store, spec_of(), Status.FAILED, at_s=20.0)
    kept(store, spec_of(names=("arg.z",)), at_s=21.0)
    stopped = kept(store, spec_of(), Status.INTERRUPTED, at_s=22.0)
    assert found(store, spec_of(), "auto") == [stopped, *reversed(ids[2:])]


def test_auto_reads_no_more_studies_than_it_needs(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store may have thousands of studies of other programs, verbs and machines."""
    kept(store, spec_of("other"), at_s=1.0)
    ids = [kept(store, spec_of(), at_s=2.0 + number) for number in range(2 * MAX_FOUND_STUDIES)]
    kept(store, spec_of("other"), machine=THERE, at_s=20.0)
    kept(store, spec_of(kind=Kind.MEASURE), at_s=21.0)
    reads = counted_reads(store, monkeypatch)
    newest = ids[: -MAX_FOUND_STUDIES - 1 : -1]
    assert found(store, spec_of(), "auto") == reads == newest
    reads.clear()
    assert found(store, spec_of("third"), "auto") == reads == newest


def counted_reads(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which every read study is appended."""
    reads: list[str] = []
    read = store.study

    def study(study_id: str) -> StudyRecord:
        reads.append(study_id)
        return read(study_id)

    monkeypatch.setattr(store, "study", study)
    return reads


def test_configurations_are_limited_to_capacity_of_model(store: Store) -> None:
    names = ("arg.a", "arg.b", "arg.c")
    ids = [kept(store, spec_of(names=names), at_s=float(i)) for i in range(2)]
    spec = spec_of(names=names)
    told = earlier_studies(store, WarmStartRequest(tuple(ids)), spec, SearchSpace(spec.space), HERE)
    assert [len(one.known_configurations) for one in told] == [MAX_CONFIGURATIONS // 2] * 2
    assert told[0].known_configurations[0].configuration == Configuration(dict.fromkeys(names, 3))


def test_refused_configurations_are_ignored(store: Store) -> None:
    study = kept(store, spec_of())
    spec = spec_of()
    space = SearchSpace(spec.space, admissible=lambda c: c.get("arg.a") != 3)
    (one,) = earlier_studies(store, WarmStartRequest((study,)), spec, space, HERE)
    assert [k.configuration.get("arg.a", 0) for k in one.known_configurations] == [2, 1, 0]
    assert one.unused_configurations == 1


def test_newest_stratum_with_launches_is_used(store: Store) -> None:
    study = kept(store, spec_of())
    store.acquire(study)
    store.add_stratum(study, msgspec.structs.replace(make_stratum(), number=1, machine=HERE))
    assert found(store, spec_of(), study) == [study]


def test_built_programs_are_identified_by_build_command(store: Store) -> None:
    def built(word: str, cwd: str) -> StudySpec:
        recipe = BuildRecipe(argv=("cc", word, "-o", "{build}/app"), cwd=cwd)
        return spec_of(workload=Workload(argv=("{build}/app",), build=recipe))

    kept(store, built("other.c", "/src"), at_s=1.0)
    kept(store, built("app.c", "/elsewhere"), at_s=2.0)
    same = kept(store, built("app.c", "/src"), machine=THERE, at_s=3.0)
    kept(store, built("other.c", "/src"), at_s=4.0)
    assert found(store, built("app.c", "/src"), "auto") == [same]
