"""Packed documents: equal after reading, few references, small samples."""

from __future__ import annotations

import lzma
import random
import sqlite3
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import NotPossibleError
from assay.records import Sample, decode
from assay.store import open_store
from assay.store.packing import Packed, Packer, Unpacker, deflated, inflated
from assay.testing.store_contracts import make_output, make_sample, make_stratum, tune_spec

V3 = Path(__file__).parent / "assets" / "v3.db.xz"


def packed_in(packer: Packer, documents: list[bytes]) -> tuple[list[Packed], list[bytes]]:
    """Return the packed documents, and the new references."""
    packed = [packer.pack(document) for document in documents]
    return packed, [one.reference for one in packed if one.reference is not None]


@given(st.lists(st.one_of(st.binary(max_size=20_000), st.just(b'{"a":1}' * 300)), max_size=12))
def test_any_documents_are_unpacked_unchanged(documents: list[bytes]) -> None:
    packed, references = packed_in(Packer(), documents)
    unpacker = Unpacker(references)
    assert [unpacker.unpack(one.content, one.dictionary) for one in packed] == documents
    assert all(inflated(deflated(document)) == document for document in documents)


@given(st.lists(st.binary(max_size=3000), max_size=8), st.lists(st.binary(max_size=3000)))
def test_another_session_continues_the_references(before: list[bytes], after: list[bytes]) -> None:
    packed, references = packed_in(Packer(), before)
    more, further = packed_in(Packer(Unpacker(references).references), after)
    unpacker = Unpacker([*references, *further])
    found = [unpacker.unpack(one.content, one.dictionary) for one in (*packed, *more)]
    assert found == [*before, *after]


def test_incompressible_documents_become_few_references() -> None:
    numbers = random.Random(1)
    documents = [numbers.randbytes(400) for _ in range(2000)]
    packed, references = packed_in(Packer(), documents)
    assert len(references) <= 12
    assert sum(len(one.content) for one in packed) < 1.1 * 400 * 2000


def test_document_of_another_form_becomes_a_reference() -> None:
    one, two = (random.Random(seed).randbytes(1000) for seed in (1, 2))
    packer = Packer()
    packed_in(packer, [one + b"%d}" % n for n in range(5)])
    packed, references = packed_in(packer, [two + b"%d}" % n for n in range(5)])
    assert len(references) == 1
    assert len(packed[-1].content) < 40


def real_samples() -> list[Sample]:
    """Return samples of real launches, one study after the other."""
    connection = sqlite3.connect(":memory:")
    connection.deserialize(_without_wal(lzma.decompress(V3.read_bytes())))
    store_texts = connection.execute("SELECT document FROM sample ORDER BY study, number")
    return [decode(_plain(text), Sample) for (text,) in store_texts]


def _without_wal(content: bytes) -> bytes:
    # A database in memory has no WAL (https://www.sqlite.org/fileformat.html, bytes 18 and 19).
    return content[:18] + b"\1\1" + content[20:]


def _plain(text: str) -> bytes:
    from assay.store.migrations.versions import r0004_plain_keys

    return msgspec.json.encode(r0004_plain_keys.sample(msgspec.json.decode(text)))


def test_sample_takes_at_most_600_bytes(database: Path) -> None:
    # The size includes the index, the outputs and the free space of pages.
    known, numbers = real_samples(), random.Random(2)
    count = 1000
    with open_store(database) as store:
        study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
        size_before = _size(database)
        for block in range(count):
            store.add_sample(study_id, 0, _varied(known[block % len(known)], block, numbers))
    assert _size(database) - size_before <= 600 * count


def _varied(sample: Sample, block: int, numbers: random.Random) -> Sample:
    """Return a sample of another launch: all measured values differ."""

    def other(value: float | None) -> float | None:
        return value and value * numbers.uniform(0.9, 1.1)

    evidence = tuple(
        msgspec.structs.replace(piece, value=other(piece.value)) for piece in sample.evidence
    )
    return msgspec.structs.replace(
        sample,
        launch=msgspec.structs.replace(sample.launch, block=block, position=0, attempt=0),
        wall_s=other(sample.wall_s),
        user_s=other(sample.user_s),
        sys_s=other(sample.sys_s),
        metrics={name: value * numbers.uniform(0.9, 1.1) for name, value in sample.metrics.items()},
        evidence=evidence,
        started_at=1.7e9 + block + numbers.random(),
        outputs=(make_output(b"time %.4f s\n" % numbers.random()), make_output(b"")),
    )


