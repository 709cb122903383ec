"""Pruning of a store: a policy that keeps every verdict checkable."""

from __future__ import annotations

import lzma
import shutil
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from assay.api.studies.compacting import compact
from assay.api.studies.pruning import Extent, Pruned, PrunePolicy, prune
from assay.bundle.recompute import is_same_conclusion, recompute
from assay.bundle.thinning import VerdictData, thinned
from assay.errors import InvalidInputError, NotPossibleError
from assay.records import Evidence, Stage, Status
from assay.store import Store, StoreUnusableError, open_store
from assay.testing.store_contracts import make_sample, make_stratum, tune_spec

V3 = Path(__file__).parents[1] / "store" / "assets" / "v3.db.xz"


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a store of earlier studies, upgraded once."""
    path = tmp_path_factory.mktemp("upgraded") / "v3.db"
    path.write_bytes(lzma.decompress(V3.read_bytes()))
    open_store(path).close()
    return path


@pytest.fixture(scope="module")
def before(upgraded: Path) -> dict[tuple[str, int], bool]:
    """Return the verdicts of that store."""
    with open_store(upgraded) as store:
        return verdicts(store)


@pytest.fixture
def store(upgraded: Path, tmp_path: Path) -> Store:
    return open_store(shutil.copy(upgraded, tmp_path))


def verdicts(store: Store) -> dict[tuple[str, int], bool]:
    """Return whether each verdict of a store follows from its samples."""
    found = {}
    for head in store.studies():
        study = store.study(head.id)
        for number, conclusion in store.conclusions(head.id).items():
            samples = store.samples(head.id, number)
            again = recompute(study.spec, samples, study.strata[number], conclusion)
            found[head.id, number] = is_same_conclusion(again, conclusion)
    return found


def pruned(store: Store, policy: PrunePolicy, *, apply: bool = True) -> list[Pruned]:
    return list(prune(store, policy, apply=apply))


def test_dry_run_changes_nothing(store: Store) -> None:
    heads = store.studies()
    samples = [store.samples(head.id) for head in heads]
    for extent in Extent:
        found = pruned(store, PrunePolicy(extent=extent), apply=False)
        assert any(one.freed_bytes for one in found)
    assert store.studies() == heads
    assert [store.samples(head.id) for head in heads] == samples


def test_thinned_studies_keep_their_verdicts(
    store: Store, before: dict[tuple[str, int], bool]
) -> None:
    heads = store.studies()
    whole = {head.id: store.samples(head.id) for head in heads}
    planned = pruned(store, PrunePolicy(extent=Extent.THIN), apply=False)
    found = pruned(store, PrunePolicy(extent=Extent.THIN))
    assert found == planned
    assert verdicts(store) == before
    kept_whole = {one.head.id for one in found if one.kept_because}
    assert {study_id for (study_id, _), holds in before.items() if not holds} == kept_whole
    assert any(before.values())
    for head in heads:
        thin = store.samples(head.id)
        assert len(thin) == head.launches
        confirmed = [s for s in whole[head.id] if s.launch.stage is Stage.CONFIRM]
        assert [s for s in thin if s.launch.stage is Stage.CONFIRM] == confirmed
        if head.id not in kept_whole:
            assert not any(store.outputs(head.id, 0))
    assert not any(one.freed_bytes for one in pruned(store, PrunePolicy(extent=Extent.THIN)))


@pytest.mark.parametrize("boots", [False, True])
def test_thinned_samples_keep_evidence_on_the_machine(store: Store, boots: bool) -> None:
    """Notes and ``resume`` compare it with the present machine."""
    libraries = Evidence(kind="libraries", value=1.0, note="/usr/lib/libx.so 1 2")
    other = Evidence(kind="other", note="read by no verdict")
    study_id = next(key[0] for key, holds in verdicts(store).items() if holds)
    record, conclusion = store.study(study_id), store.conclusion(study_id)
    assert conclusion is not None
    samples = [
        msgspec.structs.replace(sample, evidence=(*sample.evidence, libraries, other))
        for sample in store.samples(study_id)
    ]
    spec = record.spec
    if boots:
        spec = msgspec.structs.replace(spec, reboot_settings={"boot.thp": "madvise"})
        conclusion = recompute(spec, samples, record.strata[0], conclusion)
    data = VerdictData(spec, record.strata[0], conclusion, store.plans(study_id, 0), samples)
    thin = [sample for sample in thinned(data) if sample.launch.stage is not Stage.CONFIRM]
    whole = [sample for sample in samples if sample.launch.stage is not Stage.CONFIRM]
    for sample, before in zip(thin, whole, strict=True):
        kept = [piece for piece in before.evidence if boots or piece.kind == "libraries"]
        assert list(sample.evidence) == kept
        assert not sample.observations
    assert thin


def test_remove_deletes_samples_without_verdict(
    store: Store, before: dict[tuple[str, int], bool]
) -> None:
    pruned(store, PrunePolicy(extent=Extent.REMOVE))
    assert verdicts(store) == before
    for head in store.studies():
        concluded = store.conclusions(head.id)
        if not concluded:
            assert (head.launches, store.samples(head.id)) == (0, [])
        elif before[head.id, 0]:
            assert head.launches == concluded[0].launches


def test_verdict_that_does_not_follow_leaves_the_study_whole(
    store: Store, before: dict[tuple[str, int], bool]
) -> None:
    study_id = next(key[0] for key, holds in before.items() if holds)
    conclusion = store.conclusion(study_id)
    assert conclusion is not None
    store.acquire(study_id)
    store.set_conclusion(study_id, msgspec.structs.replace(conclusion, blocks=999))
    store.release(study_id)
    samples = store.samples(study_id)
    found = {one.head.id: one for one in pruned(store, PrunePolicy(extent=Extent.REMOVE))}
    assert "does not follow" in str(found[study_id].kept_because)
    assert store.samples(study_id) == samples


@pytest.mark.parametrize("extent", list(Extent))
def test_running_study_is_left_out(tmp_path: Path, extent: Extent) -> None:
    path = tmp_path / "assay.db"
    with open_store(path) as owner, open_store(path) as store:
        running = owner.create_study(tune_spec(), make_stratum(), 1.0)
        owner.add_sample(running, 0, make_sample())
        waiting = owner.create_study(tune_spec(), make_stratum(), 2.0)
        owner.set_status(waiting, Status.PAUSED)
        owner.release(waiting)
        found = pruned(store, PrunePolicy(extent=extent))
        assert [(one.head.id, one.kept_because) for one in found] == [
            (running, "it is running"),
            (waiting, "it waits for another boot"),
        ]
        assert store.samples(running) == [make_sample()]
        result = compact(store)
        assert result.left_out == {running: "it is running"}
        assert not result.vacuumed


@pytest.mark.parametrize("extent", list(Extent))
def test_study_paused_since_the_list_was_read_is_left_whole(tmp_path: Path, extent: Extent) -> None:
    with open_store(tmp_path / "assay.db") as store:
        study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
        store.add_sample(study_id, 0, make_sample())
        store.set_status(study_id, Status.DONE)
        store.release(study_id)

        def pause(done: int, _total: int) -> None:
            if not done:
                store.acquire(study_id)
                store.set_status(study_id, Status.PAUSED)
                store.release(study_id)

        (found,) = prune(store, PrunePolicy(extent=extent), apply=True, progress=pause)
        assert found.kept_because == "it waits for another boot"
        assert store.samples(study_id) == [make_sample()]


def test_study_deleted_during_a_compaction_is_named(tmp_path: Path) -> None:
    with open_store(tmp_path / "assay.db") as store:
        ids = [store.create_study(tune_spec(), make_stratum(), float(n)) for n in range(2)]
        for study_id in ids:
            store.set_status(study_id, Status.DONE)
            store.release(study_id)

        def delete(done: int, _total: int, _samples: int) -> None:
            if not done:
                store.delete(ids[1])

        result = compact(store, progress=delete)
        assert list(result.left_out) == ids[1:]
        assert "Unknown study" in result.left_out[ids[1]]


def test_unusable_store_ends_the_work_on_its_studies(tmp_path: Path) -> None:
    path = tmp_path / "assay.db"
    with open_store(path, busy_timeout_s=0.01) as store:
        for number in range(2):
            study_id = store.create_study(tune_spec(), make_stratum(), float(number))
            store.set_status(study_id, Status.DONE)
            store.release(study_id)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        for extent in Extent:
            with pytest.raises(StoreUnusableError, match="is locked"):
                pruned(store, PrunePolicy(extent=extent))
        with pytest.raises(StoreUnusableError, match="is locked"):
            compact(store)
        other.close()
        assert compact(store).left_out == {}


def test_disk_that_fills_during_a_compaction_is_named(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Studies are packed by then, so that the store is not unchanged."""
    disk_usage, full = shutil.disk_usage, SimpleNamespace(free=0)

    def fill(done: int, _total: int, _samples: int) -> None:
        if done:
            monkeypatch.setattr(shutil, "disk_usage", lambda _folder: full)

    with pytest.raises(NotPossibleError, match="No data was lost") as caught:
        compact(store, progress=fill)
    assert "Nothing was changed" not in str(caught.value)
    with pytest.raises(NotPossibleError, match="Nothing was changed"):
        compact(store)
    monkeypatch.setattr(shutil, "disk_usage", disk_usage)
    assert compact(store).packed_samples == 0


def test_policy_selects_old_studies_and_keeps_the_newest(tmp_path: Path) -> None:
    with open_store(tmp_path / "assay.db") as store:
        ids = []
        for number in range(5):
            ids.append(store.create_study(tune_spec(), make_stratum(), float(number)))
            store.set_status(ids[-1], Status.DONE)
            store.release(ids[-1])
        old = PrunePolicy(begun_before=3.0, keep_last=3)
        assert [one.head.id for one in pruned(store, old)] == ids[:2]
        assert [head.id for head in store.studies()] == ids[2:]
        assert pruned(store, PrunePolicy(keep_last=9)) == []
        with pytest.raises(InvalidInputError):
            store.samples(ids[0])
        assert len(pruned(store, PrunePolicy(begun_before=4.0))) == 2
