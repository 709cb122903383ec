"""Earlier studies of a store: which can guide a new one, and what it takes from them."""

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
from assay.store import Store, open_store
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
    """A study of one block in which every configuration ran; larger values are quicker."""
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


def test_none_by_default(store: Store) -> None:
    kept(store, spec_of())
    assert parse_warm_start(store, [], spec_of()) == WarmStartRequest()
    assert found(store, spec_of()) == found(store, spec_of(), "none") == []


def test_a_named_study_tells_what_it_knew(store: Store) -> None:
    study = kept(store, spec_of())
    spec = spec_of()
    wanted = parse_warm_start(store, [study[:5], "last", study], spec)
    (one,) = earlier_studies(store, wanted, spec, SearchSpace(spec.space), HERE)
    assert (one.study, one.command, one.same_workload, one.launches) == (study, "app", True, 4)
    assert [k.configuration.get("arg.a", 0) for k in one.known] == [3, 2, 1, 0]
    assert one.known[-1].configuration == DEFAULT
    assert one.known[-1].log_ratio == 0.0


def test_words_that_do_not_go_together(store: Store) -> None:
    study = kept(store, spec_of())
    for alone in ("auto", "none"):
        with pytest.raises(InvalidInputError, match=f"--warm-start {alone} goes with no other"):
            parse_warm_start(store, [alone, study], spec_of())
    with pytest.raises(InvalidInputError, match="Unknown study 'zzz'"):
        parse_warm_start(store, ["zzz"], spec_of())


def test_too_many_names(store: Store) -> None:
    ids = [kept(store, spec_of(), at_s=float(i)) for i in range(MAX_NAMED_STUDIES + 1)]
    with pytest.raises(
        InvalidInputError,
        match=f"takes {MAX_NAMED_STUDIES} studies at most, and {MAX_NAMED_STUDIES + 1}",
    ):
        parse_warm_start(store, ids, spec_of())
    assert found(store, spec_of(), *ids[1:]) == ids[1:]


@pytest.mark.parametrize("kind", [Kind.MEASURE, Kind.COMPARE, Kind.CALIBRATE])
def test_a_study_of_another_kind(store: Store, kind: Kind) -> None:
    study = kept(store, spec_of(kind=kind))
    with pytest.raises(InvalidInputError, match=f"of the kind {kind}, and only tune and sweep"):
        parse_warm_start(store, [study], spec_of())
    assert found(store, spec_of(), "auto") == []


def test_a_study_that_decides_by_something_else(store: Store) -> None:
    fps = Workload(argv=("app",), metrics=(Metric(name="fps", goal=Goal.HIGHER, pattern="x"),))
    study = kept(store, spec_of(workload=fps))
    spread = kept(store, spec_of(statistic=Statistic.SPREAD))
    for other, says in ((study, r"fps \(higher is better\)"), (spread, "the spread of wall_s")):
        with pytest.raises(InvalidInputError, match=f"decides by {says}"):
            parse_warm_start(store, [other], spec_of())
    assert found(store, spec_of(), "auto") == []
    assert found(store, spec_of(workload=fps), "auto") == [study]
    assert found(store, spec_of(workload=fps, statistic=Statistic.MEDIAN), study) == [study]


def test_a_study_that_tells_nothing_is_named(store: Store) -> None:
    study, empty = kept(store, spec_of()), kept(store, spec_of(), empty=True)
    other = spec_of(names=("arg.b",))
    with pytest.raises(
        InvalidInputError, match="the settings of its configurations are not varied here"
    ):
        found(store, other, study)
    with pytest.raises(InvalidInputError, match="it has made no launch"):
        found(store, spec_of(), empty)
    values = Space(parameters=(Parameter(name="arg.a", domain=Choices((7, 8)), default=7),))
    with pytest.raises(InvalidInputError, match="of its configurations none is in this space"):
        found(store, msgspec.structs.replace(other, space=values), study)
    assert found(store, other, "auto") == []


def test_what_is_looked_for_is_of_the_same_workload_else_machine(store: Store) -> None:
    neighbour = kept(store, spec_of("other"), at_s=1.0)
    kept(store, spec_of("other"), machine=THERE, at_s=2.0)
    assert found(store, spec_of(), "auto") == [neighbour]
    same = kept(store, spec_of(), machine=THERE, at_s=3.0)
    assert found(store, spec_of(), "auto") == [same], "the workload counts for more"
    assert found(store, spec_of("third"), "auto", machine="elsewhere") == []


def test_the_newest_that_ended_are_taken(store: Store) -> None:
    ids = [kept(store, spec_of(), at_s=float(i)) for i in range(MAX_FOUND_STUDIES + 1)]
    kept(store, spec_of(), Status.FAILED, at_s=20.0)
    kept(store, spec_of(names=("arg.z",)), at_s=21.0)
    stopped = kept(store, spec_of(), Status.INTERRUPTED, at_s=22.0)
    assert found(store, spec_of(), "auto") == [stopped, *reversed(ids[2:])]


def test_all_together_tell_no_more_than_a_model_is_told(store: Store) -> None:
    names = ("arg.a", "arg.b", "arg.c")
    ids = [kept(store, spec_of(names=names), at_s=float(i)) for i in range(2)]
    spec = spec_of(names=names)
    told = earlier_studies(store, WarmStartRequest(tuple(ids)), spec, SearchSpace(spec.space), HERE)
    assert [len(one.known) for one in told] == [MAX_CONFIGURATIONS // 2] * 2
    assert told[0].known[0].configuration == Configuration(dict.fromkeys(names, 3))


def test_what_the_machine_refuses_is_not_taken(store: Store) -> None:
    study = kept(store, spec_of())
    spec = spec_of()
    space = SearchSpace(spec.space, admissible=lambda c: c.get("arg.a") != 3)
    (one,) = earlier_studies(store, WarmStartRequest((study,)), spec, space, HERE)
    assert [k.configuration.get("arg.a", 0) for k in one.known] == [2, 1, 0]
    assert one.left_out == 1


def test_the_newest_stratum_with_launches_counts(store: Store) -> None:
    study = kept(store, spec_of())
    store.claim(study)
    store.add_stratum(study, msgspec.structs.replace(make_stratum(), number=1, machine=HERE))
    assert found(store, spec_of(), study) == [study]


def test_what_is_built_is_told_apart_by_what_builds_it(store: Store) -> None:
    def built(word: str, cwd: str) -> StudySpec:
        recipe = BuildRecipe(argv=("cc", word, "-o", "{build}/app"), cwd=cwd)
        return spec_of(workload=Workload(argv=("{build}/app",), build=recipe))

    kept(store, built("other.c", "/src"), at_s=1.0)
    kept(store, built("app.c", "/elsewhere"), at_s=2.0)
    same = kept(store, built("app.c", "/src"), machine=THERE, at_s=3.0)
    kept(store, built("other.c", "/src"), at_s=4.0)
    assert found(store, built("app.c", "/src"), "auto") == [same]