def _size(path: Path) -> int:
    """Return the size of a database after a checkpoint, in bytes."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path.stat().st_size


def test_strata_of_equal_conditions_are_stored_once(database: Path) -> None:
    host = {"flags": [str(number) for number in range(500)]}
    stratum = msgspec.structs.replace(make_stratum(), host=host)
    with open_store(database) as store:
        first = store.create_study(tune_spec(), stratum, 1.0)
        second = store.create_study(tune_spec(), stratum, 2.0)
        again = msgspec.structs.replace(stratum, number=1)
        store.add_stratum(second, again)
        assert _rows(database, "shared_document") == 2
        store.delete(first)
        assert store.strata(second) == [stratum, again]
        store.delete(second)
    assert _rows(database, "shared_document") == 0
    assert _rows(database, "dictionary") == 0


def _rows(database: Path, table: str) -> int:
    connection = sqlite3.connect(database)
    found: int = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    connection.close()
    return found


def test_iteration_reads_a_page_at_a_time(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0
    unpack = Unpacker.unpack

    def counted(self: Unpacker, content: bytes, number: int | None) -> bytes:
        nonlocal read
        read += 1
        return unpack(self, content, number)

    monkeypatch.setattr(Unpacker, "unpack", counted)
    with open_store(database) as store:
        study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
        for block in range(600):
            store.add_sample(study_id, 0, make_sample(block))
        samples = store.iterate_samples(study_id)
        assert next(samples) == make_sample(0)
        assert read <= 520
        assert len(list(samples)) == 599
        assert read == 600


def test_failed_sample_leaves_usable_references(database: Path) -> None:
    with open_store(database) as store:
        study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
        store.add_sample(study_id, 0, make_sample(0))
        long = msgspec.structs.replace(make_sample(0), message="".join(map(str, range(2000))))
        for _ in range(3):  # a new reference in a transaction that fails
            with pytest.raises(Exception, match="already has a sample"):
                store.add_sample(study_id, 0, long)
        store.add_sample(study_id, 0, make_sample(1))
        assert store.samples(study_id) == [make_sample(0), make_sample(1)]


def test_other_processes_write_while_replacing_samples_are_packed(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack, packed = Packer.pack, []
    with open_store(database) as store, open_store(database, busy_timeout_s=0.01) as other:
        study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
        for block in range(3):
            store.add_sample(study_id, 0, make_sample(block))

        def written(self: Packer, document: bytes) -> Packed:
            other.add_label(study_id, f"label {len(packed)}")
            packed.append(pack(self, document))
            return packed[-1]

        monkeypatch.setattr(Packer, "pack", written)
        store.replace_samples(study_id, 0, [make_sample(block) for block in range(2)])
        assert len(packed) == len(store.study(study_id).labels) == 2
        assert store.samples(study_id) == [make_sample(0), make_sample(1)]


def test_samples_replaced_during_an_iteration_are_read_with_their_references(
    database: Path,
) -> None:
    samples = [make_sample(block) for block in range(600)]
    thin = [msgspec.structs.replace(sample, unavailable={"x": "é" * 9}) for sample in samples]
    with open_store(database) as store, open_store(database) as other:
        study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
        for sample in samples:
            store.add_sample(study_id, 0, sample)
        reading = other.iterate_samples(study_id)
        assert next(reading) == samples[0]
        store.replace_samples(study_id, 0, thin)
        found = [samples[0], *reading]
        assert found == [*samples[:512], *thin[512:]]
        reading = other.iterate_samples(study_id)
        next(reading)
        store.replace_samples(study_id, 0, thin[:300])
        with pytest.raises(NotPossibleError, match="deleted while it was read"):
            list(reading)
