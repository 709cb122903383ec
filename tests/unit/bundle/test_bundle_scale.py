"""Exports of a stored study: passes over its samples, and work for each of them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from studies import an_output, bundle_of, lines_of, plan_of, source_of, spec_of, unpacked

from assay.bundle import verify as verification
from assay.bundle import write
from assay.bundle.document import study_document, write_json
from assay.bundle.identity import Identity
from assay.bundle.redact import Redactor
from assay.bundle.source import Source, read_source
from assay.bundle.table import write_table
from assay.bundle.verify import verify
from assay.records import Kind, Sample, Status, encode
from assay.search.history import packed_samples
from assay.search.history.sample_shape import SampleShape, shape_of
from assay.store import Store, open_store

IDENTITY = Identity(users=("mia",))
MAX_VALUES = 8
"""Maximum number of parts of a further sample in which names are searched: its arm, versions, and
the names of its metrics."""


class Reads:
    """Counts the stored samples that are read.

    Args:
        monkeypatch: replaces the method of the store.
        store: the store.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
        self.count = 0
        decoded = store.decoded_samples

        def counted(*arguments: Any) -> Iterator[Any]:
            for sample in decoded(*arguments):
                self.count += 1
                yield sample

        monkeypatch.setattr(store, "decoded_samples", counted)


def varied(sample: Sample) -> Sample:
    """Return a sample with values that differ between samples."""
    pieces = tuple(
        msgspec.structs.replace(piece, value=(piece.value or 0.0) + (sample.wall_s or 0.0))
        for piece in sample.evidence
    )
    return msgspec.structs.replace(sample, evidence=pieces, message="read /srv/mia/input")


def stored(store: Store, launches: int) -> str:
    """Store a study, and return its id."""
    output = an_output(b"read /srv/mia/input\n")
    source = source_of(spec_of(Kind.COMPARE, launches), change=varied)
    (one,) = source.strata
    study_id = store.create_study(source.record.spec, one.stratum, source.record.created_at)
    for sample in one.samples:
        with_output = msgspec.structs.replace(sample, outputs=(output,))
        store.add_sample(study_id, 0, with_output, plan_of(sample.launch.configuration))
    assert one.conclusion is not None
    store.set_conclusion(study_id, one.conclusion)
    store.set_status(study_id, Status.DONE)
    return study_id


def whole(source: Source) -> Source:
    """Return a study whose samples are in memory."""
    strata = tuple(replace(one, samples=tuple(one.samples)) for one in source.strata)
    return replace(source, strata=strata)


def exports(source: Source) -> tuple[bytes, str, str]:
    """Return a bundle, a document and a table of a study."""
    document, table = io.StringIO(), io.StringIO()
    write_json(study_document(source), document)
    write_table(source, table)
    return bundle_of(source, IDENTITY), document.getvalue(), table.getvalue()


def test_exports_of_stored_samples_equal_those_of_decoded_ones(tmp_path: Path) -> None:
    with open_store(tmp_path / "studies.db") as store:
        source = read_source(store, stored(store, 80))
        assert exports(source) == exports(whole(source))
        redactor = Redactor(IDENTITY)
        documents = [encode(redactor.record(sample)) for sample in source.strata[0].samples]
    assert lines_of(unpacked(bundle_of(whole(source), IDENTITY))["strata/0/samples.jsonl"]) == (
        documents
    )


def test_bundle_of_many_samples_reads_each_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "MAX_RECOMPUTED", 10)
    with open_store(tmp_path / "studies.db") as store:
        study_id = stored(store, 80)
        reads = Reads(monkeypatch, store)
        source = read_source(store, study_id)
        first_launches = reads.count
        bundle_of(source)
    assert first_launches < 10
    assert reads.count == first_launches + source.samples


def test_document_and_table_read_each_sample_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(tmp_path / "studies.db") as store:
        study_id = stored(store, 80)
        source = read_source(store, study_id)
        for write_file in (
            lambda: write_json(study_document(source), io.StringIO()),
            lambda: write_table(read_source(store, study_id), io.StringIO()),
        ):
            reads = Reads(monkeypatch, store)
            write_file()
            assert reads.count <= 2 * source.samples + 10


def test_names_are_searched_in_few_parts_of_a_further_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "MAX_RECOMPUTED", 10)
    searched: list[Any] = []
    value = Redactor.value

    def counted(redactor: Redactor, part: Any) -> Any:
        searched.append(part)
        return value(redactor, part)

    monkeypatch.setattr(Redactor, "value", counted)
    counts, samples = [], []
    with open_store(tmp_path / "studies.db") as store:
        for launches in (80, 160):
            source = read_source(store, stored(store, launches))
            searched.clear()
            bundle_of(source, outputs=False)
            counts.append(len(searched))
            samples.append(source.samples)
    assert counts[1] - counts[0] <= MAX_VALUES * (samples[1] - samples[0])


def test_verification_takes_the_shape_of_each_sample_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes: list[SampleShape] = []

    def counted(sample: Sample) -> SampleShape:
        shapes.append(shape_of(sample))
        return shapes[-1]

    source = source_of(spec_of(Kind.COMPARE))
    path = tmp_path / "study.zip"
    path.write_bytes(bundle_of(source))
    monkeypatch.setattr(packed_samples, "shape_of", counted)
    assert verify(path).holds
    assert len(shapes) == source.samples


def test_verification_packs_samples_beyond_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = source_of(spec_of(Kind.COMPARE), change=varied)
    path = tmp_path / "study.zip"
    path.write_bytes(bundle_of(source))
    for module, name in ((packed_samples, "MAX_OBJECTS"), (verification, "MAX_KEPT")):
        monkeypatch.setattr(module, name, 2)
    monkeypatch.setattr(packed_samples, "CHUNK", 3)
    found = verify(path)
    assert found.holds
    assert len(found.strata[0].samples._newest) < source.samples
